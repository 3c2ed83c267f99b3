"""Intervals of any smooth statistic, by leaving out one context at a time.

A statistic of pooled candidates, such as a correlation or an area under the ROC curve, is computed
again without each of the G contexts. Its 95 % interval is that of a pass rate
(`context_intervals`): Student's t on the log-odds scale of (value - lowest) / (highest - lowest),
which for a correlation is twice Fisher's z, with

    s^2  mean squared error: the jackknife variance, (G - 1) / G times the sum of (value without
         context i - value)^2, plus the square of the jackknife bias, (G - 1) times (mean of the
         values without a context - value)
    df   Kish's effective number of contexts, (sum of sizes)^2 / sum of sizes^2, minus 1, at least 1

Quenouille (1956), Notes on bias in estimation, Biometrika 43, 353-360; Tukey (1958), Bias and
confidence in not quite large samples, Annals of Mathematical Statistics 29, 614; Efron and Stein
(1981), The jackknife estimate of variance, Annals of Statistics 9, 586-596. The bias counts where
most of the variance cancels: if the two candidates of a context are alike, but contexts are not, an
AUC moves by as much because a context is compared with itself as by chance.

If the statistic is undefined without one of the contexts, it hangs on that one and has no interval.
If no context changes it (all agree perfectly), each context counts as one test: the interval
extends z^2 / (G + z^2) of the scale from the value.

Above `MOST_LEFT_OUT` contexts, groups of contexts are left out (Kott 2001, The delete-a-group
jackknife, Journal of Official Statistics 17, 521-526).
"""

import math
from collections.abc import Iterator
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from nnd.metric.numbers.statistics.context_intervals import logit_t
from nnd.metric.numbers.statistics.intervals import (
    ONE_CONTEXT,
    UNDEFINED,
    WEIGHTS_AT_ONCE,
    FloatArray,
    IntervalOrReason,
)

HANGS_ON_ONE = "the number is undefined without one of the independent contexts"

MOST_LEFT_OUT = 1_000
"""Largest number of contexts of which each is left out by itself."""

_Z = NormalDist().inv_cdf(0.975)
_ROUNDING = 1e-9
"""A standard error below this share of the scale is a rounding error."""


def jackknife_interval(
    value: float | None,
    without: FloatArray,
    sizes: npt.ArrayLike,
    *,
    lowest: float = -1.0,
    highest: float = 1.0,
) -> IntervalOrReason:
    """Return the 95 % interval of a statistic, or the reason why there is none.

    Args:
        value: The statistic; None or nan if it is undefined.
        without: The same without each context, or group of contexts; nan if undefined, [groups].
        sizes: Candidates of each of them, [groups].
        lowest: Smallest possible value.
        highest: Largest possible value.
    """
    if value is None or math.isnan(value):
        return IntervalOrReason(None, UNDEFINED)
    groups, span = len(without), highest - lowest
    if groups < 2:  # noqa: PLR2004
        return IntervalOrReason(None, ONE_CONTEXT)
    if not np.isfinite(without).all():
        return IntervalOrReason(None, HANGS_ON_ONE)
    error = jackknife_error(value, without)
    if error <= _ROUNDING * span or not lowest < value < highest:
        reach = span * _Z**2 / (groups + _Z**2)
        return IntervalOrReason((max(lowest, value - reach), min(highest, value + reach)), None)
    return IntervalOrReason(logit_t(value, error, effective_freedom(sizes), lowest, highest), None)


def jackknife_error(value: float, without: FloatArray) -> float:
    """Return the root mean squared error of a value from those without each context."""
    n = len(without)
    changes = without - value
    variance = (n - 1) / n * math.fsum(changes**2)
    bias = (n - 1) / n * math.fsum(changes)
    return math.hypot(math.sqrt(variance), bias)


def effective_freedom(sizes: npt.ArrayLike) -> float:
    """Return the effective degrees of freedom of contexts of some sizes (module docstring)."""
    weights = np.asarray(sizes, dtype=np.float64)
    return max(1.0, float(weights.sum() ** 2 / (weights @ weights)) - 1)


def groups_of(contexts: int) -> npt.NDArray[np.intp]:
    """Return the number of the group that each context is left out with, [contexts]."""
    return np.arange(contexts) % min(contexts, MOST_LEFT_OUT) if contexts else np.arange(0)


def leave_out(contexts: int, cells: int) -> Iterator[FloatArray]:
    """Yield how often each context counts without each group, [some groups, contexts]: 0 or 1.

    `cells` are the numbers that the caller keeps for each group, such as the candidates.
    """
    of_context = groups_of(contexts)
    groups = int(of_context.max(initial=-1)) + 1
    step = max(1, WEIGHTS_AT_ONCE // max(1, cells))
    for start in range(0, groups, step):
        left_out = np.arange(start, min(start + step, groups))
        yield (of_context != left_out[:, None]).astype(np.float64)


def sizes_of_groups(contexts: npt.NDArray[np.int64]) -> FloatArray:
    """Return the candidates of each group, for the number of each candidate's context."""
    of_context = groups_of(int(contexts.max(initial=-1)) + 1)
    return np.bincount(of_context[contexts]).astype(np.float64)
