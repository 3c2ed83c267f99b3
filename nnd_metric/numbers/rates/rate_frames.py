"""Pass rates of several models as one frame."""

from collections.abc import Mapping

import polars as pl

from nnd.metric.numbers.rates.pass_rates import PassRates, Rate
from nnd.schemas import record_frame

_OF_RATES = ("n", "passes", "ties", "unscored", "pass_rate", "low", "high")


def rate_frame(models: Mapping[str, PassRates]) -> pl.DataFrame:
    """Return a row per model and slice.

    Args:
        models: Model → its pass rates.

    Returns:
        model, slice ("overall", or the column of SLICES), value ("overall", or the slice's value),
        n, passes, ties, unscored, pass_rate, low and high (the 95 % interval over contexts).
    """
    rows = (
        ({"model": model, "slice": column, "value": value}, rate)
        for model, rates in models.items()
        for column, by in {"overall": {"overall": rates.overall}, **rates.by}.items()
        for value, rate in by.items()
    )
    return record_frame(("model", "slice", "value", *_OF_RATES), rows, Rate)
