"""Intervals for pass rates and differences of them, over contexts.

Tests of one context pass or fail together more often than chance, so contexts count, not tests. A
rate is a ratio of sums over contexts; its 95 % interval is Student's t on the log-odds scale:

    logit(rate) +- t(0.975, df) * s / (rate * (1 - rate))      mapped back by the inverse of logit

    s^2  jackknife variance of the ratio, contexts left out one at a time: (G - 1) / G times the sum
         of (rate without context i - rate)^2, over G contexts with tests; but no less than the
         variance of as many independent tests
    df   Kish's effective number of contexts, (sum of tests)^2 / sum of tests^2, minus 1, at least 1

This is the logit interval of survey statistics (`xlogit` of R's `svyciprop`, the logit limits of
SAS's SURVEYFREQ; Korn and Graubard 1999, Analysis of health surveys) with effective degrees of
freedom. The floor is from Korn and Graubard (1998), Confidence intervals for proportions with small
expected number of positive counts estimated from survey data, Survey Methodology 24(2), 193-201: a
few contexts that happen to look alike do not prove that their tests are better than independent.
The effective number is of Kish (1965), Survey sampling.

Differences lie between -1 and 1; their interval is that of (1 + difference) / 2.

Where all tests say the same (all pass, all fail, two models agree throughout) nothing varies. Then
each context counts as one test: the interval reaches z^2 / (G + z^2) from the value, which is what
Wilson's gives G passes of G, and Tango's (1998, Statistics in Medicine 17, 891-908) no discordant
pair among G.

Percentiles of a bootstrap over contexts, the usual choice, miss the true rate too often when
contexts are few: the guide (numbers.md) has the coverage of both, found by simulation.
"""

import math
from statistics import NormalDist
from typing import Literal, NamedTuple, TypeAlias

import numpy.typing as npt

from nnd.metric.statistics.intervals import FloatArray, Interval, checked_sums

Method: TypeAlias = Literal["logit-t", "all-agree"]

FEW_CONTEXTS = 10
"""With fewer, intervals of differences may cover the truth in less than nine cases of ten."""

_Z = NormalDist().inv_cdf(0.975)
_ROUNDING = 1e-12
"""Of the mean square of values that are means of several tests, such as thirds."""


class ClusterInterval(NamedTuple):
    """The 95 % interval of one ratio.

    Attributes:
        bounds: Its lower and upper end; None where fewer than two contexts have tests, since one
            context cannot show how contexts differ.
        contexts: Contexts with tests.
        method: "logit-t"; "all-agree" where all tests have one value, and each context counts as
            one test; None where there is no interval.
        variance: Jackknife variance of the ratio, without the floor; 0 where there is no interval.
    """

    bounds: Interval | None
    contexts: int
    method: Method | None
    variance: float


def cluster_intervals(
    sums: npt.ArrayLike, squares: npt.ArrayLike, counts: npt.ArrayLike, *, lowest: float = 0.0
) -> list[ClusterInterval]:
    """Return the 95 % interval of each ratio of sums over contexts (module docstring).

    Args:
        sums: Sums of the values of a context's tests, [contexts, slices]: passes, or differences.
        squares: Sums of their squares; passes are their own.
        counts: How many tests there are; 0 where a context has none in that slice.
        lowest: The least value of a test: 0 for rates, -1 for differences. The greatest is 1.

    Raises:
        ScoringError: If the matrices differ in shape, or hold a value that is not finite, or a
            count below 0.
    """
    above, below = checked_sums(sums, counts)
    squared, _ = checked_sums(squares, counts)
    return [
        _interval(above[used, number], squared[used, number], below[used, number], lowest)
        for number, used in enumerate((below > 0).T)
    ]


def _interval(
    sums: FloatArray, squares: FloatArray, counts: FloatArray, lowest: float
) -> ClusterInterval:
    contexts = len(counts)
    if contexts < 2:  # noqa: PLR2004
        return ClusterInterval(None, contexts, None, 0.0)
    total, n = float(sums.sum()), float(counts.sum())
    ratio, spread = total / n, n * float(squares.sum()) - total**2
    left_out = (total - sums) / (n - counts) - ratio
    variance = (contexts - 1) / contexts * math.fsum(left_out**2)  # in any order
    if spread <= _ROUNDING * n**2:
        reach = _Z**2 / (contexts + _Z**2)
        bounds = max(lowest, ratio - reach), min(1.0, ratio + reach)
        return ClusterInterval(bounds, contexts, "all-agree", variance)
    error = max(variance, spread / n**3) ** 0.5
    freedom = max(1.0, n**2 / float(counts @ counts) - 1)
    return ClusterInterval(_logit_t(ratio, error, freedom, lowest), contexts, "logit-t", variance)


def _logit_t(ratio: float, error: float, freedom: float, lowest: float) -> Interval:
    # scipy is slow to import, and the command shows help and tables without any interval.
    from scipy.special import expit, logit, stdtrit  # noqa: PLC0415

    span = 1 - lowest
    share = (ratio - lowest) / span
    reach = stdtrit(freedom, 0.975) * error / span / (share * (1 - share))
    low, high = (lowest + span * float(expit(logit(share) + side)) for side in (-reach, reach))
    return low, high
