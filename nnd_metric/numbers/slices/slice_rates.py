"""Pass rates of slices, and how far each is from the rest of the tests.

A slice is below the rest if two criteria agree: the 95 % interval of the difference excludes 0, and
p is below 0.05 after Holm's adjustment over all slices and models that were tried together
(`statistics.unpaired_differences`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import polars as pl

from nnd.metric.numbers.rates.context_sums import (
    NUMBERED,
    TEST_NUMBER,
    Slice,
    count_by_context,
    each_once,
)
from nnd.metric.numbers.rates.pass_rates import Rate, rate_of
from nnd.metric.numbers.slices.named_slices import NamedSlice
from nnd.metric.numbers.statistics.intervals import Interval
from nnd.metric.numbers.statistics.significance import LEVEL, holm
from nnd.metric.numbers.statistics.unpaired_differences import Unpaired, unpaired_differences

Verdict: TypeAlias = Literal["below", "above", "undecided"]


@dataclass(frozen=True, slots=True)
class SliceRate:
    """The pass rate of one model on a slice.

    Attributes:
        rate: Rate over the slice's distinct (high, low).
        difference: Its pass rate minus that of all other tests; None if either has no tests.
        interval: 95 % interval of the difference over contexts; None if either has fewer than two.
        p: Two-sided p-value for equal rates; None without an interval.
        p_holm: The same adjusted over all slices and models.
    """

    rate: Rate
    difference: float | None
    interval: Interval | None
    p: float | None
    p_holm: float | None

    @property
    def verdict(self) -> Verdict:
        """Whether the slice is below or above the rest (module docstring)."""
        if self.interval is None or self.p_holm is None or self.p_holm >= LEVEL:
            return "undecided"
        low, high = self.interval
        return "below" if high < 0 else "above" if low > 0 else "undecided"

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values."""
        return {
            "rate": self.rate.to_dict(),
            "from_rest": {
                "difference": self.difference,
                "interval": None if self.interval is None else list(self.interval),
                "p": self.p,
                "p_holm": self.p_holm,
                "verdict": self.verdict,
            },
        }


@dataclass(frozen=True, slots=True)
class SliceRates:
    """A slice and every model's pass rate on it.

    Attributes:
        axis: Its axis.
        value: Its bin or name on the axis.
        name: Its name.
        pair_ids: The ids of its pairs.
        models: Model → its pass rate.
    """

    axis: str
    value: str
    name: str
    pair_ids: pl.Series
    models: Mapping[str, SliceRate]

    @property
    def first(self) -> Rate:
        """The rate of the first model, whose counts of tests and contexts are those of all."""
        return next(iter(self.models.values())).rate

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values."""
        return {
            "axis": self.axis,
            "value": self.value,
            "name": self.name,
            "n": self.first.n,
            "n_pairs": len(self.pair_ids),
            "contexts": self.first.contexts,
            "models": {model: found.to_dict() for model, found in self.models.items()},
        }


def overall_rates(frames: Mapping[str, pl.DataFrame]) -> dict[str, Rate]:
    """Return model → its rate over all distinct tests.

    Args:
        frames: Model → its tests, as `to_rate` returns them.
    """
    return {model: rate_of(each_once(rows)) for model, rows in frames.items()}


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
    adjusted = iter(holm([apart.p for each in found.values() for _, apart in each]))
    of_models = {
        model: [SliceRate(rate, *apart, next(adjusted)) for rate, apart in each]
        for model, each in found.items()
    }
    return [
        SliceRates(
            axis=each.axis,
            value=each.value,
            name=each.name,
            pair_ids=ids.filter(pl.Series(each.members)),
            models={model: rates[place] for model, rates in of_models.items()},
        )
        for place, each in enumerate(slices)
    ]


def _of_model(rated: pl.DataFrame, slices: Sequence[NamedSlice]) -> list[tuple[Rate, Unpaired]]:
    """Return for every slice its rate, and its difference from the rest."""
    everything = each_once(rated)
    contexts = rated.select(NUMBERED).unique(maintain_order=True)
    found = []
    for each in slices:
        own = each_once(rated.filter(pl.Series(each.members)))
        is_inside = pl.col(TEST_NUMBER).is_in(own[TEST_NUMBER].implode())
        parts = [Slice("", "", own), Slice("", "", everything.filter(~is_inside))]
        passes, tests = count_by_context(contexts, parts, key=NUMBERED)
        (apart,) = unpaired_differences(passes[:, :1], tests[:, :1], passes[:, 1:], tests[:, 1:])
        found.append((rate_of(own), apart))
    return found
