"""Wilson's interval for independent tests, and the bootstrap over contexts for correlations.

Pairs of one context are dependent: they pass or fail together more often than by chance. An
interval that treats them as independent is too narrow. For pass rates and their differences, see
`context_intervals`. For statistics of several pass rates, such as correlations, the cluster
bootstrap (Davison and Hinkley 1997, section 3.8) draws whole contexts with replacement and
recomputes the ratios

    sum of numerators / sum of denominators

All slices and models are recomputed from the same draws, so they remain paired.

Statistics that jump, such as the order of systems, are biased: noise in pass rates pulls a
correlation towards 0, and a resample has that noise twice. Percentiles alone would then lie on the
wrong side of the value. The interval (`covering_interval`) therefore reaches from the lower to the
higher of the ends of two intervals: the percentiles, and these reflected about the value (the basic
bootstrap; Davison and Hinkley 1997, section 5.2). It always contains the value.

The variance over resamples is (G - 1) / G times that of samples of G clusters, and is not known but
estimated. Both ends are therefore farther from the value, by the factor (`stretches`)

    t(0.975, df) / z(0.975) * sqrt(G / (G - 1))

where df is Kish's effective number of clusters minus 1, as for pass rates. It is the factor of
expanded percentiles (Hesterberg 2015, What teachers should know about the bootstrap, The American
Statistician 69, 371-386).
"""

import math
from collections.abc import Mapping
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
Interval = tuple[float, float]

ONE_CONTEXT = "fewer than two independent contexts"
UNDEFINED = "the number is undefined"
MOSTLY_UNDEFINED = "the number is undefined in more than half of the resamples"

RESAMPLES = 2_000
WEIGHTS_AT_ONCE = 2_000_000  # 16 MB of weights, for any number of resamples
_ENDS = 0.025, 0.975
_Z = NormalDist().inv_cdf(0.975)
_COUNTED_TOGETHER = 10  # a multinomial count takes about as long as drawing ten single clusters


class IntervalOrReason(NamedTuple):
    """A 95 % interval, or the reason why there is none."""

    bounds: Interval | None
    reason: str | None


def reasons_in(found: Mapping[str, IntervalOrReason]) -> dict[str, str]:
    """Return name → why it has no interval, of those without one."""
    return {name: each.reason for name, each in found.items() if each.reason is not None}


def wilson(passes: int, n: int) -> Interval | None:
    """Return Wilson's 95 % score interval for a proportion of n independent trials; None if n = 0.

    E. B. Wilson (1927), Probable inference, the law of succession, and statistical inference,
    Journal of the American Statistical Association 22(158), 209-212; no continuity correction. The
    bounds are from 0 to 1.
    """
    if n == 0:
        return None
    rate = passes / n
    centre = rate + _Z**2 / (2 * n)
    reach = _Z * math.sqrt(rate * (1 - rate) / n + _Z**2 / (4 * n**2))
    scale = 1 + _Z**2 / n
    # At the ends, the formula gives exactly 0 and 1, but floating point only approximately.
    low = 0.0 if passes == 0 else (centre - reach) / scale
    high = 1.0 if passes == n else (centre + reach) / scale
    return low, high


