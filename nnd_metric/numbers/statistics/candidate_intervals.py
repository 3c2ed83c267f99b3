"""Correlations over candidates, without each context and with their intervals over contexts.

Candidates of one context are dependent, so whole contexts are left out (`jackknife`). Without a
context, its candidates count 0 times, and every correlation is a weighted one:

    pearson   weighted sums
    spearman  Pearson's r of the weighted mid-ranks
    tau_b     sum_ij w_i w_j sign(x_i - x_j) sign(y_i - y_j) divided by its two norms; as all
              candidates of a context have the same weight, the sums over i and j are computed once
              for every two contexts
"""

from collections.abc import Hashable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from nnd.metric.numbers.statistics.context_intervals import cluster_intervals
from nnd.metric.numbers.statistics.intervals import ONE_CONTEXT, FloatArray, IntervalOrReason
from nnd.metric.numbers.statistics.jackknife import groups_of, leave_out

MOST_FOR_TAU = 10_000
"""Largest number of candidates for tau-b, which compares every two of them."""

TOO_MANY = f"more than {MOST_FOR_TAU:,} candidates"

_PAIRS_AT_ONCE = 1_000_000


def pooled_without(
    x: FloatArray, y: FloatArray, contexts: npt.NDArray[np.int64]
) -> dict[str, FloatArray]:
    """Compute Spearman's rho, Pearson's r and Kendall's tau-b without each context.

    Args:
        x: One finite number per candidate, [n].
        y: The other number of the same candidates, [n].
        contexts: Number of each candidate's context, 0, 1, … without gaps, [n].

    Returns:
        Statistic → its values without each context, or group of contexts (`jackknife.groups_of`),
        [groups]; nan if undefined. Those of tau_b are missing for more than MOST_FOR_TAU
        candidates.
    """
    count = int(contexts.max(initial=-1)) + 1
    groups = len({*groups_of(count).tolist()})
    names = ["spearman", "pearson"] + ["tau_b"] * (len(x) <= MOST_FOR_TAU)
    values = {name: np.full(groups, np.nan) for name in names}
    if count < 2:  # noqa: PLR2004
        return values
    signs = _signs(x, y, contexts, count) if "tau_b" in values else None
    x_ranks, y_ranks = _RanksOf(x), _RanksOf(y)
    x, y = _standard(x), _standard(y)
    start = 0
    for kept in leave_out(count, len(x)):
        part = slice(start, start + len(kept))
        start = part.stop
        weights = kept[:, contexts]
        ranks = x_ranks.weighted(weights), y_ranks.weighted(weights)
        values["spearman"][part] = _pearson(weights, *ranks)
        values["pearson"][part] = _pearson(weights, x, y)
        if signs is not None:
            values["tau_b"][part] = _tau_b(kept, signs)
    return values


def mean_intervals(
    within: Sequence[Mapping[str, float | None]],
    names: Sequence[str],
    clusters: Sequence[Hashable] | None = None,
) -> dict[str, IntervalOrReason]:
    """Return name → 95 % interval of the mean of a correlation over contexts, or the reason.

    `within` gives name → correlation, or None if it is undefined, for each context. Contexts of one
    of the `clusters` are not independent; None: each is its own. There is no interval if fewer than
    two clusters define the correlation.
    """
    if not within:
        return dict.fromkeys(names, IntervalOrReason(None, ONE_CONTEXT))
    numbers = np.array([[each[name] for name in names] for each in within], dtype=np.float64)
    known = ~np.isnan(numbers)
    places = {owner: at for at, owner in enumerate(dict.fromkeys(clusters or range(len(within))))}
    owners = [places[owner] for owner in clusters or range(len(within))]
    values = np.where(known, numbers, 0)
    sums, squares, counts = np.zeros((3, len(places), len(names)))
    for total, own in ((sums, values), (squares, values**2), (counts, known)):
        np.add.at(total, owners, own)
    intervals = cluster_intervals(sums, squares, counts, lowest=-1)
    return {
        name: IntervalOrReason(each.bounds, each.reason)
        for name, each in zip(names, intervals, strict=True)
    }


