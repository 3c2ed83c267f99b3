"""Computations of the page: a model on the pairs of a dataset, and on two texts of the user.

In a Space, nnd is not installed, so the metric is loaded as by any user, with `evaluate.load`.
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
"""File of `example`, written by `python -m nnd.metric.space.trials RUN DATASET` (`make readme`)."""


@dataclass(frozen=True, slots=True)
class Trial:
    """The results of one model on some pairs.

    Attributes:
        result: Its pass rates (`result.schema.json`, a model result).
        failures: The texts of the failed tests, worst first: context, candidate_high,
            candidate_low, error_category (several joined by commas, or null), margin
            (log-likelihood of the better candidate minus that of the worse, or null if one is
            undefined), tests (number of tests with these texts).
        failed: The keys of the failed tests.
    """

    result: Mapping[str, Any]
    failures: pl.DataFrame
    failed: frozenset[tuple[str, ...]] = frozenset()


_KEY = ("split", "context_id", "high_id", "low_id")


def try_model(dataset: str, model_id: str, protocol: str = "native") -> Trial:
    """Score the pairs of a dataset with a model.

    Args:
        dataset: Converted folder, Parquet file, or ORG/name[@revision] on the Hub.
        model_id: Hub id or folder.
        protocol: Name of a protocol, such as native.

    Raises:
        Exception: The metric's NNDError, if the pairs or the model cannot be used.
    """
    if not dataset or not model_id:
        missing = "a model, e.g. distilgpt2" if dataset else "a dataset: the sample, or ORG/name"
        raise metric().ScoringError(f"Name {missing}.")
    pairs = metric().load_pairs(dataset)
    scoring = metric().Scoring(protocol=protocol)
    evaluation = metric().evaluate_models(model_id, pairs, scoring=scoring)
    (result,) = evaluation.results
    failed = pairs.pairs.select(*_KEY).filter(~evaluation.scored["passed"])
    failures = _failures(pairs.pairs, evaluation.scored)
    return Trial(result.to_dict(), failures, frozenset(failed.iter_rows()))


def weigh(
    model_id: str, context: str, candidates: tuple[str, str], protocol: str = "native"
) -> tuple[tuple[float | None, float | None], str]:
    """Score two candidates for a context; return their log-likelihoods, and the signature.

    Args:
        model_id: Hub id or folder.
        context: Their context; may be empty.
        candidates: Two different texts.
        protocol: Name of a protocol, such as native.

    Raises:
        Exception: The metric's NNDError, if the model or a text cannot be used.
    """
    first, second = candidates
    if not model_id or not first or not second:
        raise metric().ScoringError("Name a model, and write two candidates.")
    if first == second:
        raise metric().ScoringError("The two candidates are the same text; change one of them.")
    row = {"context": context, "candidate_high": first, "candidate_low": second}
    scoring = metric().Scoring(protocol=protocol)
    evaluation = metric().evaluate_models(model_id, metric().load_pairs([row]), scoring=scoring)
    (result,), (scored,) = evaluation.results, evaluation.scored.to_dicts()
    return (scored["ll_high"], scored["ll_low"]), result.signature


def example() -> Trial:
    """Return the stored trial: the model of `make demo` on 200 tests of Quiz Design."""
    stored = json.loads(EXAMPLE.read_text(encoding="utf-8"))
    return Trial(stored["result"], pl.DataFrame(stored["failures"]))


def write_example(run: str, dataset: str) -> None:
    """Store the trial for `example`: a run of one model, and the dataset that it scored."""
    scored = pl.read_parquet(Path(run, "log_likelihoods.parquet"))
    pairs = scored.select("pair_id").join(
        metric().load_pairs(dataset).pairs, on="pair_id", how="left", maintain_order="left"
    )
    (result,) = json.loads(Path(run, "result.json").read_text(encoding="utf-8"))["results"]
    stored = {"result": result, "failures": _failures(pairs, scored).to_dicts()}
    EXAMPLE.write_text(json.dumps(stored, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


@cache
def metric() -> ModuleType:
    """Return the module of the metric's class, which contains the functions that the class uses.

    `compute` is not enough: it returns pass rates, but not which pairs failed.
    """
    script = HERE.parent / "nnd_metric.py"
    if not script.is_file():  # in a Space: the module of the class, called as the Space
        texts = {path: path.read_text(encoding="utf-8") for path in HERE.glob("*.py")}
        script = next(path for path in texts if re.search(r"(?m)^class NND\b", texts[path]))
    return sys.modules[type(evaluate.load(str(script))).__module__]


def _failures(pairs: pl.DataFrame, scored: pl.DataFrame) -> pl.DataFrame:
    """Join failures on the same texts, which may have several systems or error categories."""
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
