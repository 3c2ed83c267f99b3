"""Agreement without each model's tests on texts of the system that it stands for."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from nnd.metric.data import Judgements, names_in
from nnd.metric.numbers.agreement.agreement import Agreement, CategoryAgreement, WithoutOwn
from nnd.metric.numbers.statistics.correlation_estimates import interval_of_correlation
from nnd.metric.numbers.statistics.correlations import BATCHED, STATISTICS
from nnd.metric.numbers.statistics.intervals import (
    UNDEFINED,
    FloatArray,
    IntervalOrReason,
    reasons_in,
)
from nnd.metric.numbers.statistics.order_noise import reason_against_order

WRITERS = "writers"
"""Column with the systems that wrote a pair's candidates."""


def with_writers(rows: pl.DataFrame, judgements: Judgements | None) -> pl.DataFrame:
    """Return rows, which have a pair_id, with WRITERS, as far as these are known."""
    writers = None if judgements is None else judgements.writers()
    if writers is None:
        return rows
    return rows.join(writers, on="pair_id", how="left", maintain_order="left")


def add_without_own(
    agreement: Agreement, rates: pl.DataFrame, samples: FloatArray, stretch: FloatArray
) -> Agreement:
    """Return an agreement with that of other pass rates, which are without a model's own texts.

    `rates`, `samples` and `stretch` are those of `try_agreement`.
    """
    models, categories = (
        {name: place for place, name in enumerate(names_in(rates, column))}
        for column in ("model", "category")
    )
    by_cell = {(row["model"], row["category"]): row for row in rates.iter_rows(named=True)}
    by_category = {}
    for category, each in agreement.by_category.items():
        own = {model: by_cell[model, category] for model in each.judged}
        at = [models[model] for model in own], categories[category]
        found = _compare(each, own, samples[:, *at], float(stretch[at].max(initial=1.0)))
        by_category[category] = replace(each, without_own=found)
    return replace(agreement, by_category=by_category)


def _compare(
    category: CategoryAgreement,
    rows: Mapping[str, Mapping[str, Any]],
    samples: FloatArray,
    stretch: float,
) -> WithoutOwn:
    rates = {model: row["pass_rate"] for model, row in rows.items()}
    known = [place for place, rate in enumerate(rates.values()) if rate is not None]
    ours = [rate for rate in rates.values() if rate is not None]
    theirs = [category.judged[m].human_score for m, rate in rates.items() if rate is not None]
    drawn, people = samples[:, known], np.asarray(theirs, dtype=np.float64)
    values = {name: statistic(ours, theirs) for name, statistic in STATISTICS.items()}
    against = reason_against_order(ours, drawn) if len(ours) > 1 else None
    intervals = {
        name: IntervalOrReason(None, UNDEFINED)
        if value is None
        else interval_of_correlation(value, BATCHED[name](drawn, people), against, stretch)
        for name, value in values.items()
    }
    return WithoutOwn(
        values,
        {name: each.bounds for name, each in intervals.items()},
        rates,
        {model: row["n"] for model, row in rows.items()},
        reasons_in(intervals),
    )
