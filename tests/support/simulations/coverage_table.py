"""How often the interval of every statistic contains its true value: the table of numbers.md.

    PYTHONPATH=tests python -m support.simulations.coverage_table

simulates all of it and prints its rows, in about 8 minutes on one core. A cell has the least and
the highest share of data sets whose interval contains the truth, over the three degrees of
dependence. Truths are known from the distribution that numbers are drawn from; those of SPA,
acc_eq_star and means within contexts, which depend on the contexts, are the means of all data sets.
"""

import math
import time
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
from support.simulations.samples import DEPENDENCE, Draw, Found
from support.simulations.simulated_candidates import candidates, paired_auc
from support.simulations.simulated_rates import equal_length, over_clusters, rates, spans
from support.simulations.simulated_systems import (
    DISTINCT,
    accuracy,
    at_equal_length,
    of_systems,
    over_systems,
    soft,
)

from nnd.metric.other_metrics.candidate_correlations import STATISTICS as OF_CANDIDATES
from nnd.metric.other_metrics.pair_statistics import PAIR_STATISTICS

FEW = 30
"""With fewer intervals, their share with the truth says nothing."""


class Plan(NamedTuple):
    """What is simulated: number of contexts (or systems) → data sets for each dependence."""

    draw: Draw
    times: Mapping[int, int]


def _sizes(times: int, of_200: int = 0, of_400: int = 0) -> dict[int, int]:
    return dict.fromkeys((12, 20, 50, 100), times) | {200: of_200 or times, 400: of_400 or times}


PLANS: dict[str, Plan] = {
    "rates": Plan(rates, _sizes(400)),
    "over clusters": Plan(over_clusters, _sizes(400)),
    "spans": Plan(spans, _sizes(400)),
    "equal length": Plan(equal_length, _sizes(100, 100, 60)),
    "twins": Plan(paired_auc, _sizes(150)),
    "of systems": Plan(of_systems, _sizes(250)),
    "at equal length": Plan(at_equal_length, _sizes(50)),
    "accuracy": Plan(accuracy, _sizes(100)),
    "soft": Plan(soft, _sizes(40, 30, 30)),
    "over systems": Plan(over_systems, {5: 300, 7: 300, 10: 300, 20: 300, 50: 100}),
    "candidates": Plan(candidates, {12: 100, 20: 100, 50: 150, 100: 60, 200: 40, 400: 30}),
}

_OF_RATE = ("pass rate", "pass rate, over clusters")
_SAME, _OTHER = "difference, same tests", "difference, other tests"
_OF_SYSTEMS = tuple(f"{name} of systems" for name in DISTINCT)
_AT_EQUAL_LENGTH = "pearson of systems at equal length", "tau_b of systems at equal length"
_OVER_SYSTEMS = tuple(f"{name} over systems" for name in DISTINCT)

PRINTED: dict[str, tuple[str, ...]] = {
    "Rate.interval": _OF_RATE,
    "Rate.context_interval": ("pass rate",),
    "Rate.wilson": ("pass rate, Wilson's",),
    "LengthMatched.interval": _OF_RATE,
    "LengthMatched.wilson": ("pass rate, Wilson's",),
    "Baseline.lead_interval": (_SAME,),
    "Difference.interval": (_SAME, _OTHER, "difference at equal length"),
    "ModelDifference.context_interval": (_SAME,),
    "Flips.flipped_interval": _OF_RATE,
    "Effect.rate_interval": _OF_RATE,
    "Variant.rate_interval": _OF_RATE,
    "Default.interval": _OF_RATE,
    "Point.interval": _OF_RATE,
    "EqualLength.interval": ("rate at equal length",),
    "MeanAUC.interval": ("auc of surprisal",),
    "Correlations.intervals": (*_OF_SYSTEMS, *_AT_EQUAL_LENGTH),
    "Correlations.intervals_over_systems": _OVER_SYSTEMS,
    "MeanAgreement.intervals": tuple(f"{name}, mean" for name in _OF_SYSTEMS),
    "MeanAgreement.intervals_over_systems": tuple(f"{name}, mean" for name in _OVER_SYSTEMS),
    "WithoutOwn.intervals": _OF_SYSTEMS,
    "CategoryAgreement.system_accuracy_interval": ("system accuracy of pass rates",),
    "Prediction.interval": ("predicted human score",),
    "CandidateAgreement.sample_intervals": tuple(f"{name}, pooled" for name in OF_CANDIDATES),
    "CandidateAgreement.by_context_intervals": tuple(
        f"{name}, mean within contexts" for name in OF_CANDIDATES
    ),
    "PairStatistics.intervals": (*PAIR_STATISTICS, "auc, twins"),
    "MetricDifference.interval": ("difference of spearman",),
}
"""Field of a record with an interval → the statistics that are simulated for it."""


class Coverage(NamedTuple):
    """Number of intervals, and shares of them, from 0 to 1, with the truth and with the value."""

    given: int
    covered: float
    contains_value: float


def simulate(draw: Draw, n: int, rho: float, times: int) -> dict[str, Coverage]:
    """Return statistic → how often its interval is there, and contains the truth and the value."""
    rng = np.random.default_rng([0, n, round(10 * rho)])
    found = [draw(rng, n, rho) for _ in range(times)]
    return {name: _summarise([each[name] for each in found]) for name in found[0]}


def _summarise(found: list[Found]) -> Coverage:
    mean = float(np.mean([each.value for each in found if each.value is not None] or math.nan))
    given = [each for each in found if each.interval is not None]
    truths = [mean if math.isnan(each.truth) else each.truth for each in given]
    covered = [_is_in(truth, each) for truth, each in zip(truths, given, strict=True)]
    contains = [each.value is not None and _is_in(each.value, each) for each in given]
    return Coverage(
        len(given), float(np.mean(covered or math.nan)), float(np.mean(contains or math.nan))
    )


def _is_in(number: float, found: Found) -> bool:
    low, high = found.interval or (math.nan, math.nan)
    return low - 1e-12 <= number <= high + 1e-12


def simulate_plan(name: str) -> dict[str, dict[int, list[Coverage]]]:
    """Return statistic → number of contexts → its coverage for each degree of dependence."""
    found: dict[str, dict[int, list[Coverage]]] = {}
    draw, plan = PLANS[name]
    for n, times in plan.items():
        for rho in DEPENDENCE.values():
            for statistic, each in simulate(draw, n, rho, times).items():
                found.setdefault(statistic, {}).setdefault(n, []).append(each)
    return found


def row(statistic: str, found: Mapping[int, list[Coverage]]) -> str:
    """Return a row of the table."""
    return f"| {statistic} | {' | '.join(map(_cell, found.values()))} |"


def _cell(found: list[Coverage]) -> str:
    known = sorted(round(100 * each.covered) for each in found if each.given >= FEW)
    if not known:
        return "–"  # noqa: RUF001 - as on the page
    return f"{known[0]}" if known[0] == known[-1] else f"{known[0]}–{known[-1]}"  # noqa: RUF001


def all_rows() -> Iterator[str]:
    """Yield the rows, and after those of each plan the CPU seconds that they took."""
    for name in PLANS:
        start = time.process_time()
        found = simulate_plan(name)
        yield from (row(*each) for each in found.items())
        yield f"{name}: {time.process_time() - start:.0f} CPU s"


if __name__ == "__main__":
    for line in all_rows():
        print(line, flush=True)  # noqa: T201
