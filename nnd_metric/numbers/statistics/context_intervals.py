"""Intervals of pass rates and of their differences, over contexts.

Tests of one context are dependent, so intervals are based on contexts instead of tests. A rate is a
ratio of sums over contexts; its 95 % interval is Student's t on the log-odds scale:

    logit(rate) +- t(0.975, df) * s / (rate * (1 - rate))      mapped back by the inverse of logit

    s^2  jackknife variance of the ratio, which leaves out one context at a time: (G - 1) / G times
         the sum of (rate without context i - rate)^2, over G contexts with tests; at least the
         variance of the same number of independent tests
    df   Kish's effective number of contexts, (sum of tests)^2 / sum of tests^2, minus 1, at least 1

This is the logit interval of survey statistics (`xlogit` of R's `svyciprop`, the logit limits of
SAS's SURVEYFREQ; Korn and Graubard 1999, Analysis of health surveys) with effective degrees of
freedom. The lower bound of s^2 is from Korn and Graubard (1998), Confidence intervals for
proportions with small expected number of positive counts estimated from survey data, Survey
Methodology 24(2), 193-201: a few contexts that happen to be similar do not prove that the rate is
more precise than that of independent tests. The effective number is from Kish (1965), Survey
sampling.

Differences are between -1 and 1; their interval is that of (1 + difference) / 2.

If all tests have the same outcome (all pass, all fail, two models always agree), nothing varies.
Then each context counts as one test: the interval extends z^2 / (G + z^2) from the value, as
Wilson's interval does for G passes of G, and Tango's (1998, Statistics in Medicine 17, 891-908) for
no discordant pair among G. For a difference of 1 or -1 it extends twice as far, as Tango's does for
G discordant pairs of one kind.

Percentiles of a bootstrap over contexts, the usual choice, miss the true rate too often for few
contexts: the guide (numbers.md) compares the simulated coverage of both.
"""

import math
from statistics import NormalDist
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from nnd.metric.numbers.statistics.intervals import ONE_CONTEXT, FloatArray, Interval
from nnd.schemas import FEW_CLUSTERS

Method: TypeAlias = Literal["logit-t", "all-agree"]

FEW_CONTEXTS = FEW_CLUSTERS
"""With fewer contexts, 95 % intervals of differences may cover less than 90 %."""

_Z = NormalDist().inv_cdf(0.975)
_ROUNDING = 1e-12
"""Largest rounding error of a mean square; values may be means of several tests, such as 1/3."""


class ClusterInterval(NamedTuple):
    """The 95 % interval of one ratio.

    Attributes:
        bounds: None if fewer than two contexts have tests, because one context does not show how
            much contexts differ.
        contexts: Contexts with tests.
        method: "logit-t"; "all-agree" if all tests have the same value, so that each context counts
            as one test; None without an interval.
        variance: Jackknife variance of the ratio, without its lower bound; 0 without an interval.
    """

    bounds: Interval | None
    contexts: int
    method: Method | None
    variance: float

    @property
    def reason(self) -> str | None:
        """Why there is no interval; None if there is one."""
        return ONE_CONTEXT if self.bounds is None else None


def cluster_intervals(
    sums: npt.ArrayLike, squares: npt.ArrayLike, counts: npt.ArrayLike, *, lowest: float = 0.0
) -> list[ClusterInterval]:
    """Return the 95 % interval of each ratio of sums over contexts (module docstring).

    Args:
        sums: Sums of the values of a context's tests, [contexts, slices]: passes, or differences.
        squares: Sums of the squared values; for passes, the same as `sums`.
        counts: Number of tests; 0 if a context has none in the slice.
        lowest: Smallest possible value of a test: 0 for rates, -1 for differences. The largest is
            1.
    """
    above, squared, below = (np.asarray(each, dtype=np.float64) for each in (sums, squares, counts))
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
    variance = (contexts - 1) / contexts * math.fsum(left_out**2)  # independent of the order
    if spread <= _ROUNDING * n**2:
        reach = (1 - lowest * abs(ratio)) * _Z**2 / (contexts + _Z**2)
        bounds = max(lowest, ratio - reach), min(1.0, ratio + reach)
        return ClusterInterval(bounds, contexts, "all-agree", variance)
    error = max(variance, spread / n**3) ** 0.5
    freedom = max(1.0, n**2 / float(counts @ counts) - 1)
    return ClusterInterval(logit_t(ratio, error, freedom, lowest), contexts, "logit-t", variance)


def logit_t(
    ratio: float, error: float, freedom: float, lowest: float, highest: float = 1.0
) -> Interval:
    """Return Student's interval of a ratio from `lowest` to `highest`, on the log-odds scale."""
    # scipy is slow to import, and help and many tables need no interval.
    from scipy.special import expit, logit, stdtrit  # noqa: PLC0415

    span = highest - lowest
    share = (ratio - lowest) / span
    reach = stdtrit(freedom, 0.975) * error / span / (share * (1 - share))
    low, high = (lowest + span * float(expit(logit(share) + side)) for side in (-reach, reach))
    return low, high