def bootstrap_ratios(
    numerators: npt.ArrayLike,
    denominators: npt.ArrayLike,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> FloatArray:
    """Recompute ratios of sums over clusters for resamples of the clusters.

    The result does not depend on the order of the clusters: clusters with equal rows are
    interchangeable, so the number of occurrences of each distinct row is drawn, in sorted order.
    This is exact, and fast if most clusters have one or two pairs. Slices in one call share the
    draws, which depend on all of them: together with other slices, a slice has a different interval
    of the same quality.

    Args:
        numerators: Terms of the numerators, [clusters, slices]: passes, or differences of passes.
        denominators: Terms of the denominators, [clusters, slices]: pairs; 0 if a cluster has none
            in the slice.
        resamples: Number of resamples.
        seed: Seed of `numpy.random.default_rng`; the global state is not changed.

    Returns:
        Ratios, [resamples, slices]; nan if a resample has no pair of the slice. All are nan for a
        slice with pairs in fewer than two clusters: one cluster does not show how much clusters
        differ, and an interval of width 0 would be misleading.
    """
    above, below = (np.asarray(each, dtype=np.float64) for each in (numerators, denominators))
    clusters, slices = above.shape
    ratios = np.full((resamples, slices), np.nan)
    estimable = np.count_nonzero(below, axis=0) >= 2  # noqa: PLR2004
    if not estimable.any():
        return ratios
    rows, counts = np.unique(np.hstack([above, below]), axis=0, return_counts=True)
    rng = np.random.default_rng(seed)
    step = max(1, WEIGHTS_AT_ONCE // clusters)
    for start in range(0, resamples, step):
        part = ratios[start : start + step]
        sums = _draw(rng, counts, len(part)) @ rows
        drawn = (sums[:, slices:] > 0) & estimable
        np.divide(sums[:, :slices], sums[:, slices:], out=part, where=drawn)
    return ratios


def _draw(rng: np.random.Generator, counts: npt.NDArray[np.int64], size: int) -> FloatArray:
    """Return the number of occurrences of each distinct row in some resamples, [size, rows]."""
    clusters = int(counts.sum())
    if len(counts) * _COUNTED_TOGETHER < clusters:
        return rng.multinomial(clusters, counts / clusters, size=size).astype(np.float64)
    row_of = np.repeat(np.arange(len(counts)), counts)
    drawn = row_of[rng.integers(clusters, size=(size, clusters), dtype=np.int32)]
    return np.stack([np.bincount(each, minlength=len(counts)) for each in drawn]).astype(np.float64)


def draw_contexts(rng: np.random.Generator, contexts: int, size: int) -> FloatArray:
    """Return how often each of some resamples has each context, [size, contexts]."""
    return rng.multinomial(contexts, np.full(contexts, 1 / contexts), size=size).astype(np.float64)


def stretches(counts: npt.ArrayLike) -> FloatArray:
    """Return how much farther than percentiles an interval over clusters reaches, [slices].

    `counts` are tests, [clusters, slices]. The factor is 1 for fewer than two clusters with tests,
    which have no interval.
    """
    from scipy.special import stdtrit  # noqa: PLC0415 - slow to import

    tests = np.asarray(counts, dtype=np.float64)
    clusters = np.count_nonzero(tests, axis=0)
    several = clusters >= 2  # noqa: PLR2004
    squares = np.where(several, (tests**2).sum(axis=0), 1)
    freedom = np.maximum(1, tests.sum(axis=0) ** 2 / squares - 1)
    widened = stdtrit(freedom, 0.975) / _Z * np.sqrt(clusters / np.maximum(1, clusters - 1))
    return np.where(several, widened, 1.0)


def covering_interval(
    value: float,
    samples: npt.ArrayLike,
    *,
    stretch: float = 1.0,
    lowest: float = -1.0,
    highest: float = 1.0,
) -> IntervalOrReason:
    """Return the 95 % bootstrap interval of a value from `lowest` to `highest` (module docstring).

    `stretch` is a number of `stretches`; 1 leaves percentiles as they are.

    Resamples without a value, nan, are omitted. If these are more than half, the others are a
    biased selection, and there is no interval.
    """
    drawn = np.asarray(samples, dtype=np.float64)
    known = drawn[~np.isnan(drawn)]
    if known.size * 2 < drawn.size or not known.size:
        return IntervalOrReason(None, MOSTLY_UNDEFINED)
    to_low, to_high = (stretch * (float(end) - value) for end in np.quantile(known, _ENDS))
    ends = value + to_low, value + to_high, value - to_low, value - to_high
    return IntervalOrReason((max(lowest, min(value, *ends)), min(highest, max(value, *ends))), None)
