"""Agreement of pass rates at equal length with human scores.

It says whether models agree with people because they understand the texts, or because longer (or
shorter) texts are better and likelier. A model has a rate at equal length for its own tokens
(`equal_length`). The intervals are over resampled contexts, the same for all models.
"""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np
import polars as pl

from nnd.metric.numbers.agreement.agreement import EqualLengthAgreement
from nnd.metric.numbers.agreement.measures import try_agreement
from nnd.metric.numbers.rates.context_sums import CLUSTER_NUMBER, tests_by_key
from nnd.metric.numbers.rates.equal_length import LENGTHS, fit_tests, to_rates
from nnd.metric.numbers.statistics.intervals import (
    RESAMPLES,
    WEIGHTS_AT_ONCE,
    FloatArray,
    draw_contexts,
    stretches,
)
from nnd.metric.numbers.statistics.logistic_fit import LogisticFit


def agree_at_equal_length(
    rated: Mapping[str, pl.DataFrame],
    column: str,
    human_scores: pl.DataFrame,
    **options: Any,  # noqa: ANN401 - of `try_agreement`
) -> dict[str, EqualLengthAgreement]:
    """Return category → agreement at equal length; empty if a length is unknown or no rate exists.

    `rated` is that of `agree_rated`, `column` holds the categories, and `options` are those of
    `try_agreement`.
    """
    if any(rows[name].has_nulls() for rows in rated.values() for name in LENGTHS):
        return {}
    of_first = next(iter(rated.values()))[CLUSTER_NUMBER].to_numpy()
    numbers, numbered = np.unique(of_first, return_inverse=True)
    rows, fits, counts = [], [], []
    for model, tests in rated.items():
        tests = tests.with_columns(pl.Series(CLUSTER_NUMBER, numbered))  # noqa: PLW2901
        for category, own in tests_by_key(tests, column).items():
            fit, _ = fit_tests(own, contexts=len(numbers))
            fits.append(fit)
            counts.append(np.bincount(own[CLUSTER_NUMBER], minlength=len(numbers)))
            rate = None if fit is None else float(to_rates(np.array(fit.intercept)))
            rows.append((model, category, rate, own.height))
    if all(fit is None for fit in fits):
        return {}
    schema = {"model": pl.String, "category": pl.String, "pass_rate": pl.Float64, "n": pl.Int64}
    samples = _resample(fits, len(numbers)).reshape(RESAMPLES, len(rated), -1)
    stretch = stretches(np.stack(counts, axis=1)).reshape(len(rated), -1)
    table = pl.DataFrame(rows, schema, orient="row")
    agreement, _ = try_agreement(table, human_scores, samples=samples, stretch=stretch, **options)
    by_category = {} if agreement is None else agreement.by_category
    return {
        category: EqualLengthAgreement(
            **{own.name: getattr(each, own.name) for own in fields(EqualLengthAgreement)}
        )
        for category, each in by_category.items()
    }


def _resample(fits: list[LogisticFit | None], contexts: int) -> FloatArray:
    """Return the rates for resamples of the contexts, [resamples, fits]; nan without a fit."""
    rates, rng = np.full((RESAMPLES, len(fits)), np.nan), np.random.default_rng(0)
    step = max(1, WEIGHTS_AT_ONCE // contexts)
    for start in range(0, RESAMPLES, step):
        size = min(step, RESAMPLES - start)
        counts = draw_contexts(rng, contexts, size)
        for place, fit in enumerate(fits):
            if fit is not None:
                rates[start : start + size, place] = to_rates(fit.resampled(counts))
    return rates
