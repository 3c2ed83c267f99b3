"""Swaps of two metrics: is one better than the other?

Both metrics are z-normalised, and the null hypothesis is that they are interchangeable: the numbers
of all candidates of a cluster of contexts are swapped at random, as these are not independent. p is
the share of such swaps in which the statistic of the first exceeds that of the second by at least
the observed difference. If every candidate is a cluster, this is the test PERM-BOTH, and if every
context is one, PERM-INPUTS of Deutsch, Dror and Roth (2021), A statistical analysis of
summarization evaluation metrics using resampling methods, TACL 9, 1132-1146.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from nnd.metric.numbers.statistics.intervals import FloatArray

SWAPS = 1_000
_ROUNDING = 1e-12


def swap_p(
    first: FloatArray,
    second: FloatArray,
    statistic: Callable[[FloatArray], float],
    clusters: npt.NDArray[np.int64],
    *,
    swaps: int = SWAPS,
    seed: int = 0,
) -> float:
    """Return the one-sided p-value that the first metric has the higher statistic.

    Args:
        first: Its numbers, [candidates].
        second: Those of the other metric.
        statistic: From the numbers of a metric to the statistic.
        clusters: Number of the cluster of each candidate, from 0 on, [candidates].
        swaps: Number of random swaps.
        seed: Seed of `numpy.random.default_rng`.
    """
    one, other = (_standard(each) for each in (first, second))
    observed = statistic(one) - statistic(other)
    rng, reached = np.random.default_rng(seed), 0
    count = int(clusters.max(initial=-1)) + 1
    for _ in range(swaps):
        keep = (rng.random(count) < 0.5)[clusters]  # noqa: PLR2004
        mixed = np.where(keep, one, other), np.where(keep, other, one)
        reached += statistic(mixed[0]) - statistic(mixed[1]) >= observed - _ROUNDING
    return reached / swaps


def _standard(numbers: FloatArray) -> FloatArray:
    standard: FloatArray = (numbers - numbers.mean()) / (numbers.std() or 1.0)
    return standard
