"""Pass rates of several models as one frame."""

from collections.abc import Mapping

import polars as pl

from nnd.metric.numbers.rates.pass_rates import PassRates, Rate

_SCHEMA = {
    "model": pl.String,
    "slice": pl.String,
    "value": pl.String,
    "n": pl.Int64,
    "passes": pl.Int64,
    "ties": pl.Int64,
    "unscored": pl.Int64,
    "pass_rate": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
}


def rate_frame(models: Mapping[str, PassRates]) -> pl.DataFrame:
    """Return a row per model and slice.

    Args:
        models: Model → its pass rates.

    Returns:
        model, slice ("overall", or the column of SLICES), value ("overall", or the slice's value),
        n, passes, ties, unscored, pass_rate, low and high (the 95 % interval over contexts).
    """
    rows = [
        (
            *(model, column, value, rate.n, rate.passes, rate.ties, rate.unscored, rate.pass_rate),
            *(rate.interval or (None, None)),
        )
        for model, rates in models.items()
        for column, value, rate in _slices(rates)
    ]
    return pl.DataFrame(rows, _SCHEMA, orient="row")


def _slices(rates: PassRates) -> list[tuple[str, str, Rate]]:
    found = [("overall", "overall", rates.overall)]
    for column, by in rates.by.items():
        found += [(column, value, rate) for value, rate in by.items()]
    return found
