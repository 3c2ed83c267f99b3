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

import numpy as np

from nnd.metric.numbers.statistics.context_intervals import cluster_intervals
from nnd.metric.numbers.statistics.difference import Difference
from nnd.metric.numbers.statistics.intervals import ONE_CONTEXT, FloatArray, Interval


def unpaired_difference(passes: FloatArray, tests: FloatArray) -> Difference:
    """Return the difference between the pass rates of two sets of tests (module docstring).

    `passes` and `tests` are numbers of each context in the first and in the second set, [contexts,
    2]. The interval and p are None if a set has tests of fewer than two contexts.
    """
    first, second = (each.bounds for each in cluster_intervals(passes, passes, tests))
    n, others = (int(each) for each in tests.sum(axis=0))
    rate = float(passes[:, 0].sum() / n) if n else None
    other = float(passes[:, 1].sum() / others) if others else None
    interval, p = None, None
    reason: str | None = ONE_CONTEXT
    if rate is not None and other is not None and first is not None and second is not None:
        interval = square_and_add(rate, first, other, second, _correlation(passes, tests))
        p, reason = _score_p(passes, tests), None
    return Difference(
        n=n,
        rate=rate,
        other=other,
        difference=None if rate is None or other is None else rate - other,
        interval=interval,
        interval_reason=reason,
        p=p,
        p_holm=None,
        only_first=None,
        only_second=None,
    )


def square_and_add(
    p: float, of_p: Interval, q: float, of_q: Interval, correlation: float = 0.0
) -> Interval:
    """Return the interval of p - q from those of p and q (module docstring)."""
    low = _reach(p - of_p[0], of_q[1] - q, correlation)
    high = _reach(of_p[1] - p, q - of_q[0], correlation)
    return max(-1.0, p - q - low), min(1.0, p - q + high)


def _reach(one: float, other: float, correlation: float) -> float:
    return math.sqrt(max(0.0, one**2 + other**2 - 2 * correlation * one * other))


def _correlation(passes: FloatArray, tests: FloatArray) -> float:
    first, second = (_left_out(passes[:, k], tests[:, k]) for k in (0, 1))
    norm = math.sqrt(float(first @ first) * float(second @ second))
    return float(np.clip(first @ second / norm, -1, 1)) if norm else 0.0


def _left_out(passes: FloatArray, tests: FloatArray) -> FloatArray:
    """Return the changes of a rate when each of its contexts is left out."""
    changes: FloatArray = (passes.sum() - passes) / (tests.sum() - tests) - (
        passes.sum() / tests.sum()
    )
    return changes


def _score_p(passes: FloatArray, tests: FloatArray) -> float:
    from scipy.special import stdtr  # noqa: PLC0415 - slow to import

    n, total = float(tests[:, 0].sum()), float(tests.sum())
    rate = float(passes.sum()) / total
    if rate in (0, 1):
        return 1.0
    in_both, of_context = passes.sum(axis=1), tests.sum(axis=1)
    terms = (passes[:, 0] - tests[:, 0] * rate) - n / total * (in_both - of_context * rate)
    contexts = np.count_nonzero(of_context)
    over_contexts = contexts / (contexts - 1) * math.fsum(terms**2)
    variance = max(over_contexts, rate * (1 - rate) * n * (total - n) / total)
    effective = tests.sum(axis=0) ** 2 / (tests**2).sum(axis=0)  # Kish's number of contexts
    freedom = max(1.0, float(effective.min()) - 1)
    return min(1.0, 2 * float(stdtr(freedom, -abs(terms.sum()) / math.sqrt(variance))))
