"""How the pass rate of some tests differs from that of others, of contexts they may share.

The interval of p - q is the square-and-add one (MOVER), made of the interval of each rate over
contexts (`context_intervals`), [l, u] of p and [l', u'] of q:

    p - q - sqrt((p - l)^2 + (u' - q)^2 - 2 r (p - l)(u' - q))
    p - q + sqrt((u - p)^2 + (q - l')^2 - 2 r (u - p)(q - l'))

r is the jackknife correlation of the two rates over contexts, 0 where they share none. R. G.
Newcombe (1998), Interval estimation for the difference between independent proportions, Statistics
in Medicine 17, 873-890, method 10, which has Wilson's intervals and r = 0; G. Y. Zou and A. Donner
(2008), Construction of confidence limits about effect measures, Statistics in Medicine 27.

p comes from the score test of equal rates, with the variance over contexts: with x passes of n
tests in the first part, X of N in both and o = X / N, every context i adds

    u_i = (x_i - n_i o) - (n / N)(X_i - N_i o)        sum of u_i = x - n o

whose variance is G / (G - 1) times the sum of u_i^2 over G contexts, but no less than that of
independent tests, o (1 - o) n (N - n) / N. The sum over its standard deviation is compared with
Student's t, with the effective number of contexts of the smaller part minus 1 degrees of freedom.
D. D. Boos (1992), On generalized score tests, The American Statistician 46(4), 327-333. It holds
where all tests of one part pass or fail, too.
"""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from nnd.metric.statistics.context_intervals import ClusterInterval, cluster_intervals
from nnd.metric.statistics.intervals import FloatArray, Interval, checked_sums


class Unpaired(NamedTuple):
    """A difference of two rates of different tests.

    Attributes:
        difference: The first rate minus the second; None where either has no tests.
        interval: Its 95 % interval; None where either has tests of fewer than two contexts.
        p: Of the score test, two-sided; None where there is no interval.
    """

    difference: float | None
    interval: Interval | None
    p: float | None


def unpaired_differences(
    passes: npt.ArrayLike, tests: npt.ArrayLike, passes_of_rest: npt.ArrayLike, rest: npt.ArrayLike
) -> list[Unpaired]:
    """Return how far the pass rate of each slice is from that of the rest (module docstring).

    Args:
        passes: Passes of a context's tests in the slice, [contexts, slices].
        tests: How many tests these are.
        passes_of_rest: Passes of its tests in the rest.
        rest: How many these are.

    Raises:
        ScoringError: If the matrices differ in shape, or hold a value that is not finite, or a
            count below 0.
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
"""Passes and tests of every context."""


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
    """Return the jackknife correlation of two rates over the contexts they share."""
    changes_a, changes_b = _left_out(*a), _left_out(*b)
    norm = math.sqrt(float(changes_a @ changes_a) * float(changes_b @ changes_b))
    return float(np.clip(changes_a @ changes_b / norm, -1, 1)) if norm else 0.0


def _left_out(passes: FloatArray, tests: FloatArray) -> FloatArray:
    """Return by how much a rate changes when each context is left out; both have two or more."""
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
    each = (a[0] - a[1] * rate) - n / total * (passes - tests * rate)
    contexts = np.count_nonzero(tests)
    over_contexts = contexts / (contexts - 1) * math.fsum(each**2)
    variance = max(over_contexts, rate * (1 - rate) * n * (total - n) / total)
    freedom = max(1.0, min(_effective(a[1]), _effective(b[1])) - 1)
    return min(1.0, 2 * float(stdtr(freedom, -abs(each.sum()) / math.sqrt(variance))))


def _effective(tests: FloatArray) -> float:
    """Return Kish's effective number of contexts."""
    return float(tests.sum()) ** 2 / float(tests @ tests)
