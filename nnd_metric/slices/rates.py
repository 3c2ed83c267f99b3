"""Pass rates of slices, and how far each is from the rest of the tests.

A slice is below the rest where both say so: the 95 % interval of the difference leaves out 0, and p
is below 0.05 after Holm's adjustment over all slices and models that were tried together
(`statistics.unpaired_differences`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import polars as pl

from nnd.metric.results import (
    Rate,
    Slice,
    distinct_tests,
    judge,
    rates_of,
    sum_by_context,
)
from nnd.metric.slices.naming import Members, NamedSlice
from nnd.metric.statistics import LEVEL, Interval, Unpaired, holm, unpaired_differences
from nnd.schemas import DISTINCT

Verdict: TypeAlias = Literal["below", "above", "undecided"]


@dataclass(frozen=True, slots=True)
class SliceRate:
    """What one model reaches on a slice.

    Attributes:
        rate: Over the slice's distinct (high, low).
        difference: Its pass rate minus that of all other tests; None where either has none.
        interval: 95 % interval of the difference over contexts; None where either has tests of
            fewer than two.
        p: Of equal rates, two-sided; None where there is no interval.
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
    """A slice and what every model reaches on it.

    Attributes:
        axis: What it is a slice by.
        value: Its bin or name there.
        name: What it is called.
        pair_ids: Its pairs.
        models: Model → what it reaches.
    """

    axis: str
    value: str
    name: str
    pair_ids: tuple[str, ...]
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
        frames: Model → its scored pairs.
    """
    judged = {model: judge(rows) for model, rows in frames.items()}
    return {model: rates_of(rows, [distinct_tests(rows)])[0] for model, rows in judged.items()}


def rates_in(frames: Mapping[str, pl.DataFrame], slices: Sequence[NamedSlice]) -> list[SliceRates]:
    """Return what every model reaches on every slice.

    Args:
        frames: Model → its scored pairs, in the same order for all.
        slices: Some of the pairs each.
    """
    rates = {model: _rates(rows, slices) for model, rows in frames.items()}
    apart = {model: _from_rest(rows, slices) for model, rows in frames.items()}
    adjusted = iter(holm([each.p for found in apart.values() for each in found]))
    adjusted_of = {model: [next(adjusted) for _ in found] for model, found in apart.items()}
    ids = next(iter(frames.values()))["pair_id"]
    return [
        SliceRates(
            axis=each.axis,
            value=each.value,
            name=each.name,
            pair_ids=tuple(ids.filter(each.members)),
            models={
                model: SliceRate(
                    rates[model][place], *apart[model][place], adjusted_of[model][place]
                )
                for model in frames
            },
        )
        for place, each in enumerate(slices)
    ]


def _rates(rows: pl.DataFrame, slices: Sequence[NamedSlice]) -> list[Rate]:
    judged = judge(rows)
    return rates_of(judged, [_tests(judged, each.members) for each in slices])


def _from_rest(rows: pl.DataFrame, slices: Sequence[NamedSlice]) -> list[Unpaired]:
    everything = distinct_tests(rows).rows
    pieces = [_tests(rows, each.members) for each in slices]
    others = [_without(everything, piece) for piece in pieces]
    sums = sum_by_context(rows, [*pieces, *others], pl.col("passed").sum(), pl.len())
    own, of_rest = sums[:, : len(pieces)], sums[:, len(pieces) :]
    return unpaired_differences(*np.moveaxis(own, 2, 0), *np.moveaxis(of_rest, 2, 0))


def _tests(rows: pl.DataFrame, members: Members) -> Slice:
    return distinct_tests(rows.filter(pl.Series(members)))


def _without(everything: pl.DataFrame, piece: Slice) -> Slice:
    rest = everything.join(
        piece.rows, on=DISTINCT, how="anti", nulls_equal=True, maintain_order="left"
    )
    return Slice("", "rest", rest)
