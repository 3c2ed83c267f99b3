"""What the result of one model cost: seconds, tokens and memory."""

import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated

from nnd.metric.likelihood import Work
from nnd.schemas import (
    UNSTORED,
    Amount,
    Count,
    Name,
    Record,
    SchemaError,
    SourceError,
    read_json,
    seal,
)

COST = "cost.json"
"""The file beside a result, which does not list it, because no two runs cost the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCost(Record):
    """What the result of one model cost in the run that wrote it.

    Attributes:
        model: Its name.
        loading_seconds: How long its weights were loaded and hashed; 0 if that was done for another
            dataset of the run, or by the user.
        proof_seconds: How long requests were scored alone, to prove the fast path.
        baseline_seconds: How long candidates were scored without their contexts: their share of the
            tokens in the time of all.
        scoring_seconds: How long everything else took, from texts to pass rates.
        tokens: Positions that entered the model, without those of the proof.
        requests: Distinct requests.
        stored: Those of them whose numbers were stored by earlier runs.
        peak_bytes: Most memory that the process took so far; on a GPU, that of its tensors. 0 if no
            model was loaded.
        is_earlier: Whether an earlier run computed the result.
    """

    model: Name
    loading_seconds: Amount = 0.0
    proof_seconds: Amount = 0.0
    baseline_seconds: Amount = 0.0
    scoring_seconds: Amount = 0.0
    tokens: Count = 0
    requests: Count = 0
    stored: Count = 0
    peak_bytes: Count = 0
    is_earlier: Annotated[bool, UNSTORED] = field(default=False, compare=False)

    def sentence(self) -> str:
        """Return the cost as one line."""
        if self.requests == self.stored and not self.loading_seconds:
            return f"{self.model} cost nothing: all likelihoods are from earlier runs"
        parts = {
            "loading": self.loading_seconds,
            "proof": self.proof_seconds,
            "baseline": self.baseline_seconds,
            "scoring": self.scoring_seconds,
        }
        times = ", ".join(f"{name} {seconds:.1f}" for name, seconds in parts.items())
        when = " in an earlier run" if self.is_earlier else ""
        return (
            f"{self.model} took {sum(parts.values()):.1f} s{when} ({times}), for "
            f"{self.tokens:,} tokens ({self.stored:,} of {self.requests:,} requests were stored), "
            f"and at most {self.peak_bytes / 1e9:.2f} GB of memory"
        )


def cost_of(
    model: str, work: Work, *, loading: float, seconds: float, peak_bytes: int
) -> ModelCost:
    """Return the cost of a result, given the seconds of loading and those of all that followed."""
    baseline = work.seconds * work.baseline
    return ModelCost(
        model=model,
        loading_seconds=round(loading, 3),
        proof_seconds=round(work.proof_seconds, 3),
        baseline_seconds=round(baseline, 3),
        scoring_seconds=round(seconds - work.proof_seconds - baseline, 3),
        tokens=work.tokens,
        requests=work.requests,
        stored=work.stored,
        peak_bytes=peak_bytes,
    )


def add_costs(costs: Sequence[ModelCost]) -> ModelCost:
    """Return what the parts of a result cost together; the peak is the largest one."""
    return ModelCost(
        model=costs[0].model,
        loading_seconds=round(sum(each.loading_seconds for each in costs), 3),
        proof_seconds=round(sum(each.proof_seconds for each in costs), 3),
        baseline_seconds=round(sum(each.baseline_seconds for each in costs), 3),
        scoring_seconds=round(sum(each.scoring_seconds for each in costs), 3),
        tokens=sum(each.tokens for each in costs),
        requests=sum(each.requests for each in costs),
        stored=sum(each.stored for each in costs),
        peak_bytes=max(each.peak_bytes for each in costs),
    )


def cost_bytes(costs: Iterable[ModelCost]) -> bytes:
    """Return the content of the file."""
    facts = seal({"models": [each.to_dict() for each in costs]})
    return f"{json.dumps(facts, indent=2, ensure_ascii=False)}\n".encode()


def read_costs(path: Path) -> dict[str, ModelCost]:
    """Return model → what it cost; empty if the file is missing, or cannot be read."""
    try:
        stored = read_json(path)["models"]
        costs = (replace(ModelCost.from_dict(each), is_earlier=True) for each in stored)
        return {each.model: each for each in costs}
    except (LookupError, TypeError, AttributeError, SchemaError, SourceError):
        return {}


def process_peak() -> int:
    """Return the most memory that this process has taken so far, in bytes; 0 if it is unknown."""
    try:
        import resource  # noqa: PLC0415 - not on Windows
    except ImportError:
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
