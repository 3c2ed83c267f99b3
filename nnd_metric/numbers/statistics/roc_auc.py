"""Area under the ROC curve: how often a good candidate scores higher than a bad one.

    AUC = P(score of a good one > score of a bad one) + P(equal) / 2

Pooled, over all good and bad candidates (Fawcett 2006, Pattern Recognition Letters 27(8)); or
within contexts, over those of one context, where it is the pass rate with ties counting half.
"""

import numpy as np
import numpy.typing as npt

from nnd.metric.numbers.statistics.intervals import FloatArray


def pooled_auc(scores: FloatArray, good: npt.NDArray[np.bool_], weights: FloatArray) -> FloatArray:
    """Return the AUC of candidates that count `weights` times, [resamples, candidates].

    The result is [resamples]; nan where all candidates are good, or all bad.
    """
    order = np.argsort(scores, kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(scores[order]) != 0])
    weights, good = weights[:, order], good[order]
    of_good, of_bad = (
        np.add.reduceat(weights * own, starts, axis=1) for own in (good, ~good)
    )  # by distinct score
    below = np.cumsum(of_bad, axis=1) - of_bad / 2
    with np.errstate(invalid="ignore"):
        wins = (of_good * below).sum(axis=1)
        return np.asarray(wins / (of_good.sum(axis=1) * of_bad.sum(axis=1)))
