"""Intervals of correlations over systems: would other systems show the same agreement?

The judged systems are a sample, too, and usually a small one. The bootstrap over systems draws the
same number of systems with replacement, each with its pass rate and its human score, and computes
the statistic for each resample (Efron and Tibshirani 1993, An introduction to the bootstrap,
section 6.3: pairs are drawn, because both scores belong to the system). The bootstrap over contexts
answers a different question, with fixed systems; neither interval includes the uncertainty of the
other.

If a system is drawn twice, the two are not a pair of systems. Their gap of 0 does not affect a
cosine, but tau-a counts it as a tie, which would bias the interval towards 0. So tau-a uses only
pairs of different systems here. `gap_r_laban2022` keeps the order of the drawn systems.

Percentile intervals of few systems are too narrow. In simulations (600 sets of normal scores each,
with a true r of 0, 0.5, 0.8 and 0.95), 95 % intervals contained the true value in this share of the
sets, in %:

    systems      5        7        10       16
    tau          66-99    88-98    95-98    95-99
    Pearson's r  86-91    88-93    89-93    91-94

The interval is undefined for fewer than `FEWEST_SYSTEMS` systems, and if the statistic is undefined
in more than half of the resamples (`interval_of_most`), for example because a single system differs
from the rest in one score, and another one in the other.
"""

import numpy as np
import numpy.typing as npt

from nnd.metric.numbers.statistics.correlations import BATCHED
from nnd.metric.numbers.statistics.intervals import FloatArray

FEWEST_SYSTEMS = 4

RESAMPLES = 2_000


def draw_systems(n: int, *, seed: int = 0) -> npt.NDArray[np.intp]:
    """Draw RESAMPLES times n of n systems with replacement: their places, sorted, [resamples, n].

    For fewer than `FEWEST_SYSTEMS`, no resample is drawn.
    """
    resamples = RESAMPLES if n >= FEWEST_SYSTEMS else 0
    drawn = np.random.default_rng(seed).integers(n, size=(resamples, n), dtype=np.intp)
    return np.sort(drawn, axis=1)


def statistic_over_systems(
    name: str, x: npt.ArrayLike, y: npt.ArrayLike, drawn: npt.NDArray[np.intp]
) -> FloatArray:
    """Compute a statistic of x and y, [n], for every resample of the systems: [resamples].

    The statistic is one of `correlations.BATCHED`; it is nan if undefined. `drawn` has the places
    of the drawn systems, [resamples, n].
    """
    resampled_x, resampled_y = (np.asarray(each, dtype=np.float64)[drawn] for each in (x, y))
    values = BATCHED[name](resampled_x, resampled_y)
    return _over_different_systems(values, drawn) if name == "tau_a" else values


def _over_different_systems(tau_a: FloatArray, drawn: npt.NDArray[np.intp]) -> FloatArray:
    """Return tau-a without the pairs of a system with itself, which were counted as ties."""
    n = drawn.shape[1]
    same = (drawn[:, :, None] == drawn[:, None, :]).sum(axis=(1, 2)) - n
    with np.errstate(invalid="ignore"):  # it is undefined already if all systems are the same
        # Concordant minus discordant pairs is an integer: rounded, a perfect tau is exactly 1.
        corrected: FloatArray = np.rint(tau_a * (n * (n - 1))) / (n * (n - 1) - same)
    return corrected
