"""The pass rate at equal length: what a model would pass if no candidate had more tokens.

Under any protocol, a pass depends on the candidates' numbers of tokens: a mean over tokens favours
the longer candidate, a sum the shorter one. The chance to pass is therefore fitted to

    log-odds of passing = intercept + slope * log(tokens of the better / tokens of the worse)

(`logistic_fit`), and the rate at equal length is that at equal numbers of tokens, where the
logarithm is 0. Tokens are the candidate's own, as the protocol cuts it: the end token is not
counted, nor anything else that is scored with it. The 95 % interval is Student's t on the log-odds
scale, intercept +- t(0.975, G - 1) * s, mapped back, where s^2 is the variance of the cluster
jackknife over G contexts: (G - 1) / G times the sum of (intercept without context i - intercept)^2.

The difference of two models is that of their rates at equal length, each by its own tokens. Its
jackknife leaves each context out of both fits; its interval is `logit_t`.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from nnd.metric.numbers.rates.context_sums import CLUSTER_NUMBER
from nnd.metric.numbers.statistics.context_intervals import FEW_CONTEXTS, logit_t
from nnd.metric.numbers.statistics.difference import Difference
from nnd.metric.numbers.statistics.intervals import FloatArray, Interval
from nnd.metric.numbers.statistics.logistic_fit import (
    LogisticFit,
    fit_logistic,
    is_separated,
    separated_without,
)
from nnd.schemas import Count, Record, Share

NEAR = 0.1
"""Share of the larger number of tokens by which nearly equal numbers may differ."""

LENGTHS = ("length_high", "length_low")
"""Columns of the candidates' own tokens."""

_WITHOUT_ONE = "without one of the independent contexts, "
_DIVERGES = f"{_WITHOUT_ONE}the fit does not converge"


@dataclass(frozen=True, slots=True, kw_only=True)
class EqualLength(Record):
    """The pass rate at equal numbers of tokens, from a logistic fit.

    Attributes:
        pass_rate: Fitted chance to pass a test whose candidates have equal numbers of tokens; None
            if there is no fit.
        interval: Its 95 % interval over contexts; None if there is no fit, also without one of the
            contexts.
        slope: Change of the log-odds of passing when the logarithm of the better candidate's tokens
            over the worse one's rises by 1; None if there is no fit. 0 means that length does not
            matter.
        n: Tests in the fit.
        near: Those whose numbers of tokens differ by at most 10 % of the larger.
        empty: Tests left out, because a candidate has no token.
        reason: Why there is no rate or no interval; None if there are both.
    """

    pass_rate: Share | None
    interval: Interval | None
    slope: float | None
    n: Count
    near: Count
    empty: Count
    reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EqualLengthDifference(Difference):
    """The difference of two models' pass rates at equal numbers of their own tokens.

    Attributes:
        n: Tests in both fits.
        reason: Why there is no difference or no interval; None if there are both.
    """

    reason: str | None


class FitOrReason(NamedTuple):
    """The fit to some tests, or the reason why there is none."""

    fit: LogisticFit | None
    reason: str | None


def add_lengths(scored: pl.DataFrame) -> pl.DataFrame:
    """Add the columns of LENGTHS to rows of SCORED_SCHEMA; null if unknown."""
    own = (pl.col(f"tokens_{side}") - pl.col("end_tokens") for side in ("high", "low"))
    return scored.with_columns(
        each.clip(0).cast(pl.UInt32).alias(name) for each, name in zip(own, LENGTHS, strict=True)
    )


def equal_length_in(tests: pl.DataFrame) -> EqualLength | None:
    """Return the rate at equal length of distinct tests, with LENGTHS, `passed` and contexts.

    It is None without tests, and if numbers of tokens are unknown: of other metrics, samples of
    other harnesses, and runs of older versions.
    """
    if tests.is_empty() or any(tests[name].has_nulls() for name in LENGTHS):
        return None
    known = tests.filter(_are_known())
    fit, reason = fit_tests(known)
    rate = interval = None
    if fit is not None:
        rate = _to_rate(fit.intercept)
        interval = _interval(fit)
        reason = None if interval is not None else reason_without_one(known) or _DIVERGES
    return EqualLength(
        pass_rate=rate,
        interval=interval,
        slope=None if fit is None else fit.slope,
        n=known.height,
        near=int(known.select(_are_near().sum()).item()),
        empty=tests.height - known.height,
        reason=reason,
    )


