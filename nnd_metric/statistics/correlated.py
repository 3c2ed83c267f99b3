"""One correlation per statistic and category, with what there is to say against it.

Beside each stands how far it moves with other contexts (systems and human scores held fixed), how
far with other systems (`over_systems`), and how often chance does as well (`permutation`).

A mean over categories is resampled and permuted with all its categories together, so that what they
have in common stays in. For systems and for chance this needs categories that compare the same
systems; where they do not, the mean has neither that interval nor a p-value.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np

from nnd.metric.statistics.correlations import BATCHED, STATISTICS
from nnd.metric.statistics.intervals import FloatArray, Interval, interval_of_most
from nnd.metric.statistics.permutation import Deals, make_deals, permutation_p, statistic_by_chance
from nnd.metric.statistics.system_bootstrap import draw_systems, statistic_over_systems


class Compared(NamedTuple):
    """What is compared in one category.

    Attributes:
        models: Those with both scores.
        ours: Their pass rates.
        theirs: Their human scores.
        resampled: Their pass rates on resampled contexts, [resamples, models].
    """

    models: Sequence[str]
    ours: Sequence[float]
    theirs: Sequence[float]
    resampled: FloatArray


class Permutations(NamedTuple):
    """How p-values were made.

    Attributes:
        method: From all permutations of the human scores, or from random ones.
        m: How many.
    """

    method: Literal["exact", "monte_carlo"]
    m: int


class Finding(NamedTuple):
    """One statistic.

    Attributes:
        value: None where undefined, and then so is the rest.
        interval: 95 % bootstrap interval over contexts, or None (`interval_of_most`).
        over_systems: 95 % bootstrap interval over systems, likewise.
        p: Two-sided permutation p-value, or None.
    """

    value: float | None = None
    interval: Interval | None = None
    over_systems: Interval | None = None
    p: float | None = None


class Correlated(NamedTuple):
    """Every statistic of one category, or of the mean.

    Attributes:
        findings: By name.
        permutations: How the p-values were made; None where they could not.
    """

    findings: dict[str, Finding]
    permutations: Permutations | None


class _Draws(NamedTuple):
    """One statistic on resampled contexts, on resampled systems, and by chance."""

    contexts: FloatArray
    systems: FloatArray
    chance: FloatArray


def correlate(
    compared: Mapping[str, Compared], averaged: Collection[str]
) -> tuple[dict[str, Correlated], Correlated, dict[str, int]]:
    """Correlate the scores of every category, and average over some categories.

    Args:
        compared: By category.
        averaged: The categories of the mean.

    Returns:
        By category; the mean over those that define the statistic; how many those are.

    Raises:
        ScoringError: If a score is not finite.
    """
    deals = {n: make_deals(n) for n in {len(each.ours) for each in compared.values()}}
    found = {
        category: Correlated({}, _permutations(deals[len(each.ours)]))
        for category, each in compared.items()
    }
    common = _common_deals([compared[category] for category in averaged], deals)
    mean = Correlated({}, None if common is None else _permutations(common))
    counts: dict[str, int] = {}
    for name, statistic in STATISTICS.items():  # outermost: all permutations at once take memory
        drawn: list[tuple[float, _Draws]] = []
        for category, each in compared.items():
            value = statistic(each.ours, each.theirs)
            draws = _draw(name, each, deals[len(each.ours)])
            found[category].findings[name] = _finding(value, draws, deals[len(each.ours)])
            if category in averaged and value is not None:
                drawn.append((value, draws))
        mean.findings[name] = _mean(drawn, common)
        counts[name] = len(drawn)
    return found, mean, counts


def _draw(name: str, each: Compared, deals: Deals) -> _Draws:
    systems = draw_systems(len(each.ours))
    return _Draws(
        contexts=BATCHED[name](each.resampled, np.asarray(each.theirs, dtype=np.float64)),
        systems=statistic_over_systems(name, each.ours, each.theirs, systems),
        chance=statistic_by_chance(name, each.ours, each.theirs, deals),
    )


def _finding(value: float | None, draws: _Draws, deals: Deals) -> Finding:
    if value is None:
        return Finding()
    return Finding(
        value,
        interval_of_most(draws.contexts),
        interval_of_most(draws.systems),
        permutation_p(value, draws.chance, deals.method),
    )


def _mean(drawn: Sequence[tuple[float, _Draws]], common: Deals | None) -> Finding:
    if not drawn:
        return Finding()
    values, draws = zip(*drawn, strict=True)
    value = sum(values) / len(values)
    # A resample that leaves one of the categories undefined has no mean to compare with ours.
    contexts = np.mean([each.contexts for each in draws], axis=0)
    if common is None:
        return Finding(value, interval_of_most(contexts))
    systems = np.mean([each.systems for each in draws], axis=0)
    chance = np.mean([each.chance for each in draws], axis=0)
    return _finding(value, _Draws(contexts, systems, chance), common)


def _common_deals(averaged: Sequence[Compared], deals: Mapping[int, Deals]) -> Deals | None:
    """Return the deals of the systems that all categories with any systems compare."""
    models = {tuple(each.models) for each in averaged if each.models}
    return deals[len(models.pop())] if len(models) == 1 else None


def _permutations(deals: Deals) -> Permutations:
    return Permutations(deals.method, len(deals.orders))
