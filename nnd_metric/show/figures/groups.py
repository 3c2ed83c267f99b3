"""The categories of pass rates, and every model's rate in each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nnd.metric.data import OVERALL, SLICES
from nnd.metric.numbers import PassRates


@dataclass(frozen=True, slots=True)
class RateGroup:
    """One category, and every model's pass rate on its pairs.

    Attributes:
        column: Column of `SLICES`; empty for all tests.
        value: The category, or "overall".
        rates: A rate per model (`Rate.to_dict`).
    """

    column: str
    value: str
    rates: Sequence[Mapping[str, Any]]


def find_groups(models: Sequence[PassRates]) -> list[RateGroup]:
    """Return all tests, then every category of every column that has several.

    Args:
        models: The pass rates of each model, all on the same pairs.
    """
    return [
        RateGroup("", OVERALL, [each.overall.to_dict() for each in models]),
        *(
            RateGroup(column, value, [each.by[column][value].to_dict() for each in models])
            for column in SLICES
            for value in models[0].by[column]
            if len(models[0].by[column]) > 1
        ),
    ]


def main_column(groups: Sequence[RateGroup]) -> str:
    """Return the column that figures show: the first, and finest, with several categories."""
    return next((group.column for group in groups if group.column), "")


def main_groups(groups: Sequence[RateGroup]) -> list[RateGroup]:
    """Return all tests and the categories of the main column."""
    return [group for group in groups if group.column in ("", main_column(groups))]
