"""Pairwise accuracy of a metric on candidates of one context, where ties count.

For two candidates of a context, a metric is right if it orders them as people do, or if both tie:

    acc_eq = (C + T_hm) / (C + D + T_h + T_m + T_hm)

with concordant and discordant pairs, and those tied by people only, by the metric only, and by both
(Deutsch, Foster and Freitag 2023, Ties matter, EMNLP). It is the mean over contexts. Metrics rarely
give equal numbers, so acc_eq* lets differences up to epsilon count as ties, where epsilon is 0 or
the observed difference with the highest accuracy, the smallest of several. As differences are
passed in order, each only changes the verdict on its own pair: one sort finds the best.

Accuracy of a metric that gives every candidate the same number is the share of pairs that people
tie. Calibration gives every metric at least this, so the two belong side by side.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nnd.metric.numbers.statistics.intervals import FloatArray

_Places = npt.NDArray[np.intp]

_ROUNDING = 1e-12
"""Accuracies that differ by less are equal, or epsilon would depend on the last digit."""


@dataclass(frozen=True, slots=True)
class CandidatePairs:
    """Every two candidates of each context.

    Attributes:
        first: Places of the first candidates, [pairs].
        second: Places of the second ones.
        context: Numbers of the contexts, from 0 on and without gaps.
        weight: 1 / pairs of the context.
        people: Sign of the human difference, -1, 0 or 1.
        contexts: Contexts with pairs.
    """

    first: _Places
    second: _Places
    context: _Places
    weight: FloatArray
    people: FloatArray
    contexts: int

    def __len__(self) -> int:
        return len(self.first)


@dataclass(frozen=True, slots=True)
class TieAccuracy:
    """The pairwise accuracies of a metric.

    Attributes:
        acc_eq: Accuracy where only equal numbers tie.
        calibrated: Accuracy where differences up to epsilon tie.
        epsilon: That difference.
        thresholds: 0 and the observed differences, in order, [thresholds].
        accuracies: Accuracy at each of them.
        acc_eq_of: acc_eq of each context, [contexts].
        calibrated_of: The same of the calibrated accuracy, with the epsilon of all contexts.
    """

    acc_eq: float
    calibrated: float
    epsilon: float
    thresholds: FloatArray
    accuracies: FloatArray
    acc_eq_of: FloatArray
    calibrated_of: FloatArray


def pair_candidates(human: FloatArray, context: npt.NDArray[np.int64]) -> CandidatePairs:
    """Return every two candidates of each context, for human numbers and contexts, [candidates]."""
    order = np.argsort(context, kind="stable")
    _, starts, sizes = np.unique(context[order], return_index=True, return_counts=True)
    firsts, seconds, owners = [], [], []
    for size in np.unique(sizes[sizes > 1]):
        own = np.flatnonzero(sizes == size)
        i, j = np.triu_indices(size, k=1)
        firsts.append((starts[own][:, None] + i).ravel())
        seconds.append((starts[own][:, None] + j).ravel())
        owners.append(np.repeat(own, len(i)))
    none: list[_Places] = [np.empty(0, dtype=np.intp)]
    first, second = (order[np.concatenate(none + each)] for each in (firsts, seconds))
    _, number, counts = np.unique(
        np.concatenate(none + owners), return_inverse=True, return_counts=True
    )
    people = np.sign(human[first] - human[second])
    return CandidatePairs(first, second, number, 1 / counts[number], people, len(counts))


def tie_accuracy(metric: FloatArray, pairs: CandidatePairs) -> TieAccuracy | None:
    """Return the accuracies of a metric's numbers, [candidates]; None without pairs."""
    if not len(pairs):
        return None
    thresholds, at, apart, change = _steps(metric, pairs)
    share = pairs.weight / pairs.contexts
    steps = np.bincount(at, change * share, len(thresholds))
    accuracies = (apart * share).sum() + np.cumsum(steps)
    best = int(np.argmax(accuracies >= accuracies.max() - _ROUNDING))

    def of_contexts(place: int) -> FloatArray:  # exact, where sums of weights have rounding errors
        right = np.bincount(pairs.context, np.where(at <= place, apart + change, apart))
        shares: FloatArray = right / np.bincount(pairs.context)
        return shares

    exact, calibrated = of_contexts(0), of_contexts(best)
    return TieAccuracy(
        acc_eq=float(exact.mean()),
        calibrated=float(calibrated.mean()),
        epsilon=float(thresholds[best]),
        thresholds=thresholds,
        accuracies=accuracies,
        acc_eq_of=exact,
        calibrated_of=calibrated,
    )


def _steps(
    metric: FloatArray, pairs: CandidatePairs
) -> tuple[FloatArray, _Places, FloatArray, FloatArray]:
    """Return the thresholds and, for each pair, what happens at which of them.

    That is the number of its own, whether it is right below it, and by how much that changes from
    there on, where the metric ties the pair.
    """
    gaps = metric[pairs.first] - metric[pairs.second]
    thresholds, at = np.unique(np.append(np.abs(gaps), 0.0), return_inverse=True)
    apart = ((pairs.people != 0) & (np.sign(gaps) == pairs.people)).astype(np.float64)
    return thresholds, at[:-1], apart, (pairs.people == 0) - apart