class _RanksOf:
    """Weighted mid-ranks: the weight of all smaller values, and half the weight of equal values."""

    def __init__(self, x: FloatArray) -> None:
        self._order = np.argsort(x, kind="stable")
        ordered = x[self._order]
        is_new = np.r_[True, ordered[1:] != ordered[:-1]]
        self._starts = np.flatnonzero(is_new)
        self._group = np.empty(len(x), dtype=np.int64)
        self._group[self._order] = np.cumsum(is_new) - 1

    def weighted(self, weights: FloatArray) -> FloatArray:
        """Return the ranks for some weights; both are [groups, n]."""
        equal = np.add.reduceat(weights[:, self._order], self._starts, axis=1)
        ranks: FloatArray = (np.cumsum(equal, axis=1) - equal / 2)[:, self._group]
        return ranks


def _standard(x: FloatArray) -> FloatArray:
    """Return x with mean 0 and largest absolute value 1, so that sums of squares are precise."""
    x = x - x[0]
    x = x - x.mean() if x.any() else x
    largest = np.abs(x).max()
    scaled: FloatArray = x / largest if largest else x
    return scaled


def _pearson(weights: FloatArray, x: FloatArray, y: FloatArray) -> FloatArray:
    """Return weighted correlations [groups] of x and y, [n] or [groups, n]."""
    total = weights.sum(axis=1, keepdims=True)
    x = np.broadcast_to(x, weights.shape)
    y = np.broadcast_to(y, weights.shape)
    # If a resample has only one distinct value, the distances to it are exactly 0.
    at = weights.argmax(axis=1)[:, None]
    x = x - np.take_along_axis(x, at, axis=1)
    y = y - np.take_along_axis(y, at, axis=1)
    x = x - (weights * x).sum(axis=1, keepdims=True) / total
    y = y - (weights * y).sum(axis=1, keepdims=True) / total
    weighted = weights * x
    return _cosine(
        np.einsum("ri,ri->r", weighted, y),
        np.einsum("ri,ri->r", weighted, x),
        np.einsum("ri,ri->r", weights * y, y),
    )


def _signs(x: FloatArray, y: FloatArray, contexts: npt.NDArray[np.int64], count: int) -> FloatArray:
    """Return three sums over the candidates of every two contexts, [3, contexts, contexts].

    The terms are sign(x_i - x_j) sign(y_i - y_j), |sign(x_i - x_j)| and |sign(y_i - y_j)|.
    """
    order = np.argsort(contexts, kind="stable")
    x, y, contexts = x[order], y[order], contexts[order]
    starts = np.searchsorted(contexts, np.arange(count))
    sums = np.zeros((3, count, count))
    step = max(1, _PAIRS_AT_ONCE // len(x))
    for start in range(0, len(x), step):
        part = slice(start, start + step)
        a, b = (np.sign(each[part, None] - each).astype(np.int8) for each in (x, y))
        for number, signs in enumerate((a * b, np.abs(a), np.abs(b))):
            by_column = np.add.reduceat(signs, starts, axis=1, dtype=np.float64)
            np.add.at(sums[number], contexts[part], by_column)
    return sums


def _tau_b(drawn: FloatArray, signs: FloatArray) -> FloatArray:
    """Return tau-b [groups] for weights of the contexts [groups, contexts]."""
    return _cosine(*(np.einsum("rc,rc->r", drawn @ each, drawn) for each in signs))


def _cosine(both: FloatArray, first: FloatArray, second: FloatArray) -> FloatArray:
    with np.errstate(invalid="ignore", divide="ignore"):  # 0 / 0 is nan: undefined
        cosine: FloatArray = both / np.sqrt(first * second)
    return np.clip(cosine, -1, 1)
