"""What the result of one model cost: seconds, tokens and memory."""

import json
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from nnd.metric.likelihood import Work
from nnd.schemas import Amount, Count, Name, Record, SchemaError

COST = "cost.json"
"""The file beside a result; no digest covers it, because no two runs cost the same."""


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
        return (
            f"{self.model} took {sum(parts.values()):.1f} s ({times}), for {self.tokens:,} tokens "
            f"({self.stored:,} of {self.requests:,} requests were stored), and at most "
            f"{self.peak_bytes / 1e9:.2f} GB of memory"
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


def cost_bytes(costs: Iterable[ModelCost]) -> bytes:
    """Return the content of the file."""
    facts = {"models": [each.to_dict() for each in costs]}
    return f"{json.dumps(facts, indent=2, ensure_ascii=False)}\n".encode()


def read_costs(folder: Path) -> dict[str, ModelCost]:
    """Return model → what it cost; empty if the run does not say, or cannot be read."""
    try:
        stored = json.loads((folder / COST).read_bytes())["models"]
        return {each["model"]: ModelCost.from_dict(each) for each in stored}
    except (OSError, ValueError, LookupError, TypeError, SchemaError):
        return {}


def process_peak() -> int:
    """Return the most memory that this process has taken so far, in bytes; 0 if it is unknown."""
    try:
        import resource  # noqa: PLC0415 - not on Windows
    except ImportError:
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
