"""Correlations per statistic and category, with their uncertainty.

Each has an interval over contexts (with fixed systems and human scores), an interval over systems
(`system_bootstrap`), and a p-value by permutation (`permutation`).

For a mean over categories, all categories are resampled and permuted together, which keeps their
dependence. For resampled systems and permutations, this requires that all categories compare the
same systems; otherwise the mean has neither that interval nor a p-value.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Literal, NamedTuple

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


class Compared(NamedTuple):
    """The scores that are compared in one category.

    Attributes:
        models: Models with both scores.
        ours: Their pass rates.
        theirs: Their human scores.
        resampled: Their pass rates on resampled contexts, [resamples, models].
    """

    models: Sequence[str]
    ours: Sequence[float]
    theirs: Sequence[float]
    resampled: FloatArray


class Permutations(NamedTuple):
    """The permutations behind a p-value.

    Attributes:
        method: Whether they are all permutations of the human scores, or random ones.
        m: Their number.
    """

    method: Literal["exact", "monte_carlo"]
    m: int


class Finding(NamedTuple):
    """The value of one statistic, with its uncertainty.

    Attributes:
        value: The value; None if undefined, and then all others are None, too.
        interval: 95 % bootstrap interval over contexts, or None (`interval_of_most`).
        over_systems: 95 % bootstrap interval over systems, or None (`interval_of_most`).
        p: Two-sided permutation p-value, or None.
    """

    value: float | None = None
    interval: Interval | None = None
    over_systems: Interval | None = None
    p: float | None = None


class Correlated(NamedTuple):
    """All statistics of one category, or of the mean over categories.

    Attributes:
        findings: Name of a statistic → its value.
        permutations: The permutations behind the p-values; None without p-values.
    """

    findings: dict[str, Finding]
    permutations: Permutations | None


class _Draws(NamedTuple):
    """Values of one statistic for resampled contexts, resampled systems, and permutations."""

    contexts: FloatArray
    systems: FloatArray
    chance: FloatArray


def correlate(
    compared: Mapping[str, Compared], averaged: Collection[str]
) -> tuple[dict[str, Correlated], Correlated, dict[str, int]]:
    """Correlate the scores of every category, and average over some categories.

    Args:
        compared: Category → the scores to compare.
        averaged: Categories of the mean.

    Returns:
        Category → its statistics; the mean over the categories that define a statistic; statistic →
        number of these categories.

    Raises:
        ScoringError: If a score is not finite.
    """
    orders = {n: make_orders(n) for n in {len(each.ours) for each in compared.values()}}
    by_category = {
        category: Correlated({}, _permutations(orders[len(each.ours)]))
        for category, each in compared.items()
    }
    common = _common_orders([compared[category] for category in averaged], orders)
    mean = Correlated({}, None if common is None else _permutations(common))
    counts: dict[str, int] = {}
    for name, statistic in STATISTICS.items():  # the outer loop, because draws take much memory
        drawn: list[tuple[float, _Draws]] = []
        for category, each in compared.items():
            value = statistic(each.ours, each.theirs)
            draws = _draw(name, each, orders[len(each.ours)])
            by_category[category].findings[name] = _finding(value, draws, orders[len(each.ours)])
            if category in averaged and value is not None:
                drawn.append((value, draws))
        mean.findings[name] = _mean(drawn, common)
        counts[name] = len(drawn)
    return by_category, mean, counts


def _draw(name: str, compared: Compared, orders: Orders) -> _Draws:
    _, ours, theirs, resampled = compared
    return _Draws(
        contexts=BATCHED[name](resampled, np.asarray(theirs, dtype=np.float64)),
        systems=statistic_over_systems(name, ours, theirs, draw_systems(len(ours))),
        chance=statistic_by_chance(name, ours, theirs, orders),
    )


def _finding(value: float | None, draws: _Draws, orders: Orders) -> Finding:
    if value is None:
        return Finding()
    return Finding(
        value,
        interval_of_most(draws.contexts),
        interval_of_most(draws.systems),
        permutation_p(value, draws.chance, orders.method),
    )


def _mean(drawn: Sequence[tuple[float, _Draws]], common: Orders | None) -> Finding:
    if not drawn:
        return Finding()
    values, draws = zip(*drawn, strict=True)
    value = sum(values) / len(values)
    # A resample without a value in some category has no mean (nan), as it would be over fewer.
    contexts = np.mean([each.contexts for each in draws], axis=0)
    if common is None:
        return Finding(value, interval_of_most(contexts))
    systems = np.mean([each.systems for each in draws], axis=0)
    chance = np.mean([each.chance for each in draws], axis=0)
    return _finding(value, _Draws(contexts, systems, chance), common)


def _common_orders(averaged: Sequence[Compared], orders: Mapping[int, Orders]) -> Orders | None:
    """Return the permutations of the systems, or None if categories compare different systems."""
    models = {tuple(each.models) for each in averaged if each.models}
    return orders[len(models.pop())] if len(models) == 1 else None


def _permutations(orders: Orders) -> Permutations:
    return Permutations(orders.method, len(orders.places))
