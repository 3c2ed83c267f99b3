"""Simulated correlations and accuracies over systems, which are fixed or the sample themselves."""

import math

import numpy as np
import polars as pl
from scipy import stats
from support.simulations.samples import Floats, Found, sizes, uniform
from support.simulations.simulated_rates import tests_of_lengths

from nnd.metric.numbers.rates.context_sums import CLUSTER_NUMBER
from nnd.metric.numbers.rates.equal_length import fit_tests, to_rates
from nnd.metric.numbers.statistics.correlation_estimates import interval_of_correlation
from nnd.metric.numbers.statistics.correlations import BATCHED, STATISTICS
from nnd.metric.numbers.statistics.extrapolation import extrapolate
from nnd.metric.numbers.statistics.intervals import (
    bootstrap_ratios,
    covering_interval,
    draw_contexts,
    stretches,
)
from nnd.metric.numbers.statistics.order_noise import reason_against_order
from nnd.metric.numbers.statistics.over_systems import interval_over_systems, without_each_system
from nnd.metric.numbers.statistics.soft_accuracy import (
    resampled_soft_accuracy,
    soft_accuracy,
    system_accuracy,
)
from nnd.metric.other_metrics.pair_statistics import measure_pairs

SYSTEMS = 7
DISTINCT = [name for name in STATISTICS if name not in ("gap_r", "tau_a")]
"""The statistics without those that here are another: gap_r is Pearson's r, tau_a without ties is
tau_b."""

_RESAMPLES = 400


def of_systems(rng: np.random.Generator, contexts: int, rho: float) -> dict[str, Found]:
    """Statistics of pass rates and human scores, systems fixed, in a category and on average.

    They are put together as `correlate` does, without permutations, which take most of the time.
    """
    true = np.clip(0.65 + 0.08 * rng.normal(size=SYSTEMS), 0.2, 0.95)
    counts = sizes(rng, contexts)
    of = np.repeat(np.arange(contexts), counts)
    tests = np.repeat(counts[:, None], SYSTEMS, axis=1)
    stretch = float(stretches(tests).max())
    ours, theirs, drawn = [], [], []
    for _ in range(2):
        theirs.append(true + 0.06 * rng.normal(size=SYSTEMS))
        won = uniform(rng, of, rho, SYSTEMS) < true
        passes = np.stack([np.bincount(of, own, contexts) for own in won.T], axis=1)
        ours.append(won.mean(axis=0))
        drawn.append(bootstrap_ratios(passes, tests, resamples=_RESAMPLES))
    against = [reason_against_order(*each) for each in zip(ours, drawn, strict=True)]
    result = {}
    for name in DISTINCT:
        statistic = BATCHED[name]
        truths, values, draws = (
            [statistic(own, people) for own, people in zip(each, theirs, strict=True)]
            for each in ([true, true], ours, drawn)
        )
        value = float(values[0])
        one = interval_of_correlation(value, draws[0], against[0], stretch)
        result[f"{name} of systems"] = Found(float(truths[0]), value, one.bounds)
        mean, reason = float(np.mean(values)), against[0] or against[1]
        both = interval_of_correlation(mean, np.mean(draws, axis=0), reason, stretch)
        result[f"{name} of systems, mean"] = Found(float(np.mean(truths)), mean, both.bounds)
    truth, value = (float(system_accuracy(theirs[0], each)) for each in (true, ours[0]))
    accuracies = system_accuracy(theirs[0], drawn[0])
    bounds = covering_interval(value, accuracies, stretch=stretch, lowest=0).bounds
    known = bounds if against[0] is None else None
    return result | {"system accuracy of pass rates": Found(truth, value, known)}


def at_equal_length(rng: np.random.Generator, contexts: int, rho: float) -> dict[str, Found]:
    """Correlations of rates at equal length, put together as `agree_at_equal_length` does."""
    true = np.clip(0.65 + 0.1 * rng.normal(size=SYSTEMS), 0.2, 0.9)
    theirs = true + 0.06 * rng.normal(size=SYSTEMS)
    sides = {f"_{number}": float(rate) for number, rate in enumerate(true)}
    frame = tests_of_lengths(rng, contexts, rho, sides)
    fits = [fit_tests(frame, side, contexts=contexts).fit for side in sides]
    known = [fit for fit in fits if fit is not None]
    names = [f"{name} of systems at equal length" for name in ("pearson", "tau_b")]
    if len(known) < SYSTEMS:
        return {name: Found(math.nan, None, None) for name in names}
    counts = draw_contexts(np.random.default_rng(0), contexts, _RESAMPLES)
    ours = to_rates(np.array([fit.intercept for fit in known]))
    drawn = to_rates(np.stack([fit.resampled(counts) for fit in known], axis=1))
    tests = np.bincount(frame[CLUSTER_NUMBER], minlength=contexts)
    stretch, against = float(stretches(tests[:, None])[0]), reason_against_order(ours, drawn)
    result = {}
    for name, statistic in zip(names, (BATCHED["pearson"], BATCHED["tau_b"]), strict=True):
        value = float(statistic(ours, theirs))
        found = interval_of_correlation(value, statistic(drawn, theirs), against, stretch)
        result[name] = Found(float(statistic(true, theirs)), value, found.bounds)
    return result


