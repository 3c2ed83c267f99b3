"""Sign-flip p-values: is the mean difference over contexts, or over clusters of them, 0?

Every context has a sum of differences, d_i. If the two sides of a difference were exchangeable in
each context, d_i would be as likely as -d_i. So the signs of all contexts are flipped, and

    p = share of the sign flips with |sum of s_i d_i| >= |sum of d_i|          s_i = 1 or -1

is two-sided (Fisher 1935, The design of experiments, section 21; over clusters Canay, Romano and
Shaikh 2017, Randomization tests under an approximate symmetry assumption, Econometrica 85(3),
1013-1030, which needs no exact symmetry for many clusters). Contexts with d_i = 0 change nothing
and are omitted. n others have 2^n flips, so p is at least 2^(1 - n).

p is exact for whole numbers, such as tests that only one of two models passes. If all have one
size, it is that of McNemar's exact test (`mcnemar_exact`). Otherwise the sum is one of independent
terms, 2 m B - n m for the n contexts with |d_i| = m, where B is binomial (n, 1/2): its distribution
comes from the product of their characteristic functions. The distribution is tilted first: each
sign is + with probability 1 / (1 + exp(-2 theta m)), where theta makes the observed sum the mean,
and the terms of the tail are weighted back (Esscher 1932, On the probability function in the
collective theory of risk, Skandinavisk Aktuarietidskrift 15, 175-195). So a small p is as precise
as a large one.

For other numbers, all flips are used for up to `EXACT_UP_TO` contexts. For more, `RANDOM_FLIPS` are
drawn, of which b have such a sum, and p = (b + 1) / (RANDOM_FLIPS + 1), as in `permutation`.
Several differences over the same contexts share the drawn flips (`sign_flip_ps`).

The tests of a context may be dependent in any way. In simulations of the null hypothesis (20,000
sets of contexts with 1 to 6 parents of three variants each), p was below 0.05 in this share of the
sets, in %, for pass rates of contexts from Beta(2, 2) and, one-sided, from Beta(6, 2):

    contexts     10     30     100
    Beta(2, 2)   3.5    4.7    4.9
    Beta(6, 2)   3.3    4.4    4.6
"""

import math
from itertools import product

import numpy as np
import numpy.typing as npt

from nnd.metric.numbers.statistics.intervals import FloatArray
from nnd.metric.numbers.statistics.permutation import ROUNDING, permutation_p
from nnd.metric.numbers.statistics.significance import mcnemar_exact

EXACT_UP_TO = 13
"""Largest number of contexts for all flips; 2^13 = 8,192."""

_MOST_TESTS = 2_000_000
"""Largest sum of whole numbers whose distribution is computed, which takes some 100 MB."""

RANDOM_FLIPS = 10_000
_AT_ONCE = 1_000_000
"""Number of signs held in memory."""

_STEEPEST = 20.0
"""Tilt at which every sign is + in double precision."""


def sign_flip_p(sums: npt.ArrayLike, *, seed: int = 0) -> float:
    """Return the two-sided p-value of a sum of differences over contexts (module docstring).

    There is one sum per context; their order does not matter.
    """
    values = np.asarray(sums, dtype=np.float64)
    sizes = np.sort(np.abs(values))  # the signs are flipped anyway
    sizes = sizes[sizes > ROUNDING]
    if (sizes == np.rint(sizes)).all() and sizes.sum() <= _MOST_TESTS:
        return _exact_p(abs(round(values.sum())), sizes.astype(np.int64))
    if len(sizes) > EXACT_UP_TO:
        return permutation_p(float(values.sum()), _flip(sizes, seed), "monte_carlo")
    signs = np.array(list(product((1.0, -1.0), repeat=len(sizes))))
    return permutation_p(float(values.sum()), signs @ sizes, "exact")


def _exact_p(observed: int, sizes: npt.NDArray[np.int64]) -> float:
    """Return the p-value of a sum of whole numbers, whose sizes are above 0."""
    if not observed:
        return 1.0
    largest, counts = np.unique(sizes, return_counts=True)
    if len(largest) == 1:
        lead = observed // int(largest[0])
        return mcnemar_exact((len(sizes) + lead) // 2, (len(sizes) - lead) // 2)
    total = int(sizes.sum())
    if observed == total:
        return math.ldexp(1.0, 1 - len(sizes))
    theta = _tilt(observed, largest, counts)
    positive = 1 / (1 + np.exp(-2 * theta * largest))
    places = total + 1  # the sums are -total, 2 - total, ... total: place k is 2 k - total
    angles = 2 * np.pi * np.arange(places // 2 + 1) / places
    function = np.ones(len(angles), dtype=np.complex128)
    for size, n, p in zip(largest, counts, positive, strict=True):
        function *= (1 - p + p * np.exp(-1j * size * angles)) ** n
    tilted = np.fft.irfft(function, places)
    tail = tilted[(total + observed) // 2 :].clip(0)
    weights = np.exp(-2 * theta * np.arange(len(tail)))
    scale = float(counts @ _log_cosh(theta * largest)) - theta * observed
    return min(1.0, 2 * math.exp(scale) * float(tail @ weights))


def _tilt(observed: int, sizes: npt.NDArray[np.int64], counts: npt.NDArray[np.int64]) -> float:
    """Return theta, under which the sum is expected to be the observed one, by bisection."""
    low, high = 0.0, 1.0
    weights = counts * sizes

    def expected(theta: float) -> float:
        return float(weights @ np.tanh(theta * sizes))

    while expected(high) < observed and high < _STEEPEST:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if expected(middle) < observed else (low, middle)
    return low


def _log_cosh(values: npt.NDArray[np.floating]) -> FloatArray:
    logs: FloatArray = values + np.log1p(np.exp(-2 * values)) - math.log(2)
    return logs


def sign_flip_ps(sums: FloatArray, *, seed: int = 0) -> list[float]:
    """Return the p-value of each of several differences over the same contexts.

    `sums` are [contexts, differences], the contexts in an order that does not depend on the data,
    such as that of their ids.
    """
    is_large = np.count_nonzero(np.abs(sums) > ROUNDING, axis=0) > EXACT_UP_TO
    flipped = _flip(sums[:, is_large], seed).T if is_large.any() else ()
    drawn = iter(flipped)
    return [
        permutation_p(float(own.sum()), next(drawn), "monte_carlo") if large else sign_flip_p(own)
        for own, large in zip(sums.T, is_large, strict=True)
    ]


def _flip(sizes: FloatArray, seed: int) -> FloatArray:
    """Return the sums of values, [contexts, ...], over contexts by random flips: [flips, ...]."""
    rng = np.random.default_rng(seed)
    sums = np.empty((RANDOM_FLIPS, *sizes.shape[1:]))
    step = max(1, _AT_ONCE // len(sizes))
    for start in range(0, RANDOM_FLIPS, step):
        shape = (min(step, RANDOM_FLIPS - start), len(sizes))
        kept = rng.integers(2, size=shape, dtype=np.int8)  # 1 where the sign is kept
        sums[start : start + step] = 2 * (kept @ sizes) - sizes.sum(axis=0)
    return sums
