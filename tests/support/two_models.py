"""Scored pairs of made-up models, and what people said of them, for tests of what compares them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
from support.stored_folders import write_sealed

from nnd.metric.data.run_folder import STORED
from nnd.metric.numbers import Agreement, try_agreement

LIKELIHOODS: dict[str, dict[str, Any]] = {
    "+": {"ll_high": -1.0, "ll_low": -2.0, "passed": True, "tie": False},
    "-": {"ll_high": -2.0, "ll_low": -1.0, "passed": False, "tie": False},
    "=": {"ll_high": -1.0, "ll_low": -1.0, "passed": False, "tie": True},
    "?": {"ll_high": -1.0, "ll_low": None, "passed": False, "tie": False},
}
HUMAN_SCORES = {
    **dict.fromkeys(("system", "model_id", "aspect", "category"), pl.String),
    "score": pl.Float64,
}


def scored(model: str, verdicts: str, **columns: Sequence[Any] | str | int | None) -> pl.DataFrame:
    """One pair per verdict, each in a context of its own unless `columns` says otherwise.

    Args:
        model: Name of the model.
        verdicts: `+` passed, `-` failed, `=` tied, `?` unscored.
        **columns: Values of further columns, one for all pairs or one each.
    """
    rows = [
        {
            "model": model,
            "pair_id": f"p{number}",
            "split": "test",
            "context_id": f"c{number}",
            "high_id": f"h{number}",
            "low_id": f"l{number}",
            "tokens_high": 3,
            "tokens_low": 3,
            "truncated": False,
            **LIKELIHOODS[verdict],
            **{
                name: values if isinstance(values, str | int | None) else values[number]
                for name, values in columns.items()
            },
        }
        for number, verdict in enumerate(verdicts)
    ]
    return pl.DataFrame(rows, STORED, orient="row")


def write_run(folder: Path, *frames: pl.DataFrame) -> Path:
    """Write what `nnd evaluate` leaves of the likelihoods."""
    folder.mkdir()
    pl.concat(frames).write_parquet(folder / "log_likelihoods.parquet")
    return folder


def sign(folder: Path, **signatures: str) -> None:
    """Write what `nnd evaluate` says of models."""
    results = [{"model": name, "signature": text} for name, text in signatures.items()]
    write_sealed(folder / "result.json", {"results": results})


def lengths(*both: tuple[int | None, int | None]) -> dict[str, list[int | None]]:
    """Characters of the good and of the bad candidate of each test."""
    high, low = zip(*both, strict=True)
    return {"characters_high": [*high], "characters_low": [*low]}


def people(rows: Mapping[str, Mapping[str, float | None]], **model_ids: str) -> pl.DataFrame:
    """Human scores from {"aspect" or "aspect category": {system: score}}; hub ids of systems."""
    scores = [
        (system, model_ids.get(system), aspect, category or "overall", score)
        for key, of in rows.items()
        for aspect, _, category in [key.partition(" ")]
        for system, score in of.items()
    ]
    return pl.DataFrame(scores, HUMAN_SCORES, orient="row").with_columns(
        source=pl.lit("invented"), n=pl.lit(10), definition=pl.lit("mean")
    )


def agreement(pass_rates: pl.DataFrame, human_scores: pl.DataFrame, **options: Any) -> Agreement:
    """The agreement, which exists."""
    outcome, reason = try_agreement(pass_rates, human_scores, **options)
    assert outcome is not None, reason
    return outcome