def accuracy(rng: np.random.Generator, contexts: int, rho: float) -> dict[str, Found]:
    """The accuracy over systems, whose means by people and by a metric are both sampled."""
    quality = 0.3 * rng.normal(size=SYSTEMS)
    biased = quality + 0.2 * rng.normal(size=SYSTEMS)
    human, score = _judged(rng, contexts, rho, quality, biased)
    ids = [f"{number:04}" for number in range(contexts)]
    table = pl.DataFrame(
        {
            "split": "test",
            "context_id": np.repeat(ids, SYSTEMS),
            "candidate_id": [str(number) for number in range(contexts * SYSTEMS)],
            "system": [f"s{number}" for number in range(SYSTEMS)] * contexts,
            "score": score.ravel(),
            "human": human.ravel(),
        }
    )
    found, name = measure_pairs(table, ("system_accuracy",)), "system_accuracy"
    truth = float(system_accuracy(quality, biased))
    return {name: Found(truth, found.values[name], found.intervals[name])}


def soft(rng: np.random.Generator, contexts: int, rho: float) -> dict[str, Found]:
    """SPA, of the same seven systems in all data sets: it depends on the number of contexts."""
    quality = 0.3 * stats.norm.ppf((np.arange(SYSTEMS) + 0.5) / SYSTEMS)
    biased = quality + 0.2 * np.array([1, -1, 0, 1, 0, -1, 0])
    people, scores = (each.T for each in _judged(rng, contexts, rho, quality, biased))
    value = soft_accuracy(people, scores)
    counts = draw_contexts(np.random.default_rng(0), contexts, _RESAMPLES // 2)
    stretch = float(stretches(np.ones((contexts, 1)))[0])
    drawn = resampled_soft_accuracy(people, scores, counts)
    return {
        "spa": Found(
            math.nan, value, covering_interval(value, drawn, stretch=stretch, lowest=0).bounds
        )
    }


def _judged(
    rng: np.random.Generator, contexts: int, rho: float, quality: Floats, biased: Floats
) -> tuple[Floats, Floats]:
    """Return human numbers and those of a metric, [contexts, systems]; contexts are shared."""
    shared = math.sqrt(rho) * rng.normal(size=(contexts, 1))
    own, other = math.sqrt(1 - rho) * rng.normal(size=(2, contexts, SYSTEMS))
    return quality + shared + own, biased + 0.5 * (shared + own) + other


def over_systems(rng: np.random.Generator, systems: int, rho: float) -> dict[str, Found]:
    """Correlations whose systems are the sample, and the human score of one more system.

    Dependence is here the correlation of the two scores.
    """
    x = rng.normal(size=systems + 1)
    scores = rho * x + math.sqrt(1 - rho**2) * rng.normal(size=(2, systems + 1))
    ours, (theirs, others) = x[:-1], scores[:, :-1]
    (predicted,) = extrapolate(ours.tolist(), theirs.tolist(), {"new": float(x[-1])}).predictions
    # A sample correlation is biased by less than a tenth of its error for all of these.
    in_pairs = 2 / math.pi * math.asin(rho)
    truths = {"pearson": rho, "tau_b": in_pairs, "spearman": 6 / math.pi * math.asin(rho / 2)}
    result = {"predicted human score": Found(scores[0, -1], predicted.score, predicted.interval)}
    for name in DISTINCT:
        truth = truths.get(name, rho)
        values, without = (
            [of(name, ours, people) for people in (theirs, others)]
            for of in (_value, without_each_system)
        )
        for end, value, left_out in (
            ("", values[0], without[0]),
            (", mean", float(np.mean(values)), np.mean(without, axis=0)),
        ):
            bounds = interval_over_systems(value, left_out).bounds
            result[f"{name} over systems{end}"] = Found(truth, value, bounds)
    return result


def _value(name: str, ours: Floats, theirs: Floats) -> float:
    return float(BATCHED[name](ours, theirs))
