"""The difference between the pass rates of two sets of tests, which may share contexts.

The interval of p - q is the square-and-add interval (MOVER). It is computed from the intervals of
the two rates over contexts (`context_intervals`), [l, u] of p and [l', u'] of q:

    p - q - sqrt((p - l)^2 + (u' - q)^2 - 2 r (p - l)(u' - q))
    p - q + sqrt((u - p)^2 + (q - l')^2 - 2 r (u - p)(q - l'))

r is the jackknife correlation of the two rates over contexts; it is 0 if they share none. R. G.
Newcombe (1998), Interval estimation for the difference between independent proportions, Statistics
in Medicine 17, 873-890, method 10, which has Wilson's intervals and r = 0; G. Y. Zou and A. Donner
(2008), Construction of confidence limits about effect measures, Statistics in Medicine 27.

p is that of the score test of equal rates, with the variance over contexts: for x passes of n tests
in the first set, X of N in both and o = X / N, the term of context i is

    u_i = (x_i - n_i o) - (n / N)(X_i - N_i o)        sum of u_i = x - n o

The variance of the sum is G / (G - 1) times the sum of u_i^2 over G contexts, but at least that of
independent tests, o (1 - o) n (N - n) / N. The sum divided by its standard deviation is compared
with Student's t; the degrees of freedom are the effective number of contexts of the smaller set,
minus 1. D. D. Boos (1992), On generalized score tests, The American Statistician 46(4), 327-333.
The test is also valid if all tests of one set pass or fail.
"""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from nnd.metric.numbers.statistics.context_intervals import ClusterInterval, cluster_intervals
from nnd.metric.numbers.statistics.intervals import FloatArray, Interval, checked_sums


class Unpaired(NamedTuple):
    """The difference between the pass rates of two sets of tests.

    Attributes:
        difference: The first rate minus the second; None if a set is empty.
        interval: Its 95 % interval; None if a set has tests of fewer than two contexts.
        p: Two-sided p-value of the score test; None without an interval.
    """

    difference: float | None
    interval: Interval | None
    p: float | None


def unpaired_differences(
    passes: npt.ArrayLike, tests: npt.ArrayLike, passes_of_rest: npt.ArrayLike, rest: npt.ArrayLike
) -> list[Unpaired]:
    """Compare the pass rate of each slice with that of the rest (module docstring).

    Args:
        passes: Number of passes in each context and slice, [contexts, slices].
        tests: Number of tests in each context and slice.
        passes_of_rest: Number of passes in each context outside of each slice.
        rest: Number of tests in each context outside of each slice.

    Raises:
        ScoringError: If the matrices differ in shape, contain a value that is not finite, or a
            negative count.
    """
    above, below = checked_sums(passes, tests)
    above_rest, below_rest = checked_sums(passes_of_rest, rest)
    intervals = zip(
        cluster_intervals(above, above, below),
        cluster_intervals(above_rest, above_rest, below_rest),
        strict=True,
    )
    return [
        _difference((above[:, k], below[:, k]), (above_rest[:, k], below_rest[:, k]), own, of_rest)
        for k, (own, of_rest) in enumerate(intervals)
    ]


Counts = tuple[FloatArray, FloatArray]
"""Numbers of passes and of tests of each context."""


def _difference(
    a: Counts, b: Counts, interval_a: ClusterInterval, interval_b: ClusterInterval
) -> Unpaired:
    if not (a[1].any() and b[1].any()):
        return Unpaired(None, None, None)
    p, q = (float(passes.sum() / tests.sum()) for passes, tests in (a, b))
    if interval_a.bounds is None or interval_b.bounds is None:
        return Unpaired(p - q, None, None)
    bounds = square_and_add(p, interval_a.bounds, q, interval_b.bounds, _correlation(a, b))
    return Unpaired(p - q, bounds, _score_p(a, b))


def square_and_add(
    p: float, of_p: Interval, q: float, of_q: Interval, correlation: float = 0.0
) -> Interval:
    """Return the interval of p - q from those of p and q (module docstring)."""
    low = _reach(p - of_p[0], of_q[1] - q, correlation)
    high = _reach(of_p[1] - p, q - of_q[0], correlation)
    return max(-1.0, p - q - low), min(1.0, p - q + high)


def _reach(one: float, other: float, correlation: float) -> float:
    return math.sqrt(max(0.0, one**2 + other**2 - 2 * correlation * one * other))


def _correlation(a: Counts, b: Counts) -> float:
    """Return the jackknife correlation of two rates over contexts."""
    changes_a, changes_b = _left_out(*a), _left_out(*b)
    norm = math.sqrt(float(changes_a @ changes_a) * float(changes_b @ changes_b))
    return float(np.clip(changes_a @ changes_b / norm, -1, 1)) if norm else 0.0


def _left_out(passes: FloatArray, tests: FloatArray) -> FloatArray:
    """Return the changes of a rate when each of its contexts is left out."""
    changes: FloatArray = (passes.sum() - passes) / (tests.sum() - tests) - (
        passes.sum() / tests.sum()
    )
    return changes


def _score_p(a: Counts, b: Counts) -> float:
    from scipy.special import stdtr  # noqa: PLC0415 - slow to import

    passes, tests = a[0] + b[0], a[1] + b[1]
    n, total = float(a[1].sum()), float(tests.sum())
    rate = float(passes.sum()) / total
    if rate in (0, 1):
        return 1.0
    terms = (a[0] - a[1] * rate) - n / total * (passes - tests * rate)
    contexts = np.count_nonzero(tests)
    over_contexts = contexts / (contexts - 1) * math.fsum(terms**2)
    variance = max(over_contexts, rate * (1 - rate) * n * (total - n) / total)
    freedom = max(1.0, min(_effective(a[1]), _effective(b[1])) - 1)
    return min(1.0, 2 * float(stdtr(freedom, -abs(terms.sum()) / math.sqrt(variance))))


def _effective(tests: FloatArray) -> float:
    """Return Kish's effective number of contexts."""
    return float(tests.sum()) ** 2 / float(tests @ tests)
