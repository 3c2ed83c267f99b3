"""How often 95 % intervals cover the true pass rate: simulated tests, and methods to compare.

A context's rate is drawn from a beta distribution whose mean is the true rate p; with the
parameters p k and (1 - p) k, k = (1 - rho) / rho, two tests of a context correlate at rho. All
simulated data sets of one cell are computed together, [data sets, contexts].
"""

from collections.abc import Callable
from itertools import product
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy import stats

from nnd.metric.numbers.statistics.context_intervals import cluster_intervals
from nnd.metric.numbers.statistics.intervals import FloatArray

Bounds: TypeAlias = tuple[FloatArray, FloatArray]
Method: TypeAlias = Callable[[FloatArray, FloatArray], Bounds]

RESAMPLES = 600

_Z = stats.norm.ppf(0.975)


class Cell(NamedTuple):
    """What is simulated.

    Attributes:
        rate: True pass rate.
        correlation: Of two tests of one context.
        sizes: Tests per context, each as likely; drawn again in every data set.
    """

    rate: float
    correlation: float
    sizes: tuple[int, ...]


UNEQUAL = tuple(range(1, 21))
GRID = [
    Cell(*cell)
    for cell in product(
        (0.3, 0.5, 0.7, 0.8, 0.9),
        (0.0, 0.1, 0.2, 0.4),
        ((1,), (2,), (5,), (10,), (20,), UNEQUAL),
    )
    if cell[1] == 0 or cell[2] != (1,)  # single tests correlate with nothing
]
"""The issue's grid: rates 0.3 to 0.9, correlations 0 to 0.4, 1 to 20 tests a context."""


def draw(cell: Cell, contexts: int, times: int, rng: np.random.Generator) -> Bounds:
    """Return passes and tests of every context, [times, contexts]."""
    tests = rng.choice(cell.sizes, size=(times, contexts))
    chance: FloatArray | float = cell.rate
    if cell.correlation:
        k = (1 - cell.correlation) / cell.correlation
        chance = rng.beta(cell.rate * k, (1 - cell.rate) * k, size=tests.shape)
    return rng.binomial(tests, chance).astype(np.float64), tests.astype(np.float64)


def coverage(method: Method, cell: Cell, contexts: int, times: int, *, seed: int = 0) -> float:
    """Return the share of simulated data sets whose interval covers the true rate."""
    low, high = method(*draw(cell, contexts, times, np.random.default_rng(seed)))
    # A bound computed to be the rate itself covers it, rounding aside.
    return float(((low <= cell.rate + 1e-12) & (cell.rate - 1e-12 <= high)).mean())


def ours(passes: FloatArray, tests: FloatArray) -> Bounds:
    """What nnd reports."""
    found = cluster_intervals(passes.T, passes.T, tests.T)
    low, high = np.array([each.bounds for each in found]).T
    return low, high


def student(passes: FloatArray, tests: FloatArray) -> Bounds:
    """Student's t around the rate, with the linearised variance of a ratio."""
    rate, error = _rate_and_error(passes, tests)
    reach = stats.t.ppf(0.975, passes.shape[1] - 1) * error
    return rate - reach, rate + reach


def wilson_of_tests(passes: FloatArray, tests: FloatArray) -> Bounds:
    """Wilson's, tests taken for independent."""
    n = tests.sum(axis=1)
    return _wilson(passes.sum(axis=1) / n, n, _Z)


def wilson_effective(passes: FloatArray, tests: FloatArray) -> Bounds:
    """Wilson's on as many tests as would have the variance seen, with t in place of z."""
    rate, error = _rate_and_error(passes, tests)
    contexts, tested = passes.shape[1], tests.sum(axis=1)
    varies = error > 0
    n = np.divide(rate * (1 - rate), error**2, where=varies, out=np.full_like(rate, contexts))
    return _wilson(rate, np.minimum(n, tested), stats.t.ppf(0.975, contexts - 1))


