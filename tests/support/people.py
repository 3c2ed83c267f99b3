"""Human scores of made-up systems, and their agreement with pass rates."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from nnd.metric.numbers import Agreement, try_agreement

_SCHEMA = {
    **dict.fromkeys(("system", "model_id", "aspect", "category"), pl.String),
    "score": pl.Float64,
}


def people(rows: Mapping[str, Mapping[str, float | None]], **model_ids: str) -> pl.DataFrame:
    """Human scores from {"aspect" or "aspect category": {system: score}}; hub ids of systems."""
    scores = [
        (system, model_ids.get(system), aspect, category or "overall", score)
        for key, of in rows.items()
        for aspect, _, category in [key.partition(" ")]
        for system, score in of.items()
    ]
    return pl.DataFrame(scores, _SCHEMA, orient="row").with_columns(
        source=pl.lit("invented"), n=pl.lit(10), definition=pl.lit("mean")
    )


def agreement(pass_rates: pl.DataFrame, human_scores: pl.DataFrame, **options: Any) -> Agreement:
    """The agreement, which exists."""
    outcome, reason = try_agreement(pass_rates, human_scores, **options)
    assert outcome is not None, reason
    return outcome
