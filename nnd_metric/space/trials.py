"""What the page computes: a model on the pairs of a dataset, and on two texts of one's own.

In a Space it is beside the metric's script, without the package: it loads the metric as any user
does, with `evaluate.load`.
"""

import json
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import evaluate
import polars as pl

HERE = Path(__file__).resolve().parent

EXAMPLE = HERE / "example.json"
"""What `example` reads, written by `python -m nnd.metric.space.trials MODEL DATASET`."""


@dataclass(frozen=True, slots=True)
class Trial:
    """What one model did on some pairs.

    Attributes:
        result: Its pass rates (`result.schema.json`, a model result).
        failures: The texts of the tests that it failed, worst first: context, candidate_high,
            candidate_low, error_category (several joined by a comma, or null), margin
            (log-likelihood of the better candidate minus that of the worse, or null where one is
            undefined), tests (how many there are with these texts).
        failed: The keys of those tests.
    """

    result: Mapping[str, Any]
    failures: pl.DataFrame
    failed: frozenset[tuple[str, ...]] = frozenset()


@dataclass(frozen=True, slots=True)
class Weighed:
    """Two candidates for one context, as a model weighs them.

    Attributes:
        candidates: Their texts.
        log_likelihoods: Theirs, or None where one has no token to score.
        unit: Of a difference between the two, e.g. nats per token.
        signature: How they were made.
    """

    candidates: tuple[str, str]
    log_likelihoods: tuple[float | None, float | None]
    unit: str
    signature: str


_UNITS = {"sum": "nats", "bytes": "nats per byte"}
_KEY = ("split", "context_id", "high_id", "low_id")


def try_model(dataset: str, model_id: str, protocol: str = "native") -> Trial:
    """Score the pairs of a dataset with a model.

    Args:
        dataset: Converted folder, Parquet file, or ORG/name[@revision] on the Hub.
        model_id: Hub id or folder.
        protocol: One of PROTOCOLS.

    Raises:
        ValueError: The metric's ScoringError: pairs or model cannot be used, and why.
    """
    if not dataset or not model_id:
        missing = "a model, e.g. distilgpt2" if dataset else "a dataset: the sample, or ORG/name"
        raise metric().ScoringError(f"Name {missing}.")
    pairs = metric().load_pairs(dataset)
    scoring = metric().Scoring(protocol=protocol)
    found = metric().evaluate_models(model_id, pairs, scoring=scoring)
    (result,) = found.results
    failed = pairs.pairs.select(*_KEY).filter(~found.scored["passed"])
    return Trial(
        result.to_dict(), _failures(pairs.pairs, found.scored), frozenset(failed.iter_rows())
    )


def weigh(
    model_id: str, context: str, candidates: tuple[str, str], protocol: str = "native"
) -> Weighed:
    """Score two candidates for a context.

    Args:
        model_id: Hub id or folder.
        context: What they were written for; may be empty.
        candidates: Two different texts.
        protocol: One of PROTOCOLS.

    Raises:
        ValueError: The metric's ScoringError: the model or a text cannot be used, and why.
    """
    first, second = candidates
    if not model_id or not first or not second:
        raise metric().ScoringError("Name a model, and write two candidates.")
    if first == second:
        raise metric().ScoringError("The two candidates are the same text; change one of them.")
    row = {"context": context, "candidate_high": first, "candidate_low": second}
    scoring = metric().Scoring(protocol=protocol)
    found = metric().evaluate_models(model_id, metric().load_pairs([row]), scoring=scoring)
    (result,), (scored,) = found.results, found.scored.to_dicts()
    return Weighed(
        candidates,
        (scored["ll_high"], scored["ll_low"]),
        _UNITS.get(protocol, "nats per token"),
        result.signature,
    )


def example() -> Trial:
    """Return a trial that was made before, of a toy model on the sample."""
    found = json.loads(EXAMPLE.read_text(encoding="utf-8"))
    return Trial(found["result"], pl.DataFrame(found["failures"]))


def write_example(model_id: str, dataset: str) -> None:
    """Write what `example` returns."""
    trial = try_model(dataset, model_id)
    told = {"result": dict(trial.result), "failures": trial.failures.to_dicts()}
    EXAMPLE.write_text(json.dumps(told, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


@cache
def metric() -> ModuleType:
    """Return the module of the metric's class, with the functions that the class uses.

    `compute` gives rates; which pairs failed is seen in the likelihoods behind them.
    """
    return sys.modules[type(evaluate.load(str(_script()))).__module__]


def _script() -> Path:
    """Return what `evaluate` loads: in a clone the thin script, in a Space the class itself."""
    in_a_clone = HERE.parent / "nnd_metric.py"
    return in_a_clone if in_a_clone.is_file() else next(filter(_holds_metric, HERE.glob("*.py")))


def _holds_metric(path: Path) -> bool:
    """Return whether this is the script of a Space, which is called like the Space."""
    return re.search(r"^class NND\b", path.read_text(encoding="utf-8"), re.MULTILINE) is not None


def _failures(pairs: pl.DataFrame, scored: pl.DataFrame) -> pl.DataFrame:
    """Gather failures of the same texts: of several systems, or of several error categories."""
    texts = ["context", "candidate_high", "candidate_low"]
    verdicts = scored.select("passed", margin=pl.col("ll_high") - pl.col("ll_low"))
    known = pairs.select(*texts, *_KEY, "error_category")
    failed = pl.concat([known, verdicts], how="horizontal").filter(~pl.col("passed"))
    labels = pl.col("error_category").drop_nulls().unique(maintain_order=True)
    return (
        failed.group_by(texts, maintain_order=True)
        .agg(
            labels.str.join(", ").replace("", None),
            pl.col("margin").first(),
            pl.struct(_KEY).n_unique().alias("tests"),
        )
        .sort("margin", nulls_last=True, maintain_order=True)
    )


if __name__ == "__main__":
    write_example(*sys.argv[1:])
