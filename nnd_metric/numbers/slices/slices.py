"""The result: pass rates of slices, and which of them are below the rest."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from nnd.metric.data import OVERALL
from nnd.metric.numbers.display_names import short_names
from nnd.metric.numbers.pictured import Pictured
from nnd.metric.numbers.rates.pass_rates import Rate
from nnd.metric.numbers.slices.slice_rates import SliceRate, SliceRates
from nnd.metric.numbers.statistics.context_intervals import FEW_CONTEXTS
from nnd.metric.numbers.statistics.interval_text import percent
from nnd.schemas import counted

if TYPE_CHECKING:
    from rich.table import Table

    from nnd.metric.show import Drawing

_SCHEMA = {
    "model": pl.String,
    "axis": pl.String,
    "value": pl.String,
    "n": pl.Int64,
    "contexts": pl.Int64,
    "passes": pl.Int64,
    "pass_rate": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "difference": pl.Float64,
    "difference_low": pl.Float64,
    "difference_high": pl.Float64,
    "p": pl.Float64,
    "p_holm": pl.Float64,
    "verdict": pl.String,
}

_ROOM = 1.15
"""Inches for names of slices, which are long, in the figure."""


class Search(NamedTuple):
    """The parameters of a search for slices.

    Attributes:
        contexts: Smallest number of contexts of a slice.
        tried: Number of slices with enough contexts; p is adjusted over all of them and all models.
    """

    contexts: int
    tried: int


@dataclass(frozen=True, slots=True, repr=False)
class Slices(Pictured):
    """Pass rates of slices of stored runs.

    Attributes:
        data: Name of the pairs.
        overall: Model → its rate over all tests.
        slices: The slices; after a search, the one furthest below the rest comes first.
        axis_tests: Axis → sum of the tests of its slices, and number of tests in none of them.
        search: The search; None for requested slices.
        notes: Sentences on how the models were scored, if not alike.
    """

    data: str
    overall: Mapping[str, Rate]
    slices: tuple[SliceRates, ...]
    axis_tests: Mapping[str, tuple[int, int]]
    search: Search | None
    notes: Sequence[str] = ()

    @property
    def n(self) -> int:
        """The number of all tests."""
        return next(iter(self.overall.values())).n

    def headline(self) -> str:
        """Return the number of slices below the rest, and the one that is furthest below."""
        among = len(self.slices) if self.search is None else self.search.tried
        of = f"{counted(among, 'slice')} of {self.data}"
        if self.search is not None:
            of += f" with {counted(self.search.contexts, 'context')} or more"
        below = [each for each in self.slices if worst_of(each)[1].verdict == "below"]
        if not below and among == 1 and self.slices:
            return f"{self.slices[0].name} is not significantly below the rest of {self.data}."
        if not below:
            return f"Of {of}, none is significantly below the rest."
        worst = min(below, key=lambda each: worst_of(each)[1].difference or 0.0)
        model, found = worst_of(worst)
        name = dict(zip(self.overall, short_names([*self.overall]), strict=True))[model]
        return (
            f"Of {of}, {len(below)} {'is' if len(below) == 1 else 'are'} "
            f"significantly below the rest; furthest is {worst.name}, where {name} passes "
            f"{percent(found.rate.pass_rate or 0.0)} % of {counted(found.rate.n, 'test')}, "
            f"{percent(-(found.difference or 0.0))} points below the rest."
        )

    def table(self) -> "Table | None":
        """Return the pass rates: a row per slice, a column per model."""
        from nnd.metric.show import slice_rates_table  # noqa: PLC0415 - rich is for people only

        return slice_rates_table(self.to_dict()) if self.slices else None

    def remarks(self) -> list[str]:
        """Return which slices overlap or leave tests out, and which are small."""
        found = [*self.notes]
        for axis, (together, outside) in self.axis_tests.items():
            inside = self.n - outside
            if together > inside:
                found.append(
                    f"{axis}: its slices hold {together:,} tests together and {inside:,} different "
                    "ones; a test counts in each of its slices."
                )
            if outside:
                found.append(f"{axis}: {outside:,} of {self.n:,} tests are in none of its slices.")
        few = sum(0 < each.first.contexts < FEW_CONTEXTS for each in self.slices)
        if few:
            found.append(
                f"Intervals of slices with fewer than {FEW_CONTEXTS} contexts are rough; "
                f"here {counted(few, 'slice')}."
            )
        return found

    def details(self) -> "list[Table | str]":
        """Return the difference of every slice from the rest."""
        from nnd.metric.show import from_rest_table  # noqa: PLC0415 - rich is for people only

        tried = len(self.slices) if self.search is None else self.search.tried
        of = f"{counted(tried, 'slice')} and {counted(len(self.overall), 'model')}"
        about = f"p is of the score test over contexts; Holm's adjustment is over {of}."
        return [from_rest_table(self.to_dict()), about]

    def drawing(self, *, stacked: bool = False) -> "Drawing":
        """Return the pass rates by slice with their intervals, all tests first.

        Args:
            stacked: Whether to keep one column, however long, for narrow screens.
        """
        from nnd.metric.show import (  # noqa: PLC0415
            RateGroup,
            draw_forest,
            style,
        )

        groups = [RateGroup("", OVERALL, [rate.to_dict() for rate in self.overall.values()])]
        groups += [
            RateGroup("slice", each.name, [found.rate.to_dict() for found in each.models.values()])
            for each in self.slices
            if each.first.n
        ]
        models, title = [*self.overall], "Pass rates by slice"
        with style():
            return draw_forest(
                short_names(models),
                models,
                groups,
                name="slices",
                title=title,
                shortest=_ROOM,
                stacked=stacked,
            )

    def to_frame(self) -> pl.DataFrame:
        """Return a row per model and slice.

        Returns:
            model, axis, value, n, contexts, passes, pass_rate, low and high (the 95 % interval over
            contexts), difference from the rest with its interval, p, p_holm, verdict.
        """
        rows = [
            _frame_row(model, each, found)
            for each in self.slices
            for model, found in each.models.items()
        ]
        return pl.DataFrame(rows, _SCHEMA, orient="row")

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values."""
        return {
            "data": self.data,
            "n": self.n,
            "overall": {model: rate.to_dict() for model, rate in self.overall.items()},
            "slices": [each.to_dict() for each in self.slices],
            "axes": {
                axis: {"n": together, "outside": outside}
                for axis, (together, outside) in self.axis_tests.items()
            },
            "search": None if self.search is None else self.search._asdict(),
            "notes": list(self.notes),
        }


def worst_of(found: SliceRates) -> tuple[str, SliceRate]:
    """Return the model for which a slice is furthest below the rest, significant ones first."""

    def order(item: tuple[str, SliceRate]) -> tuple[bool, float]:
        return item[1].verdict != "below", item[1].difference or 0.0

    return min(found.models.items(), key=order)


def _frame_row(model: str, each: SliceRates, found: SliceRate) -> tuple[object, ...]:
    rate = found.rate
    return (
        *(model, each.axis, each.value, rate.n, rate.contexts, rate.passes, rate.pass_rate),
        *(rate.interval or (None, None)),
        *(found.difference, *(found.interval or (None, None))),
        *(found.p, found.p_holm, found.verdict),
    )
