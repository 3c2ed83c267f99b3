"""Logistic fits of passing on one number, and the fits without each context.

    P(pass) = 1 / (1 + exp(-(intercept + slope * x)))

The fit maximises the likelihood of independent tests, which estimates both parameters without bias
although tests of one context are dependent (generalised estimating equations with an independent
working correlation; Liang and Zeger 1986, Biometrika 73(1), 13-22). Uncertainty is that of the
cluster jackknife, from the fits that leave out one context at a time (CV3 of MacKinnon, Nielsen and
Webb 2025, Cluster-robust jackknife and bootstrap inference for logistic regression models,
Econometric Reviews). All of these start with one Newton step from the fit to all tests; those that
it moves by more than _CLOSE are repeated until they converge, in batches. Where the tests of all
other contexts are separated, there is no such fit, and none is tried.

A Newton step d is shortened to log(1 + c) / c of its length, where c is the largest change of the
linear predictor. The likelihood then never falls, so that fits converge from any start (Bach 2010,
Self-concordant analysis for logistic regression, Electronic Journal of Statistics 4, 384-414).
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from nnd.metric.numbers.statistics.intervals import FloatArray

_CLOSE = 1e-3
"""A step of this size leaves an error of its square, a thousandth of the step."""

_CONVERGED = 1e-6
_MOST_STEPS = 100
_CELLS_AT_ONCE = 2_000_000


class LogisticFit(NamedTuple):
    """A fit to the tests of some contexts.

    Attributes:
        intercept: Log-odds of passing at x = 0.
        slope: Change of the log-odds per unit of x.
        without: Intercepts of the fits without each context, float64 [contexts]; nan where the
            others allow no fit. Contexts without tests change nothing.
        scores: Derivatives of each context's log-likelihood, float64 [contexts, 2].
        information: Their negative second derivatives by intercept twice, by both, and by slope
            twice, float64 [contexts, 3].
    """

    intercept: float
    slope: float
    without: FloatArray
    scores: FloatArray
    information: FloatArray

    def resampled(self, counts: npt.ArrayLike) -> FloatArray:
        """Return the intercepts for resamples of the contexts, which occur `counts` times.

        They are those of one Newton step (Moulton and Zeger 1991, Bootstrapping generalized linear
        models, Computational Statistics & Data Analysis 11(1), 53-63). `counts` are [resamples,
        contexts], the result is [resamples].
        """
        drawn = np.asarray(counts, dtype=np.float64)
        return self.intercept + _newton_step(drawn @ self.scores, drawn @ self.information)[:, 0]


def is_separated(passed: npt.NDArray[np.bool_], x: FloatArray) -> bool:
    """Whether some number separates the tests that pass from those that fail, so there is no fit.

    This includes that all pass or all fail.
    """
    if passed.all() or not passed.any():
        return True
    passes, fails = x[passed], x[~passed]
    return bool(passes.min() >= fails.max() or fails.min() >= passes.max())


def separated_without(
    passed: npt.NDArray[np.bool_], x: FloatArray, context: npt.NDArray[np.intp], contexts: int
) -> npt.NDArray[np.bool_]:
    """Return whether `is_separated` refuses the tests of all contexts but one, [contexts].

    The arguments are those of `fit_logistic`.
    """
    sides = passed.astype(bool), ~passed.astype(bool)
    largest = [_largest_without(x[side], context[side], contexts) for side in sides]
    smallest = [-_largest_without(-x[side], context[side], contexts) for side in sides]
    found: npt.NDArray[np.bool_] = (smallest[0] >= largest[1]) | (smallest[1] >= largest[0])
    return found


def _largest_without(x: FloatArray, context: npt.NDArray[np.intp], contexts: int) -> FloatArray:
    """Return the largest number outside of each context, [contexts]; -inf if there is none."""
    of_context = np.full(contexts, -np.inf)
    np.maximum.at(of_context, context, x)
    first = int(of_context.argmax())
    largest = np.full(contexts, of_context[first])
    largest[first] = np.delete(of_context, first).max(initial=-np.inf)
    return largest


def fit_logistic(
    passed: npt.NDArray[np.bool_], x: FloatArray, context: npt.NDArray[np.intp], contexts: int
) -> LogisticFit:
    """Fit the chance to pass to tests, which `is_separated` has not refused.

    Args:
        passed: Whether a test passes, [tests].
        x: The number that it may depend on, [tests].
        context: Number of the test's context, below `contexts`, [tests].
        contexts: Number of contexts.
    """
    undefined = separated_without(passed, x, context, contexts)
    values, place = np.unique(x, return_inverse=True)
    n = len(values)
    cells, times = np.unique((context * n + place) * 2 + passed, return_counts=True)
    (context, place), passed = np.divmod(cells // 2, n), cells % 2
    totals = [np.bincount(place, w, n).astype(np.float64) for w in (times * passed, times)]
    passes, tests = (float(total.sum()) for total in totals)
    start = np.array([[np.log(passes / (tests - passes)), 0.0]])
    (fit,) = _converge(start, totals[0][None], totals[1][None], values)
    chances = _chance(fit[None], values)
    of_all = _moments(totals[1] * chances * (1 - chances), values, 2)
    chance, x = chances[0, place], values[place]
    scores = _sums(context, contexts, times * (passed - chance), x, 1)
    information = _sums(context, contexts, times * chance * (1 - chance), x, 2)
    step = _newton_step(-scores, of_all - information)
    without = fit + step
    without[undefined] = np.nan
    moved = np.flatnonzero(~(np.abs(step).max(axis=1) <= _CLOSE) & ~undefined)
    for part in np.array_split(moved, len(moved) * n // _CELLS_AT_ONCE + 1):
        row_of = np.full(contexts, -1)
        row_of[part] = np.arange(len(part))
        own = row_of[context] >= 0
        at = row_of[context[own]] * n + place[own]
        rest = [
            total - np.bincount(at, w[own], len(part) * n).reshape(-1, n)
            for total, w in zip(totals, (times * passed, times), strict=True)
        ]
        without[part] = _converge(np.repeat(fit[None], len(part), axis=0), rest[0], rest[1], values)
    return LogisticFit(float(fit[0]), float(fit[1]), without[:, 0], scores, information)


def _converge(
    start: FloatArray, passes: FloatArray, tests: FloatArray, values: FloatArray
) -> FloatArray:
    """Return intercepts and slopes [fits, 2] of passes and tests [fits, values]; nan without."""
    fits, todo = start.copy(), np.arange(len(start))
    farthest = np.abs(values).max()
    for _ in range(_MOST_STEPS):
        chance = _chance(fits[todo], values)
        scores = _moments(passes[todo] - tests[todo] * chance, values, 1)
        step = _newton_step(scores, _moments(tests[todo] * chance * (1 - chance), values, 2))
        change = np.abs(step[:, 0]) + np.abs(step[:, 1]) * farthest
        with np.errstate(invalid="ignore", divide="ignore"):
            factor = np.where(change > 0, np.log1p(change) / change, 1.0)
        fits[todo] += factor[:, None] * step
        todo = todo[change > _CONVERGED]
        if not todo.size:
            return fits
    fits[todo] = np.nan
    return fits


def _chance(fits: FloatArray, values: FloatArray) -> FloatArray:
    return 0.5 + 0.5 * np.tanh((fits[:, :1] + fits[:, 1:] * values) / 2)


def _moments(weights: FloatArray, values: FloatArray, degree: int) -> FloatArray:
    # Not by `@`, whose last digits depend on the other rows.
    moments = ((weights * values**power).sum(axis=1) for power in range(degree + 1))
    return np.stack([*moments], axis=1)


def _sums(
    context: npt.NDArray[np.intp], contexts: int, weights: FloatArray, x: FloatArray, degree: int
) -> FloatArray:
    powers = (np.bincount(context, weights * x**power, contexts) for power in range(degree + 1))
    return np.stack([*powers], axis=1)


def _newton_step(scores: FloatArray, information: FloatArray) -> FloatArray:
    """Solve two equations for each fit: scores [fits, 2], information [fits, 3]; nan without."""
    (first, second), (a, b, c) = scores.T, information.T
    determinant = a * c - b * b
    with np.errstate(invalid="ignore", divide="ignore"):
        steps = np.stack([c * first - b * second, a * second - b * first]) / determinant
    return np.where(determinant > 0, steps, np.nan).T
