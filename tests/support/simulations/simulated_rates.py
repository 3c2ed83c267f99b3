"""Simulated pass rates and their differences, at equal length and over clusters of contexts."""

import math
from typing import Any

import numpy as np
import polars as pl
from scipy import stats
from support.simulations.samples import Found, sizes, uniform

from nnd.metric.numbers.rates.context_sums import CLUSTER_NUMBER
from nnd.metric.numbers.rates.equal_length import equal_length_difference, equal_length_in
from nnd.metric.numbers.statistics.context_intervals import cluster_intervals
from nnd.metric.numbers.statistics.intervals import wilson
from nnd.metric.numbers.statistics.unpaired_differences import unpaired_difference

_OF_CONTEXTS = 0.1
_RATE = 0.7


def rates(rng: np.random.Generator, contexts: int, rho: float) -> dict[str, Found]:
    """A pass rate, and the differences of two: of the same tests, and of other ones."""
    counts = sizes(rng, contexts)
    of = np.repeat(np.arange(contexts), counts)
    drawn = uniform(rng, of, rho, 2)
    first, second = drawn[:, 0] < _RATE, drawn[:, 1] < 0.6
    passes = np.bincount(of, first, contexts)
    lead = first.astype(float) - second
    sums, squares = (np.bincount(of, each, contexts) for each in (lead, lead**2))
    (rate,) = cluster_intervals(*(each[:, None] for each in (passes, passes, counts)))
    columns = [each[:, None] for each in (sums, squares, counts)]
    (paired,) = cluster_intervals(*columns, lowest=-1)
    # Two sets: the tests of even and of odd places, which share the contexts.
    even = np.arange(len(of)) % 2 == 0
    tests = np.stack([np.bincount(of[side], minlength=contexts) for side in (even, ~even)], axis=1)
    won = [np.bincount(of[s], own[s], contexts) for s, own in ((even, first), (~even, second))]
    unpaired = unpaired_difference(np.stack(won, axis=1), tests.astype(float))
    of_independent = wilson(int(first.sum()), len(of))
    return {
        "pass rate": Found(_RATE, first.mean(), rate.bounds),
        "pass rate, Wilson's": Found(_RATE, first.mean(), of_independent),
        "difference, same tests": Found(0.1, lead.mean(), paired.bounds),
        "difference, other tests": Found(0.1, unpaired.difference, unpaired.interval),
    }


def over_clusters(rng: np.random.Generator, clusters: int, rho: float) -> dict[str, Found]:
    """A pass rate whose contexts share texts, as 18 answers share a paragraph of Quiz Design.

    Tests depend on each other within clusters, and a little more within contexts.
    """
    contexts = rng.geometric(0.2, clusters)
    of_context = np.repeat(np.arange(clusters), contexts)
    context = np.repeat(np.arange(len(of_context)), sizes(rng, len(of_context)))
    of = of_context[context]
    parts = rng.normal(size=clusters)[of], rng.normal(size=len(of_context))[context]
    shares = rho, _OF_CONTEXTS, 1 - rho - _OF_CONTEXTS
    numbers = sum(
        math.sqrt(share) * each
        for share, each in zip(shares, (*parts, rng.normal(size=len(of))), strict=True)
    )
    passed = stats.norm.cdf(numbers) < _RATE
    passes, counts = (np.bincount(of, each)[:, None] for each in (passed, np.ones(len(of))))
    (rate,) = cluster_intervals(passes, passes, counts)
    return {"pass rate, over clusters": Found(_RATE, passed.mean(), rate.bounds)}


def spans(rng: np.random.Generator, contexts: int, rho: float) -> dict[str, Found]:
    """The mean AUC of surprisal: two tokens in a marked span against eight others."""
    counts = sizes(rng, contexts)
    of = np.repeat(np.arange(contexts), counts)
    shift = 0.8 + math.sqrt(2 * rho) * rng.normal(size=contexts)[of]
    inside, outside = rng.normal(size=(len(of), 2, 1)), rng.normal(size=(len(of), 1, 8))
    aucs = (inside + shift[:, None, None] > outside).mean(axis=(1, 2))
    columns = (np.bincount(of, each)[:, None] for each in (aucs, aucs**2, np.ones(len(of))))
    (mean,) = cluster_intervals(*columns)
    truth = float(stats.norm.cdf(0.8 / math.sqrt(2 + 2 * rho)))
    return {"auc of surprisal": Found(truth, aucs.mean(), mean.bounds)}


def equal_length(rng: np.random.Generator, contexts: int, rho: float) -> dict[str, Found]:
    """The rate at equal length and the difference of two, where the log-odds depend on length."""
    frame = tests_of_lengths(rng, contexts, rho, {"_first": 0.65, "_second": 0.5})
    one = equal_length_in(frame.rename({n: n[:-6] for n in frame.columns if n.endswith("_first")}))
    two = equal_length_difference(frame)
    assert one is not None
    assert two is not None
    return {
        "rate at equal length": Found(0.65, one.pass_rate, one.interval),
        "difference at equal length": Found(0.15, two.difference, two.interval),
    }


def tests_of_lengths(
    rng: np.random.Generator, contexts: int, rho: float, at: dict[str, float]
) -> pl.DataFrame:
    """Return tests of models with the rates `at` equal length, by the ends of their columns.

    Rates are marginal: where contexts differ, the chance to pass at equal length is their mean.
    """
    of = np.repeat(np.arange(contexts), sizes(rng, contexts))
    high, low = rng.integers(4, 30, (2, len(of)))
    drawn = uniform(rng, of, rho, len(at))
    columns: dict[str, Any] = {CLUSTER_NUMBER: of}
    for place, (side, rate) in enumerate(at.items()):
        odds = math.log(rate / (1 - rate)) + 1.5 * np.log(high / low)
        columns |= {f"passed{side}": drawn[:, place] < 1 / (1 + np.exp(-odds))}
        columns |= {f"length_high{side}": high, f"length_low{side}": low}
    return pl.DataFrame(columns)
