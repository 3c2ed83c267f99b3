"""Bootstrap intervals of correlations over candidates: contexts are redrawn with all they hold.

Candidates of one context share it, so whole contexts are redrawn, as for pass rates (`intervals`).
A candidate of a context drawn w times counts w times, so every correlation is one with weights:

    pearson   weighted sums
    spearman  Pearson's r of the mid-ranks that the weights give
    tau_b     sum_ij w_i w_j sign(x_i - x_j) sign(y_i - y_j) over its two norms; since candidates
              of a context have one weight, the sums over i and j are taken once per two contexts
"""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from nnd.metric.statistics.intervals import (
    WEIGHTS_AT_ONCE,
    FloatArray,
    Interval,
    bootstrap_ratios,
    interval_of_most,
)

RESAMPLES = 1_000
"""Of the contexts."""

MOST_FOR_TAU = 10_000
"""Candidates; tau-b looks at every two of them."""

_PAIRS_AT_ONCE = 1_000_000


def pooled_samples(
    x: FloatArray, y: FloatArray, contexts: npt.NDArray[np.int64], *, seed: int = 0
) -> dict[str, FloatArray]:
    """Return Spearman's rho, Pearson's r and Kendall's tau-b on redrawn contexts, [RESAMPLES] each.

    The draws depend on the number of contexts and the seed alone, so those of two metrics on the
    same candidates are paired.

    Args:
        x: One finite number per candidate, [n].
        y: The other number of the same candidates, [n].
        contexts: Number of the context of each, 0, 1, … without a gap, [n].
        seed: Seed of the bootstrap.

    Returns:
        nan where a resample leaves the number undefined; nothing but nan for fewer than two
        contexts, and for tau_b where there are more than MOST_FOR_TAU candidates.
    """
    count = int(contexts.max(initial=-1)) + 1
    names = ("spearman", "pearson", "tau_b")
    samples = np.full((len(names), RESAMPLES), np.nan)
    if count < 2:  # noqa: PLR2004
        return dict(zip(names, samples, strict=True))
    signs = _signs(x, y, contexts, count) if len(x) <= MOST_FOR_TAU else None
    x_ranks, y_ranks = _RanksOf(x), _RanksOf(y)
    x, y = _standard(x), _standard(y)
    rng = np.random.default_rng(seed)
    step = max(1, WEIGHTS_AT_ONCE // len(x))
    for start in range(0, RESAMPLES, step):
        part = slice(start, min(start + step, RESAMPLES))
        size = part.stop - part.start
        drawn = rng.multinomial(count, np.full(count, 1 / count), size=size).astype(np.float64)
        weights = drawn[:, contexts]
        samples[0, part] = _pearson(weights, x_ranks.under(weights), y_ranks.under(weights))
        samples[1, part] = _pearson(weights, x, y)
        if signs is not None:
            samples[2, part] = _tau_b(drawn, signs)
    return dict(zip(names, samples, strict=True))


def mean_intervals(
    within: Sequence[Mapping[str, float | None]], names: Sequence[str], *, seed: int = 0
) -> dict[str, Interval | None]:
    """Return 95 % percentile intervals of means over contexts.

    Args:
        within: Name → number of every context; None where it is undefined there.
        names: Which numbers.
        seed: Seed of the bootstrap.

    Returns:
        None where fewer than two contexts define the number.
    """
    if not within:
        return dict.fromkeys(names)
    numbers = np.array([[each[name] for name in names] for each in within], dtype=np.float64)
    known = ~np.isnan(numbers)
    samples = bootstrap_ratios(np.where(known, numbers, 0), known, resamples=RESAMPLES, seed=seed)
    return {name: interval_of_most(samples[:, at]) for at, name in enumerate(names)}


class _RanksOf:
    """Weighted mid-ranks of one number: the weight below, and half the weight of its equals."""

    def __init__(self, x: FloatArray) -> None:
        self._order = np.argsort(x, kind="stable")
        inorder = x[self._order]
        self._starts = np.flatnonzero(np.r_[True, inorder[1:] != inorder[:-1]])
        self._group = np.empty(len(x), dtype=np.int64)
        self._group[self._order] = np.cumsum(np.r_[True, inorder[1:] != inorder[:-1]]) - 1

    def under(self, weights: FloatArray) -> FloatArray:
        """Return the ranks under weights, both [resamples, n]."""
        equal = np.add.reduceat(weights[:, self._order], self._starts, axis=1)
        ranks: FloatArray = (np.cumsum(equal, axis=1) - equal / 2)[:, self._group]
        return ranks


def _standard(x: FloatArray) -> FloatArray:
    """Return x with mean 0 and largest 1, so that sums of squares lose nothing."""
    x = x - x[0]
    x = x - x.mean() if x.any() else x
    largest = np.abs(x).max()
    scaled: FloatArray = x / largest if largest else x
    return scaled


def _pearson(weights: FloatArray, x: FloatArray, y: FloatArray) -> FloatArray:
    """Return weighted correlations [resamples] of x and y, [n] or [resamples, n]."""
    total = weights.sum(axis=1, keepdims=True)
    x = np.broadcast_to(x, weights.shape)
    y = np.broadcast_to(y, weights.shape)
    # A resample may hold one value only: then its distance to that value is 0 exactly.
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
    """Return sums over the candidates of every two contexts, [3, contexts, contexts].

    They are of sign(x_i - x_j) sign(y_i - y_j), of |sign(x_i - x_j)| and of |sign(y_i - y_j)|.
    """
    order = np.argsort(contexts, kind="stable")
    x, y, contexts = x[order], y[order], contexts[order]
    starts = np.searchsorted(contexts, np.arange(count))
    found = np.zeros((3, count, count))
    step = max(1, _PAIRS_AT_ONCE // len(x))
    for start in range(0, len(x), step):
        part = slice(start, start + step)
        a, b = (np.sign(each[part, None] - each).astype(np.int8) for each in (x, y))
        for number, signs in enumerate((a * b, np.abs(a), np.abs(b))):
            by_column = np.add.reduceat(signs, starts, axis=1, dtype=np.float64)
            np.add.at(found[number], contexts[part], by_column)
    return found


def _tau_b(drawn: FloatArray, signs: FloatArray) -> FloatArray:
    """Return tau-b [resamples] under weights of the contexts [resamples, contexts]."""
    sums = [np.einsum("rc,rc->r", drawn @ each, drawn) for each in signs]
    return _cosine(*sums)


def _cosine(both: FloatArray, first: FloatArray, second: FloatArray) -> FloatArray:
    with np.errstate(invalid="ignore", divide="ignore"):  # 0 / 0 is nan: undefined
        found: FloatArray = both / np.sqrt(first * second)
    return np.clip(found, -1, 1)
