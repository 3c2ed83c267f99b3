"""Pass rates of slices, and how far each is from the rest of the tests.

p is adjusted over all slices and models that were tried together.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import polars as pl

from nnd.metric.numbers.rates.context_sums import NUMBERED, TEST_NUMBER, each_once
from nnd.metric.numbers.rates.pass_rates import Rate, rate_of
from nnd.metric.numbers.rates.rate_differences import compare_sets
from nnd.metric.numbers.slices.named_slices import NamedSlice
from nnd.metric.numbers.statistics.difference import Difference, adjust
from nnd.schemas import UNSTORED, Count, Name, Record


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
        models: Model → its pass rate.
        pair_ids: The ids of its pairs.
    """

    axis: str
    value: Name
    name: Name
    n: Count
    n_pairs: Count
    contexts: Count
    models: Mapping[str, SliceRate]
    pair_ids: Annotated[pl.Series, UNSTORED]

    @property
    def worst(self) -> tuple[str, SliceRate]:
        """The model for which it is furthest below the rest, significant differences first."""

        def order(item: tuple[str, SliceRate]) -> tuple[bool, float]:
            return not item[1].is_below, item[1].from_rest.difference or 0.0

        return min(self.models.items(), key=order)


def rates_in(
    frames: Mapping[str, pl.DataFrame], ids: pl.Series, slices: Sequence[NamedSlice]
) -> list[SliceRates]:
    """Return every model's pass rate on every slice.

    Args:
        frames: Model → its tests, as `to_rate` returns them, in the same order for all.
        ids: Their pair_id.
        slices: The slices.
    """
    found = {model: _of_model(rows, slices) for model, rows in frames.items()}
    adjusted = iter(adjust([apart for each in found.values() for _, apart in each]))
    of_models = {
        model: [SliceRate(rate, next(adjusted)) for rate, _ in each]
        for model, each in found.items()
    }
    rates = []
    for place, each in enumerate(slices):
        models = {model: of_slices[place] for model, of_slices in of_models.items()}
        first = next(iter(models.values())).rate  # the tests of all models are the same
        pair_ids = ids.filter(pl.Series(each.members))
        counts = (first.n, len(pair_ids), first.contexts)
        rates.append(SliceRates(each.axis, each.value, each.name, *counts, models, pair_ids))
    return rates


def _of_model(rated: pl.DataFrame, slices: Sequence[NamedSlice]) -> list[tuple[Rate, Difference]]:
    """Return for every slice its rate, and its difference from the rest."""
    everything = each_once(rated)
    contexts = rated.select(NUMBERED).unique(maintain_order=True)
    found = []
    for each in slices:
        own = each_once(rated.filter(pl.Series(each.members)))
        is_inside = pl.col(TEST_NUMBER).is_in(own[TEST_NUMBER].implode())
        rest = everything.filter(~is_inside)
        found.append((rate_of(own), compare_sets(contexts, own, rest, key=NUMBERED)))
    return found