def equal_length_difference(
    tests: pl.DataFrame, *, tested: bool = True
) -> EqualLengthDifference | None:
    """Return the difference of two rates at equal length; None without tests, or with unknown ones.

    `tests` are distinct, with contexts; the columns of LENGTHS and `passed` end in `_first` and
    `_second`.
    """
    sides = ("_first", "_second")
    columns = [f"{name}{side}" for side in sides for name in LENGTHS]
    if tests.is_empty() or any(tests[name].has_nulls() for name in columns):
        return None
    known = tests.filter(*map(_are_known, sides))
    fits, reasons = zip(*(fit_tests(known, side) for side in sides), strict=True)
    first, second = fits
    rate, other = (None if fit is None else _to_rate(fit.intercept) for fit in fits)
    difference = interval = None
    reason = next((each for each in reasons if each is not None), None)
    if first is not None and second is not None:
        difference = _to_rate(first.intercept) - _to_rate(second.intercept)
        without = to_rates(first.without) - to_rates(second.without)
        error = _jackknife_error(without, difference)
        if error is None:
            found = (reason_without_one(known, side) for side in sides)
            reason = next((each for each in found if each is not None), _DIVERGES)
        if tested and error is not None:
            interval = logit_t(difference, error, len(without) - 1, -1)
    return EqualLengthDifference(
        n=known.height,
        rate=rate,
        other=other,
        difference=difference,
        interval=interval,
        p=None,
        p_holm=None,
        only_first=None,
        only_second=None,
        reason=reason,
    )


def fit_tests(tests: pl.DataFrame, side: str = "", contexts: int | None = None) -> FitOrReason:
    """Fit distinct tests with LENGTHS and `passed`; those with an empty candidate are left out.

    Args:
        tests: The tests, with numbers of contexts.
        side: What the names of these columns end in.
        contexts: Number of contexts, of which some may have no tests; None means those with tests.
    """
    verdicts, x, numbers = _to_fit(tests, side)
    of_tests, compact = np.unique(numbers, return_inverse=True)
    if len(of_tests) < FEW_CONTEXTS:
        return FitOrReason(None, f"fewer than {FEW_CONTEXTS} independent contexts")
    if (reason := _reason_against(verdicts, x)) is not None:
        return FitOrReason(None, reason)
    if contexts is None:
        numbers, contexts = compact, len(of_tests)
    return FitOrReason(fit_logistic(verdicts, x, numbers, contexts), None)


def reason_without_one(tests: pl.DataFrame, side: str = "") -> str | None:
    """Return why there is no fit without one of the contexts, or None if there always is one.

    The arguments are those of `fit_tests`, which has fitted the tests.
    """
    verdicts, x, numbers = _to_fit(tests, side)
    names, compact = np.unique(numbers, return_inverse=True)
    for number in np.flatnonzero(separated_without(verdicts, x, compact, len(names))):
        rest = compact != number
        return f"{_WITHOUT_ONE}{_reason_against(verdicts[rest], x[rest])}"
    return None


def _to_fit(
    tests: pl.DataFrame, side: str
) -> tuple[npt.NDArray[np.bool_], FloatArray, npt.NDArray[np.intp]]:
    """Return verdicts, log-ratios of lengths and numbers of contexts, where lengths are known."""
    known = tests.filter(_are_known(side))
    high, low = (known[f"{name}{side}"].to_numpy() for name in LENGTHS)
    x: FloatArray = np.log(high / low)
    return known[f"passed{side}"].to_numpy(), x, known[CLUSTER_NUMBER].to_numpy().astype(np.intp)


def _reason_against(verdicts: npt.NDArray[np.bool_], x: FloatArray) -> str | None:
    if verdicts.all() or not verdicts.any():
        return f"{'all' if verdicts.any() else 'no'} tests pass"
    if x.min() == x.max():
        return "lengths are in the same ratio in all tests"
    if is_separated(verdicts, x):
        return "length alone separates passes from failures"
    return None


def to_rates(intercepts: FloatArray) -> FloatArray:
    """Return the rates at equal length for log-odds."""
    rates: FloatArray = 0.5 + 0.5 * np.tanh(intercepts / 2)
    return rates


def _interval(fit: LogisticFit) -> Interval | None:
    from scipy.special import stdtrit  # noqa: PLC0415 - slow to import

    error = _jackknife_error(fit.without, fit.intercept)
    if error is None:
        return None
    reach = float(stdtrit(len(fit.without) - 1, 0.975)) * error
    return _to_rate(fit.intercept - reach), _to_rate(fit.intercept + reach)


def _jackknife_error(without: FloatArray, value: float) -> float | None:
    """Return the standard error of a value from those without each context; None if one is nan."""
    if not np.isfinite(without).all():
        return None
    n = len(without)
    return math.sqrt((n - 1) / n * math.fsum((without - value) ** 2))


def _are_known(side: str = "") -> pl.Expr:
    return pl.min_horizontal(f"{name}{side}" for name in LENGTHS) > 0


def _are_near() -> pl.Expr:
    larger, smaller = pl.max_horizontal(*LENGTHS), pl.min_horizontal(*LENGTHS)
    return larger - smaller <= NEAR * larger


def _to_rate(intercept: float) -> float:
    return 0.5 + 0.5 * math.tanh(intercept / 2)
