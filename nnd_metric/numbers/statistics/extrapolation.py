"""Predict the human score of a model that people have not judged from its pass rate.

A line is fitted by least squares to the models that have both a human score and a pass rate:

    score = intercept + slope * rate

The predicted score of another model, with rate x, is on the line; its 95 % prediction interval is

    +- t * s * sqrt(1 + 1 / n + (x - mean)^2 / sum_i (x_i - mean)^2),

where t is the 97.5th percentile of Student's t distribution with n - 2 degrees of freedom, and s^2
the sum of the squared residuals divided by n - 2 (Weisberg 2005, Applied linear regression, 3rd
edition, section 2.8.3). This is the interval of one new score, not of the line. It assumes normal,
independent residuals of equal variance, which cannot be verified with a few systems, and a new
system of the same kind. If all judged models are on the line, nothing shows how far another one
may be from it, and there is no interval.

The leave-one-out error does not need these assumptions: each judged model is predicted from the
others. For a line, this error is residual / (1 - leverage) (Allen 1974, Technometrics 16(1),
125-127). It is compared with the error of guessing the mean human score of the others: a line with
a larger error is useless.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np

from nnd.metric.numbers.statistics.intervals import FloatArray, Interval
from nnd.schemas import SPARSE, Amount, Count, Record

Position = Literal["within", "below", "above"]

FEWEST_SYSTEMS = 4
"""With fewer systems, at most one degree of freedom remains to estimate the error of the line."""

ROUNDING = 1e-9
"""A leverage this close to 1 is 1, and residuals below this share of the range of scores are 0."""

ON_THE_LINE = "all judged models are exactly on the line"


@dataclass(frozen=True, slots=True)
class Line(Record):
    """A least-squares line of human scores in pass rates.

    Attributes:
        intercept: Human score at a pass rate of 0.
        slope: Change of the human score per 1.0 of pass rate.
        residual_sd: Residual standard deviation (s), in units of the human score.
        lowest: Lowest pass rate of the judged models; of other metrics, lowest mean of a system.
        highest: Highest pass rate, or mean likewise.
        rmse: Root mean square leave-one-out error; None if the line depends on one system.
        mean_absolute_error: Mean absolute leave-one-out error; None in the same case.
        rmse_of_mean: Root mean square error of guessing the mean score of the others.
    """

    intercept: float
    slope: float
    residual_sd: Amount
    lowest: float
    highest: float
    rmse: Amount | None
    mean_absolute_error: Amount | None
    rmse_of_mean: Amount


@dataclass(frozen=True, slots=True)
class Prediction(Record):
    """The human score predicted for a model that was not judged.

    Attributes:
        model: Its name.
        pass_rate: Its pass rate.
        score: Predicted human score, which may be outside of the scale.
        interval: 95 % prediction interval; None if all judged models are on the line.
        position: Position of the pass rate: within the range of the judged models, below or above
            it. Outside of the range, it is an assumption that the line continues.
        interval_reason: Why there is no interval; None if there is one, and in older results.
    """

    model: str
    pass_rate: float
    score: float
    interval: Interval | None
    position: Position
    interval_reason: Annotated[str | None, SPARSE] = None


@dataclass(frozen=True, slots=True)
class Extrapolation(Record):
    """Human scores predicted from pass rates, in one category.

    Attributes:
        n: Models with both scores.
        line: The fitted line, or None if it is undefined.
        reason: The reason why it is undefined, or None.
        predictions: Predictions for the models without a human score.
    """

    n: Count
    line: Line | None
    reason: str | None
    predictions: Sequence[Prediction]


def extrapolate(
    rates: Sequence[float], scores: Sequence[float], unjudged: Mapping[str, float]
) -> Extrapolation:
    """Predict the human scores of unjudged models from those of the judged ones.

    `rates` (0 to 1) and `scores` are those of the judged models, in the same order. For fewer than
    `FEWEST_SYSTEMS` judged models, or if they do not differ, the result is the reason why the line
    is undefined.
    """
    x, y = np.asarray(rates, dtype=np.float64), np.asarray(scores, dtype=np.float64)
    reason = _reason_against(x, y)
    if reason is not None:
        return Extrapolation(len(x), None, reason, ())
    line = _fit(x, y)
    reason = ON_THE_LINE if line.residual_sd <= ROUNDING * float(np.ptp(y)) else None
    predictions = [_predict(line, x, model, rate, reason) for model, rate in unjudged.items()]
    return Extrapolation(len(x), line, None, predictions)


def _reason_against(x: FloatArray, y: FloatArray) -> str | None:
    if len(x) < FEWEST_SYSTEMS:
        return f"a line needs at least {FEWEST_SYSTEMS} judged models, not {len(x)}"
    if np.ptp(x) == 0:
        return "all pass rates are equal"
    if np.ptp(y) == 0:
        return "all human scores are equal"
    return None


def _fit(x: FloatArray, y: FloatArray) -> Line:
    n, from_mean = len(x), x - x.mean()
    squares = from_mean @ from_mean
    slope = from_mean @ (y - y.mean()) / squares
    intercept = y.mean() - slope * x.mean()
    residuals = y - intercept - slope * x
    remainders = 1 - (1 / n + from_mean**2 / squares)  # one minus leverage
    # If all systems but one have the same rate, the line is undefined without that one.
    left_out = residuals / remainders if remainders.min() > ROUNDING else None
    return Line(
        intercept=float(intercept),
        slope=float(slope),
        residual_sd=math.sqrt(residuals @ residuals / (n - 2)),
        lowest=float(x.min()),
        highest=float(x.max()),
        rmse=None if left_out is None else math.sqrt(np.mean(left_out**2)),
        mean_absolute_error=None if left_out is None else float(np.mean(np.abs(left_out))),
        rmse_of_mean=math.sqrt(np.mean(((y - y.mean()) * n / (n - 1)) ** 2)),
    )


def _predict(line: Line, x: FloatArray, model: str, rate: float, against: str | None) -> Prediction:
    score = line.intercept + line.slope * rate
    position: Position = "within"
    if not line.lowest <= rate <= line.highest:
        position = "below" if rate < line.lowest else "above"
    if against is not None:
        return Prediction(model, rate, score, None, position, against)
    reach = _reach(line, x, rate)
    return Prediction(model, rate, score, (score - reach, score + reach), position)


def _reach(line: Line, x: FloatArray, rate: float) -> float:
    from scipy.special import stdtrit  # noqa: PLC0415 - slow to import, rarely needed

    n, from_mean = len(x), x - x.mean()
    spread = 1 + 1 / n + (rate - x.mean()) ** 2 / (from_mean @ from_mean)
    return float(stdtrit(n - 2, 0.975)) * line.residual_sd * math.sqrt(spread)
