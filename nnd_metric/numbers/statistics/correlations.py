"""Correlations between two scores of the same systems, such as pass rates and human scores.

All except tau-a have one formula (Daniels 1944, Biometrika 33(2), 129-135): the cosine between two
vectors, each of which describes the differences of the systems under one score.

    statistic         entries of the vector of x
    tau_b             sign(x_i - x_j)        for every ordered pair of systems
    gap_r             x_i - x_j              for every ordered pair of systems
    gap_r_laban2022   x_i - x_j              for i < j in the given order, minus their mean
    spearman          sum_j sign(x_i - x_j)  for every system: twice its centred mid-rank
    pearson           x_i - mean             for every system

A vector of zeros has no direction: for fewer than two systems, or a constant score, a correlation
is undefined. It is then None, never 0.0.

Tau-b is tau-a with a correction for ties: (C - D) / sqrt((pairs not tied in x) * (pairs not tied in
y)), Kendall (1945), Biometrika 33(3), 239-251. The gap correlation, over both orders of each pair,
does not depend on the order of the systems, and equals Pearson's r of the scores: the gaps have
mean 0, and sum_ij (x_i - x_j)(y_i - y_j) = 2 n sum_i (x_i - mean)(y_i - mean).

`BATCHED` has the same statistics for many resamples at once: for arrays [..., n] that broadcast
against each other, results are [...], nan if undefined. Memory grows with n squared; n is the
number of systems, which is small.
"""

import math
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt

from nnd.metric.numbers.statistics.intervals import FloatArray
from nnd.schemas import ScoringError

Kernel = Callable[[FloatArray, FloatArray], FloatArray]


def mean_defined(correlations: Sequence[float | None]) -> float | None:
    """Return the mean of the correlations that are defined; None if there are none."""
    defined = [value for value in correlations if value is not None]
    return sum(defined) / len(defined) if defined else None


def _number(kernel: Kernel, x: npt.ArrayLike, y: npt.ArrayLike) -> float | None:
    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if a.ndim != 1 or a.shape != b.shape:
        raise ScoringError(
            "scorer.values",
            f"a correlation needs two lists of one length, got shapes {a.shape} and {b.shape}",
            remedy="give one value of each for every system",
        )
    infinite = np.flatnonzero(~(np.isfinite(a) & np.isfinite(b)))
    if infinite.size:
        at = infinite[0]
        raise ScoringError(
            "scorer.values",
            f"scores {a[at]} and {b[at]} at position {at} cannot be correlated: both must "
            "be finite",
            remedy="leave the system out and count it as dropped",
        )
    value = float(kernel(a, b))
    return None if math.isnan(value) else value


def _tau_a(x: FloatArray, y: FloatArray) -> FloatArray:
    """Return Kendall's tau-a: (concordant - discordant) / all pairs; a tie counts 0.

    Its mean over error categories seems to be the rank correlation of the paper's Table 1. A
    constant score, for which the formula gives 0, is undefined as for the other statistics, because
    it does not rank the systems.
    """
    signs_x, signs_y = np.sign(_gaps(x)), np.sign(_gaps(y))
    tau: FloatArray = _dot(signs_x, signs_y) / max(1, signs_x.shape[-1])
    return np.where(signs_x.any(axis=-1) & signs_y.any(axis=-1), tau, np.nan)


def _gap_r_laban2022(x: FloatArray, y: FloatArray) -> FloatArray:
    """Return Pearson's r of the signed gaps with each pair taken once, i < j in the given order.

    This reproduces the gap correlation of Table 1 in Laban et al. (2022). It depends on the order
    of the systems, because swapping a pair changes the signs of its gaps but not their means: over
    the orders of the paper's seven models, it ranges from 0.65 to 0.89. Report `gap_r` with it. It
    is undefined for two systems, too: they have only one gap.
    """
    return _cosine(_scaled(_centred(_gaps(x))), _scaled(_centred(_gaps(y))))


def _gaps(x: FloatArray) -> FloatArray:
    """Return x_i - x_j for i < j: [..., n] becomes [..., n * (n - 1) / 2].

    The other order of each pair would only double every term of a cosine, which cancels out.
    """
    gaps: FloatArray = x @ _pairs(x.shape[-1])
    return gaps


def _centred_ranks(x: FloatArray) -> FloatArray:
    """Return twice the mid-ranks minus their mean: systems below minus systems above."""
    ranks: FloatArray = np.sign(_gaps(x)) @ _pairs(x.shape[-1]).T
    return ranks


def _pairs(n: int) -> FloatArray:
    """Return a column for every i < j with 1 in row i, -1 in row j and 0 elsewhere."""
    i, j = np.triu_indices(n, k=1)
    return np.eye(n)[:, i] - np.eye(n)[:, j]


def _centred(x: FloatArray) -> FloatArray:
    # First subtract a value, so that a constant list becomes exactly 0, unlike by `x - mean`.
    x = x - x[..., :1]
    mean: FloatArray = x.sum(axis=-1, keepdims=True) / max(1, x.shape[-1])
    return x - mean


def _cosine(a: FloatArray, b: FloatArray) -> FloatArray:
    with np.errstate(invalid="ignore"):  # 0 / 0 is nan: undefined
        cosine: FloatArray = _dot(a, b) / np.sqrt(_dot(a, a) * _dot(b, b))
    return np.clip(cosine, -1, 1)  # rounding errors


def _dot(a: FloatArray, b: FloatArray) -> FloatArray:
    products: FloatArray = np.einsum("...k,...k->...", a, b)
    return products


def _scaled(a: FloatArray) -> FloatArray:
    # A power of two keeps all digits; without it, the squares of tiny gaps could become 0.
    _, exponent = np.frexp(np.abs(a).max(axis=-1, keepdims=True, initial=0))
    scaled: FloatArray = np.ldexp(a, -exponent)
    return scaled


BATCHED: dict[str, Kernel] = {
    "tau_b": lambda x, y: _cosine(np.sign(_gaps(x)), np.sign(_gaps(y))),
    "tau_a": _tau_a,
    "spearman": lambda x, y: _cosine(_centred_ranks(x), _centred_ranks(y)),
    "pearson": lambda x, y: _cosine(_scaled(_centred(x)), _scaled(_centred(y))),
    "gap_r": lambda x, y: _cosine(_scaled(_gaps(x)), _scaled(_gaps(y))),
    "gap_r_laban2022": _gap_r_laban2022,
}
STATISTICS: dict[str, Callable[[npt.ArrayLike, npt.ArrayLike], float | None]] = {
    name: partial(_number, kernel) for name, kernel in BATCHED.items()
}
"""Name → from two scores of the same systems, in one order, to a number from -1 to 1 or None.

Lists of different lengths, and a score that is not finite, raise a ScoringError.
"""
