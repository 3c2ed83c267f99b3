"""Correlations per statistic and category, with their uncertainty.

Each has an interval over contexts (with fixed systems and human scores), of a bootstrap
(`covering_interval`) where the contexts suffice (`order_noise`), an interval over systems
(`over_systems`), and a p-value by permutation (`permutation`).

For a mean over categories, all categories are resampled and permuted together, which keeps their
dependence. Leaving out systems and permutations require that all categories compare the same
systems; otherwise the mean has neither that interval nor a p-value. If one of the categories has no
interval over contexts, neither has the mean.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal, NamedTuple, TypeAlias

import numpy as np

from nnd.metric.numbers.statistics.correlations import BATCHED, STATISTICS
from nnd.metric.numbers.statistics.intervals import (
    UNDEFINED,
    FloatArray,
    Interval,
    IntervalOrReason,
    covering_interval,
    reasons_in,
)
from nnd.metric.numbers.statistics.order_noise import reason_against_order
from nnd.metric.numbers.statistics.over_systems import interval_over_systems, without_each_system
from nnd.metric.numbers.statistics.permutation import (
    Orders,
    make_orders,
    permutation_p,
    statistic_by_chance,
)
from nnd.schemas import SPARSE, Correlation, FlatKeys, Keys, Natural, PValue, Record


class CategoryScores(NamedTuple):
    """The pass rates and human scores, in one category, of the models that have both.

    `resampled` has their pass rates on resampled contexts, [resamples, models], and `stretch` says
    how much farther than percentiles intervals reach (`intervals.stretches`).
    """

    models: Sequence[str]
    ours: Sequence[float]
    theirs: Sequence[float]
    resampled: FloatArray
    stretch: float = 1.0


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
Reasons: TypeAlias = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Correlations(Record):
    """Correlations with intervals and p-values, by name of the statistic.

    Attributes:
        statistics: Statistic → its value; None if undefined, and then the rest is None, too.
        intervals: Statistic → 95 % bootstrap interval over contexts, human scores held fixed; None
            where the contexts are unknown or too few.
        intervals_over_systems: Statistic → 95 % jackknife interval over systems, contexts held
            fixed; None if there are too few.
        p_values: Statistic → two-sided permutation p-value.
        permutations: How the p-values were computed; None if undefined.
        interval_reasons: Statistic without an interval over contexts → why.
        interval_reasons_over_systems: The same for the intervals over systems.
    """

    statistics: Annotated[Statistics, FlatKeys()]
    intervals: Intervals
    intervals_over_systems: Intervals
    p_values: PValues
    permutations: Permutations | None
    interval_reasons: Annotated[Reasons, SPARSE] = field(default_factory=dict, kw_only=True)
    interval_reasons_over_systems: Annotated[Reasons, SPARSE] = field(
        default_factory=dict, kw_only=True
    )


_NOTHING = IntervalOrReason(None, UNDEFINED)
_OTHER_SYSTEMS = "the categories compare different systems"


class _Finding(NamedTuple):
    """A statistic, its intervals over contexts and over systems, and its p-value."""

    value: float | None
    over_contexts: IntervalOrReason = _NOTHING
    over_systems: IntervalOrReason = _NOTHING
    p: float | None = None


class _Draws(NamedTuple):
    """Values of one statistic for resampled contexts, without each system, and for permutations.

    `against` says why they have no interval over contexts, or None; `stretch` is of CategoryScores.
    """

    contexts: FloatArray
    systems: FloatArray
    chance: FloatArray
    against: str | None
    stretch: float


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
    against = {
        category: reason_against_order(each.ours, each.resampled)
        for category, each in compared.items()
    }
    means: dict[str, _Finding] = {}
    counts: dict[str, int] = {}
    for name, statistic in STATISTICS.items():  # the outer loop, because draws take much memory
        drawn: list[tuple[float, _Draws]] = []
        for category, (_, ours, theirs, resampled, stretch) in compared.items():
            value, by_chance = statistic(ours, theirs), orders[len(ours)]
            if value is None:
                findings[category][name] = _Finding(None)
                continue
            draws = _Draws(
                BATCHED[name](resampled, np.asarray(theirs, dtype=np.float64)),
                without_each_system(name, ours, theirs),
                statistic_by_chance(name, ours, theirs, by_chance),
                against[category],
                stretch,
            )
            findings[category][name] = _finding(value, draws, by_chance)
            if category in averaged:
                drawn.append((value, draws))
        means[name] = _mean(drawn, common)
        counts[name] = len(drawn)
    by_category = {
        category: _by_kind(findings[category], orders[len(each.ours)])
        for category, each in compared.items()
    }
    return by_category, _by_kind(means, common), counts


def _by_kind(findings: Mapping[str, _Finding], orders: Orders | None) -> Correlations:
    over_contexts = {name: each.over_contexts for name, each in findings.items()}
    over_systems = {name: each.over_systems for name, each in findings.items()}
    return Correlations(
        statistics={name: each.value for name, each in findings.items()},
        intervals={name: each.bounds for name, each in over_contexts.items()},
        intervals_over_systems={name: each.bounds for name, each in over_systems.items()},
        p_values={name: each.p for name, each in findings.items()},
        permutations=None if orders is None else Permutations(orders.method, len(orders.places)),
        interval_reasons=reasons_in(over_contexts),
        interval_reasons_over_systems=reasons_in(over_systems),
    )


def _finding(value: float, draws: _Draws, orders: Orders) -> _Finding:
    return _Finding(
        value,
        interval_of_correlation(value, draws.contexts, draws.against, draws.stretch),
        interval_over_systems(value, draws.systems),
        permutation_p(value, draws.chance, orders.method),
    )


def interval_of_correlation(
    value: float, resampled: FloatArray, against: str | None, stretch: float
) -> IntervalOrReason:
    """Return the 95 % interval over contexts, unless there is a reason against it."""
    if against is not None:
        return IntervalOrReason(None, against)
    return covering_interval(value, resampled, stretch=stretch)


def _mean(drawn: Sequence[tuple[float, _Draws]], common: Orders | None) -> _Finding:
    if not drawn:
        return _Finding(None)
    values, draws = zip(*drawn, strict=True)
    value = sum(values) / len(values)
    against = next((each.against for each in draws if each.against is not None), None)
    # A resample without a value in some category has no mean (nan), as it would be over fewer.
    contexts = np.mean([each.contexts for each in draws], axis=0)
    stretch = max(each.stretch for each in draws)
    if common is None:
        over_contexts = interval_of_correlation(value, contexts, against, stretch)
        return _Finding(value, over_contexts, IntervalOrReason(None, _OTHER_SYSTEMS))
    systems, chance = (
        np.mean([getattr(each, kind) for each in draws], axis=0) for kind in ("systems", "chance")
    )
    return _finding(value, _Draws(contexts, systems, chance, against, stretch), common)


def _common_orders(
    averaged: Sequence[CategoryScores], orders: Mapping[int, Orders]
) -> Orders | None:
    """Return the permutations of the systems, or None if categories compare different systems."""
    models = {tuple(each.models) for each in averaged if each.models}
    return orders[len(models.pop())] if len(models) == 1 else None
