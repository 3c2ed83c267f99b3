"""Correlations per statistic and category, with their uncertainty.

Each has an interval over contexts (with fixed systems and human scores), an interval over systems
(`system_bootstrap`), and a p-value by permutation (`permutation`).

For a mean over categories, all categories are resampled and permuted together, which keeps their
dependence. For resampled systems and permutations, this requires that all categories compare the
same systems; otherwise the mean has neither that interval nor a p-value.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, NamedTuple, TypeAlias

import numpy as np

from nnd.metric.numbers.statistics.correlations import BATCHED, STATISTICS
from nnd.metric.numbers.statistics.intervals import FloatArray, Interval, interval_of_most
from nnd.metric.numbers.statistics.permutation import (
    Orders,
    make_orders,
    permutation_p,
    statistic_by_chance,
)
from nnd.metric.numbers.statistics.system_bootstrap import draw_systems, statistic_over_systems
from nnd.schemas import Correlation, FlatKeys, Keys, Natural, PValue, Record


class CategoryScores(NamedTuple):
    """The pass rates and human scores, in one category, of the models that have both.

    `resampled` has their pass rates on resampled contexts, [resamples, models].
    """

    models: Sequence[str]
    ours: Sequence[float]
    theirs: Sequence[float]
    resampled: FloatArray


@dataclass(frozen=True, slots=True)
class Permutations(Record):
    """The permutations behind a p-value.

    Attributes:
        method: Whether they are all permutations of the human scores, or random ones.
        m: Their number.
    """

    method: Literal["exact", "monte_carlo"]
    m: Natural


_MEANINGS = (
    "Kendall's tau-b.",
    "Kendall's tau-a: ties count 0.",
    "Spearman's rho.",
    "Pearson's r.",
    "Pearson's r over the differences of all pairs of systems, in both orders.",
    "The same, each pair once, in the order of the systems, on which it depends.",
)
Statistics: TypeAlias = Annotated[Mapping[str, Correlation | None], Keys((*STATISTICS,), _MEANINGS)]
Intervals: TypeAlias = Mapping[str, Interval | None]
PValues: TypeAlias = Mapping[str, PValue | None]


@dataclass(frozen=True, slots=True)
class Correlations(Record):
    """Correlations with intervals and p-values, by name of the statistic.

    Attributes:
        statistics: Statistic → its value; None if undefined, and then the rest is None, too.
        intervals: Statistic → 95 % bootstrap interval over contexts, human scores held fixed; None
            without samples.
        intervals_over_systems: Statistic → 95 % bootstrap interval over systems, contexts held
            fixed; None if there are too few.
        p_values: Statistic → two-sided permutation p-value.
        permutations: How the p-values were computed; None if undefined.
    """

    statistics: Annotated[Statistics, FlatKeys()]
    intervals: Intervals
    intervals_over_systems: Intervals
    p_values: PValues
    permutations: Permutations | None


_Finding: TypeAlias = tuple[float | None, Interval | None, Interval | None, float | None]
"""A statistic, its intervals over contexts and over systems, and its p-value; or four None."""

_Draws: TypeAlias = tuple[FloatArray, FloatArray, FloatArray]
"""Values of one statistic for resampled contexts, resampled systems, and permutations."""


def correlate(
    compared: Mapping[str, CategoryScores], averaged: Collection[str]
) -> tuple[dict[str, Correlations], Correlations, dict[str, int]]:
    """Correlate the scores of every category, and average over the `averaged` categories.

    Returns category → its statistics; the mean over the categories that define a statistic; and
    statistic → number of these categories.
    """
    orders = {n: make_orders(n) for n in {len(each.ours) for each in compared.values()}}
    findings: dict[str, dict[str, _Finding]] = {category: {} for category in compared}
    common = _common_orders([compared[category] for category in averaged], orders)
    means: dict[str, _Finding] = {}
    counts: dict[str, int] = {}
    for name, statistic in STATISTICS.items():  # the outer loop, because draws take much memory
        drawn: list[tuple[float, _Draws]] = []
        for category, (_, ours, theirs, resampled) in compared.items():
            value, by_chance = statistic(ours, theirs), orders[len(ours)]
            draws = (
                BATCHED[name](resampled, np.asarray(theirs, dtype=np.float64)),
                statistic_over_systems(name, ours, theirs, draw_systems(len(ours))),
                statistic_by_chance(name, ours, theirs, by_chance),
            )
            findings[category][name] = _finding(value, draws, by_chance)
            if category in averaged and value is not None:
                drawn.append((value, draws))
        means[name] = _mean(drawn, common)
        counts[name] = len(drawn)
    by_category = {
        category: _by_kind(findings[category], orders[len(each.ours)])
        for category, each in compared.items()
    }
    return by_category, _by_kind(means, common), counts


def _by_kind(findings: Mapping[str, _Finding], orders: Orders | None) -> Correlations:
    values, intervals, over_systems, p_values = (
        dict(zip(findings, kind, strict=True)) for kind in zip(*findings.values(), strict=True)
    )
    permutations = None if orders is None else Permutations(orders.method, len(orders.places))
    return Correlations(values, intervals, over_systems, p_values, permutations)


def _finding(value: float | None, draws: _Draws, orders: Orders) -> _Finding:
    if value is None:
        return None, None, None, None
    contexts, systems, chance = draws
    p = permutation_p(value, chance, orders.method)
    return value, interval_of_most(contexts), interval_of_most(systems), p


def _mean(drawn: Sequence[tuple[float, _Draws]], common: Orders | None) -> _Finding:
    if not drawn:
        return None, None, None, None
    values, draws = zip(*drawn, strict=True)
    value = sum(values) / len(values)
    by_contexts, by_systems, by_chance = zip(*draws, strict=True)
    # A resample without a value in some category has no mean (nan), as it would be over fewer.
    contexts = np.mean(by_contexts, axis=0)
    if common is None:
        return value, interval_of_most(contexts), None, None
    return _finding(
        value, (contexts, np.mean(by_systems, axis=0), np.mean(by_chance, axis=0)), common
    )


def _common_orders(
    averaged: Sequence[CategoryScores], orders: Mapping[int, Orders]
) -> Orders | None:
    """Return the permutations of the systems, or None if categories compare different systems."""
    models = {tuple(each.models) for each in averaged if each.models}
    return orders[len(models.pop())] if len(models) == 1 else None
