"""The categories of pass rates, and every model's rate in each."""

from collections.abc import Sequence
from dataclasses import dataclass

from nnd.metric.data import SLICES
from nnd.metric.numbers import PassRates, Rate
from nnd.schemas import OVERALL


@dataclass(frozen=True, slots=True)
class RateGroup:
    """One category, and every model's pass rate on its pairs.

    `column` is one of `SLICES`; for all tests it is empty, and `value` is "overall".
    """

    column: str
    value: str
    rates: Sequence[Rate]


def find_groups(models: Sequence[PassRates]) -> list[RateGroup]:
    """Return all tests, then the categories of the first, and finest, column with several."""
    by = models[0].by
    column = next((column for column in SLICES if len(by[column]) > 1), "")
    return [
        RateGroup("", OVERALL, [rates.overall for rates in models]),
        *(
            RateGroup(column, value, [rates.by[column][value] for rates in models])
            for value in by.get(column, ())
        ),
    ]
