"""Pass rates of slices, and how far each is from the rest of the tests.

p is adjusted over all slices and models that were tried together.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

import polars as pl

from nnd.metric.numbers.display_names import short_names
from nnd.metric.numbers.rates.cluster_words import few_clusters, noun_of
from nnd.metric.numbers.rates.pass_rates import Rate
from nnd.metric.numbers.shown_result import Result
from nnd.metric.numbers.statistics.context_intervals import FEW_CONTEXTS
from nnd.metric.numbers.statistics.difference import Difference
from nnd.metric.numbers.statistics.interval_text import percent
from nnd.schemas import SPARSE, UNSTORED, Count, Name, Record, cells_of, counted, frame_schema

_COLUMNS = (
    *("model", "axis", "value", "n", "contexts", "clusters", "passes", "pass_rate"),
    *("low", "high", "difference", "difference_low", "difference_high", "p", "p_holm", "verdict"),
)


@dataclass(frozen=True, slots=True)
class SliceRate(Record):
    """The pass rate of one model on a slice.

    Attributes:
        rate: Rate over the slice's distinct (high, low).
        from_rest: Its difference from the pass rate of all other tests.
    """

    rate: Rate
    from_rest: Difference

    @property
    def is_below(self) -> bool:
        """Whether the slice is significantly below the rest."""
        return self.from_rest.verdict == "second"

    @property
    def lead(self) -> float:
        """The difference from the rest; 0 without one."""
        return self.from_rest.difference or 0.0


@dataclass(frozen=True, slots=True)
class SliceRates(Record):
    """A slice and every model's pass rate on it.

    Attributes:
        axis: Its axis; `where` for a condition, empty for slices joined by signs.
        value: Its bin or name on the axis.
        name: Its name.
        n: Tests.
        n_pairs: Pairs; those that differ in their error category alone are one test.
        contexts: Contexts with tests.
        clusters: Clusters with tests: contexts that share what the data declares, such as a
            paragraph; else each context is one. Intervals and p are over these.
        models: Model → its pass rate.
        pair_ids: The ids of its pairs.
    """

    axis: str
    value: Name
    name: Name
    n: Count
    n_pairs: Count
    contexts: Count
    clusters: Count
    models: Mapping[str, SliceRate]
    pair_ids: Annotated[pl.Series, UNSTORED]

    @property
    def worst(self) -> tuple[str, SliceRate]:
        """The model for which it is furthest below the rest, significant differences first."""
        return min(self.models.items(), key=lambda item: (not item[1].is_below, item[1].lead))


@dataclass(frozen=True, slots=True)
class Search(Record):
    """The parameters of a search for slices.

    Attributes:
        contexts: Smallest number of contexts of a slice; those of one cluster count as one.
        tried: Number of slices with as many; p is adjusted over all of them and all models.
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
        cluster: What the clusters of contexts are called that intervals are over, such as
            paragraph; None if nothing is declared, or unknown.
        notes: Sentences on how the models were scored, if not alike, and on missing clusters.
    """

    data: Name
    n: Count
    overall: Mapping[str, Rate]
    slices: tuple[SliceRates, ...]
    axes: Mapping[str, AxisTests]
    search: Search | None
    cluster: Annotated[str | None, SPARSE] = None
    notes: tuple[str, ...] = ()

    @property
    def noun(self) -> str:
        """What intervals are over: context, unless several of them share something."""
        return noun_of(next(iter(self.overall.values())), self.cluster)

    def headline(self) -> str:
        """Return the number of slices below the rest, and the one that is furthest below."""
        among = len(self.slices) if self.search is None else self.search.tried
        of = f"{counted(among, 'slice')} of {self.data}"
        if self.search is not None:
            of += f" with {counted(self.search.contexts, self.noun)} or more"
        below = [each for each in self.slices if each.worst[1].is_below]
        if not below and among == 1 and self.slices:
            return f"{self.slices[0].name} is not significantly below the rest of {self.data}."
        if not below:
            return f"Of {of}, none is significantly below the rest."
        worst = min(below, key=lambda each: each.worst[1].lead)
        model, lowest = worst.worst
        name = dict(zip(self.overall, short_names([*self.overall]), strict=True))[model]
        return (
            f"Of {of}, {len(below)} {'is' if len(below) == 1 else 'are'} "
            f"significantly below the rest; furthest is {worst.name}, where {name} passes "
            f"{percent(lowest.rate.pass_rate or 0.0)} % of {counted(lowest.rate.n, 'test')}, "
            f"{percent(-lowest.lead)} points below the rest."
        )

    def remarks(self) -> list[str]:
        """Return which slices overlap or leave tests out, and which are small."""
        notes = [*self.notes]
        for axis, tests in self.axes.items():
            inside = self.n - tests.outside
            if tests.n > inside:
                notes.append(
                    f"{axis}: its slices hold {tests.n:,} tests together and {inside:,} different "
                    "ones; a test counts in each of its slices."
                )
            if tests.outside:
                notes.append(
                    f"{axis}: {tests.outside:,} of {self.n:,} tests are in none of its slices."
                )
        if few := few_clusters(next(iter(self.overall.values())), self.cluster):
            return [*notes, f"{few[0].upper()}{few[1:]}."]
        rough = sum(0 < each.clusters < FEW_CONTEXTS for each in self.slices)
        if rough:
            notes.append(
                f"Intervals of slices with fewer than {FEW_CONTEXTS} {self.noun}s are rough; "
                f"here {counted(rough, 'slice')}."
            )
        return notes

    def to_frame(self) -> pl.DataFrame:
        """Return a row per model and slice.

        Returns:
            model, axis, value, n, contexts, clusters, passes, pass_rate, low and high (the 95 %
            interval), difference from the rest with its interval, p, p_holm, verdict.
        """
        ends = ("difference_low", "difference_high")
        rows = [
            {"model": model, "axis": each.axis, "value": each.value}
            | cells_of(on_slice.from_rest)
            | dict(zip(ends, on_slice.from_rest.interval or (None, None), strict=True))
            | cells_of(on_slice.rate)
            for each in self.slices
            for model, on_slice in each.models.items()
        ]
        dtypes = {**frame_schema(Difference), **frame_schema(SliceRates), **frame_schema(Rate)}
        dtypes |= {"model": pl.String(), **dict.fromkeys(ends, dtypes["low"])}
        return pl.DataFrame(rows, dtypes).select(_COLUMNS)
