"""Does a metric rank systems as people do, and is it as sure? Accuracies over pairs of systems.

Pairwise accuracy is the share of pairs of systems that both means order in the same way (Kocmi et
al. 2021, To ship or not to ship, WMT). Soft pairwise accuracy also compares how sure they are
(Thompson et al. 2024, Improving statistical significance in human evaluation of automatic metrics
via soft pairwise accuracy, WMT):

    SPA = 1 - mean over pairs i < j of |p_human(i, j) - p_metric(i, j)|

where p(i, j) is the share of random sign flips of the differences per context whose sum is at least
that observed: the p-value that system i is better than j. By this definition, contexts (segments)
are flipped one by one also where several share a document; only intervals are over clusters. All
pairs have the same flips, drawn and added up in single precision as in the reference implementation
(mt-metrics-eval, `pce.py`).
"""

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from nnd.metric.numbers.statistics.intervals import FloatArray

_Singles: TypeAlias = npt.NDArray[np.float32]

FLIPS = 1_000
_SEED = 4


def system_accuracy(human: FloatArray, metric: FloatArray) -> FloatArray:
    """Return the share of pairs of systems in one order, ties included; nan for fewer than two.

    Both are means per system, [..., systems]; the result is [...].
    """
    i, j = np.triu_indices(human.shape[-1], k=1)
    signs = (np.sign(each[..., i] - each[..., j]) for each in (human, metric))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.equal(*signs).sum(axis=-1) / np.float64(len(i)))


def soft_accuracy(human: FloatArray, metric: FloatArray) -> float:
    """Return SPA of numbers per system and context, [systems, contexts]; nan below two systems."""
    signs = np.rint(np.random.default_rng(_SEED).random((FLIPS, human.shape[1]), dtype=np.float32))
    signs = 2 * signs - 1

    def add_up(scores: _Singles) -> _Singles:
        # One flip at a time, or ties with the observed sum would hang on the number of threads.
        return np.stack([scores @ flip for flip in signs], axis=1)

    return _compare(human, metric, add_up)


def resampled_soft_accuracy(
    human: FloatArray, metric: FloatArray, counts: FloatArray
) -> FloatArray:
    """Return SPA for resamples of the contexts, each with sign flips of its own, [resamples].

    `counts` says how often each resample has each context, [resamples, contexts].
    """
    rng, contexts = np.random.default_rng(_SEED), np.arange(human.shape[1])
    values = []
    for times in counts:
        drawn = np.repeat(contexts, times.astype(np.int64))
        bits = np.unpackbits(
            rng.integers(256, size=(FLIPS, len(drawn) // 8 + 1), dtype=np.uint8), 1
        )
        signs = bits[:, : len(drawn)].astype(np.float32).T * 2 - 1
        values.append(_compare(human[:, drawn], metric[:, drawn], partial(_multiply, signs=signs)))
    return np.array(values, dtype=np.float64)


def _multiply(scores: _Singles, signs: _Singles) -> _Singles:
    return scores @ signs


def _compare(
    human: FloatArray, metric: FloatArray, add_up: Callable[[_Singles], _Singles]
) -> float:
    i, j = np.triu_indices(len(human), k=1)
    if not i.size:
        return np.nan
    p_values = []
    for scores in (human.astype(np.float32), metric.astype(np.float32)):
        sums, flipped = scores.sum(axis=1), add_up(scores)
        p_values.append((flipped[i] - flipped[j] >= (sums[i] - sums[j])[:, None]).mean(axis=1))
    return 1 - float(np.abs(p_values[0] - p_values[1]).mean())
