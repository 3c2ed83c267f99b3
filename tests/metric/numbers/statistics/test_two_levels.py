"""Intervals over contexts and over what several contexts share, in simulation.

A cluster's rate is drawn from a beta distribution around the true rate, a context's rate from one
around that of its cluster, and its tests pass with this chance.
"""

import os
from typing import NamedTuple

import numpy as np
import pytest

from nnd.metric.numbers.statistics.context_intervals import cluster_intervals
from nnd.metric.numbers.statistics.intervals import FloatArray

RATE = 0.7
TIMES = 1_000 if os.environ.get("NND_TEST_FULL") else 200
REACH = 0.04 if os.environ.get("NND_TEST_FULL") else 0.05


class Levels(NamedTuple):
    """Share of data sets whose interval covers the true rate, and the mean width."""

    over_contexts: float
    over_clusters: float
    width_contexts: float
    width_clusters: float


def simulate(
    clusters: int,
    of_clusters: float,
    times: int,
    *,
    of_contexts: float = 0.1,
    contexts: int = 18,
    tests: int = 6,
    seed: int = 0,
) -> Levels:
    """Simulate data sets; tests of one cluster correlate at `of_clusters`, in a context at more.

    A cluster has 1 to 2 `contexts` - 1 contexts, each number as likely, drawn for each cluster.
    """
    rng = np.random.default_rng(seed)
    rates = _around(np.full((times, clusters, 1), RATE), of_clusters, rng)
    chances = _around(np.repeat(rates, 2 * contexts - 1, axis=2), of_contexts, rng)
    sizes = rng.integers(1, 2 * contexts, size=(times, clusters, 1))
    is_there = np.arange(2 * contexts - 1) < sizes
    passes = rng.binomial(tests, chances) * is_there
    counts = tests * is_there
    both = [
        _bounds(passes.reshape(times, -1), counts.reshape(times, -1)),
        _bounds(passes.sum(axis=2), counts.sum(axis=2)),
    ]
    covered = [float(((low <= RATE) & (high >= RATE)).mean()) for low, high in both]
    return Levels(*covered, *(float((high - low).mean()) for low, high in both))


def _around(means: FloatArray, correlation: float, rng: np.random.Generator) -> FloatArray:
    if not correlation:
        return means
    k = (1 - correlation) / correlation
    inside = np.clip(means, 1e-6, 1 - 1e-6)
    return rng.beta(inside * k, (1 - inside) * k)


def _bounds(passes: FloatArray, tests: FloatArray) -> tuple[FloatArray, FloatArray]:
    found = cluster_intervals(passes.T, passes.T, tests.T)
    low, high = np.array([each.bounds for each in found]).T
    return low, high


@pytest.mark.parametrize("correlation", [0.0, 0.1, 0.3])
def test_over_clusters_the_true_rate_is_covered_whatever_the_dependence(correlation: float) -> None:
    found = simulate(22, correlation, TIMES)

    assert abs(found.over_clusters - 0.95) <= REACH


def test_over_contexts_it_is_not_covered_where_contexts_share_something() -> None:
    found = simulate(22, 0.1, TIMES)

    assert found.over_contexts < 0.8
    assert found.width_contexts < 0.75 * found.width_clusters


def test_without_dependence_both_levels_agree() -> None:
    found = simulate(22, 0.0, TIMES)

    assert abs(found.over_contexts - 0.95) <= REACH
    assert found.width_clusters < 1.25 * found.width_contexts
