"""PERM-BOTH: is one metric better than another?

Both metrics are z-normalised, and the null hypothesis is that they are interchangeable: the two
numbers of each candidate are swapped at random. p is the share of such swaps in which the statistic
of the first exceeds that of the second by at least the observed difference. Deutsch, Dror and Roth
(2021), A statistical analysis of summarization evaluation metrics using resampling methods, TACL 9,
1132-1146.
"""

from collections.abc import Callable

import numpy as np

from nnd.metric.numbers.statistics.intervals import FloatArray

SWAPS = 1_000
_ROUNDING = 1e-12


def perm_both(
    first: FloatArray,
    second: FloatArray,
    statistic: Callable[[FloatArray], float],
    *,
    swaps: int = SWAPS,
    seed: int = 0,
) -> float:
    """Return the one-sided p-value that the first metric has the higher statistic.

    Args:
        first: Its numbers, [candidates].
        second: Those of the other metric.
        statistic: From the numbers of a metric to the statistic.
        swaps: Number of random swaps.
        seed: Seed of `numpy.random.default_rng`.
    """
    one, other = (_standard(each) for each in (first, second))
    observed = statistic(one) - statistic(other)
    rng, reached = np.random.default_rng(seed), 0
    for _ in range(swaps):
        keep = rng.random(len(one)) < 0.5  # noqa: PLR2004
        mixed = np.where(keep, one, other), np.where(keep, other, one)
        reached += statistic(mixed[0]) - statistic(mixed[1]) >= observed - _ROUNDING
    return reached / swaps


def _standard(numbers: FloatArray) -> FloatArray:
    standard: FloatArray = (numbers - numbers.mean()) / (numbers.std() or 1.0)
    return standard