def percentiles(passes: FloatArray, tests: FloatArray) -> Bounds:
    """Percentiles of a bootstrap over contexts."""
    rates, _ = _resampled(passes, tests)
    low, high = np.quantile(rates, [0.025, 0.975], axis=1)
    return low, high


def bootstrap_t(passes: FloatArray, tests: FloatArray) -> Bounds:
    """Studentised bootstrap over contexts."""
    rate, error = _rate_and_error(passes, tests)
    rates, errors = _resampled(passes, tests)
    apart = rates - rate[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(np.abs(apart) < 1e-6, 0.0, np.clip(apart / errors, -1e9, 1e9))
    low, high = np.quantile(t, [0.025, 0.975], axis=1)
    return rate - high * error, rate - low * error


def bca(passes: FloatArray, tests: FloatArray) -> Bounds:
    """Bias-corrected and accelerated bootstrap over contexts."""
    rate = passes.sum(axis=1) / tests.sum(axis=1)
    off = passes - rate[:, None] * tests
    cubes, squares = (off**3).sum(axis=1), (off**2).sum(axis=1)
    lean = np.divide(cubes, 6 * squares**1.5, where=squares > 0, out=np.zeros_like(rate))
    rates = np.sort(_resampled(passes, tests)[0], axis=1)
    apart = rates - rate[:, None]
    below = (apart < -1e-6).mean(axis=1) + (np.abs(apart) <= 1e-6).mean(axis=1) / 2
    bias = stats.norm.ppf(below.clip(1 / RESAMPLES, 1 - 1 / RESAMPLES))

    def end(z: float) -> FloatArray:
        level = stats.norm.cdf(bias + (bias + z) / (1 - lean * (bias + z)))
        place = np.minimum((level * RESAMPLES).astype(np.intp), RESAMPLES - 1)
        found: FloatArray = np.take_along_axis(rates, place[:, None], axis=1)[:, 0]
        return found

    return end(-_Z), end(_Z)


METHODS: dict[str, Method] = {
    "nnd": ours,
    "bootstrap percentiles": percentiles,
    "bootstrap-t": bootstrap_t,
    "BCa": bca,
    "t": student,
    "Wilson, effective tests": wilson_effective,
    "Wilson, tests": wilson_of_tests,
}
"""As the guide's table (numbers.md) calls them."""


def over_grid(name: str, contexts: int, times: int) -> tuple[float, float]:
    """Return the least and the mean coverage of one of METHODS over GRID: a cell of the table."""
    found = [coverage(METHODS[name], cell, contexts, times) for cell in GRID]
    return min(found), sum(found) / len(found)


def _rate_and_error(passes: FloatArray, tests: FloatArray) -> Bounds:
    contexts, n = passes.shape[1], tests.sum(axis=1)
    rate = passes.sum(axis=1) / n
    off = passes - rate[:, None] * tests
    return rate, np.sqrt((off**2).sum(axis=1) * contexts / (contexts - 1)) / n


def _wilson(rate: FloatArray, n: FloatArray, z: float) -> Bounds:
    centre, scale = rate + z**2 / (2 * n), 1 + z**2 / n
    reach = z * np.sqrt(rate * (1 - rate) / n + z**2 / (4 * n**2))
    return (centre - reach) / scale, (centre + reach) / scale


def _resampled(passes: FloatArray, tests: FloatArray) -> Bounds:
    """Return rates and their standard errors on resamples of the contexts, [data sets, RESAMPLES].

    All data sets share the draws: each for itself has its own bootstrap.
    """
    contexts = passes.shape[1]
    rng = np.random.default_rng(1)
    drawn = rng.multinomial(contexts, np.full(contexts, 1 / contexts), size=RESAMPLES)
    weights = drawn.T.astype(np.float32)

    def summed(values: FloatArray) -> FloatArray:
        found: FloatArray = values.astype(np.float32) @ weights
        return found

    n = summed(tests)
    rates = summed(passes) / n
    squares = summed(passes**2) - 2 * rates * summed(passes * tests) + rates**2 * summed(tests**2)
    return rates, np.sqrt(np.maximum(squares, 0) * contexts / (contexts - 1)) / n
