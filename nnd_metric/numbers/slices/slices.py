"""The result: pass rates of slices, and which of them are below the rest."""

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from nnd.metric.numbers.display_names import short_names
from nnd.metric.numbers.rates.pass_rates import Rate
from nnd.metric.numbers.shown_result import Result
from nnd.metric.numbers.slices.slice_rates import SliceRates
from nnd.metric.numbers.statistics.context_intervals import FEW_CONTEXTS
from nnd.metric.numbers.statistics.difference import Difference
from nnd.metric.numbers.statistics.interval_text import percent
from nnd.schemas import Count, Name, Record, cells_of, counted, frame_schema

_COLUMNS = (
    *("model", "axis", "value", "n", "contexts", "passes", "pass_rate", "low", "high"),
    *("difference", "difference_low", "difference_high", "p", "p_holm", "verdict"),
)


@dataclass(frozen=True, slots=True)
class Search(Record):
    """The parameters of a search for slices.

    Attributes:
        contexts: Smallest number of contexts of a slice.
        tried: Number of slices with enough contexts; p is adjusted over all of them and all models.
    """

    contexts: Count
    tried: Count


@dataclass(frozen=True, slots=True)
class AxisTests(Record):
    """The tests of the slices of an axis.

    Attributes:
        n: Sum of the tests of its slices; a test in two of them counts twice.
        outside: Number of tests in none of them.
    """

    n: Count
    outside: Count


@dataclass(frozen=True, slots=True, repr=False)
class Slices(Result):
    """Pass rates of slices of stored runs.

    Attributes:
        data: Name of the pairs.
        n: Number of all tests.
        overall: Model → its rate over all tests.
        slices: The slices; after a search, the one furthest below the rest comes first.
        axes: Axis → the tests of its slices; empty for chosen names and after a search.
        search: The search; None for requested slices.
        notes: Sentences on how the models were scored, if not alike.
    """

    data: Name
    n: Count
    overall: Mapping[str, Rate]
    slices: tuple[SliceRates, ...]
    axes: Mapping[str, AxisTests]
    search: Search | None
    notes: tuple[str, ...] = ()

    def headline(self) -> str:
        """Return the number of slices below the rest, and the one that is furthest below."""
        among = len(self.slices) if self.search is None else self.search.tried
        of = f"{counted(among, 'slice')} of {self.data}"
        if self.search is not None:
            of += f" with {counted(self.search.contexts, 'context')} or more"
        below = [each for each in self.slices if each.worst[1].is_below]
        if not below and among == 1 and self.slices:
            return f"{self.slices[0].name} is not significantly below the rest of {self.data}."
        if not below:
            return f"Of {of}, none is significantly below the rest."
        worst = min(below, key=lambda each: each.worst[1].from_rest.difference or 0.0)
        model, found = worst.worst
        name = dict(zip(self.overall, short_names([*self.overall]), strict=True))[model]
        return (
            f"Of {of}, {len(below)} {'is' if len(below) == 1 else 'are'} "
            f"significantly below the rest; furthest is {worst.name}, where {name} passes "
            f"{percent(found.rate.pass_rate or 0.0)} % of {counted(found.rate.n, 'test')}, "
            f"{percent(-(found.from_rest.difference or 0.0))} points below the rest."
        )

    def remarks(self) -> list[str]:
        """Return which slices overlap or leave tests out, and which are small."""
        found = [*self.notes]
        for axis, tests in self.axes.items():
            inside = self.n - tests.outside
            if tests.n > inside:
                found.append(
                    f"{axis}: its slices hold {tests.n:,} tests together and {inside:,} different "
                    "ones; a test counts in each of its slices."
                )
            if tests.outside:
                found.append(
                    f"{axis}: {tests.outside:,} of {self.n:,} tests are in none of its slices."
                )
        few = sum(0 < each.contexts < FEW_CONTEXTS for each in self.slices)
        if few:
            found.append(
                f"Intervals of slices with fewer than {FEW_CONTEXTS} contexts are rough; "
                f"here {counted(few, 'slice')}."
            )
        return found

    def to_frame(self) -> pl.DataFrame:
        """Return a row per model and slice.

        Returns:
            model, axis, value, n, contexts, passes, pass_rate, low and high (the 95 % interval over
            contexts), difference from the rest with its interval, p, p_holm, verdict.
        """
        rows = []
        for each in self.slices:
            for model, found in each.models.items():
                low, high = found.from_rest.interval or (None, None)
                interval = {"difference_low": low, "difference_high": high}
                keys = {"model": model, "axis": each.axis, "value": each.value}
                rows.append(keys | cells_of(found.from_rest) | interval | cells_of(found.rate))
        dtypes = {**frame_schema(Difference), **frame_schema(SliceRates), **frame_schema(Rate)}
        dtypes |= {"model": pl.String()}
        dtypes |= dict.fromkeys(("difference_low", "difference_high"), dtypes["low"])
        return pl.DataFrame(rows, dtypes).select(_COLUMNS)
