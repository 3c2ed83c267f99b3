"""What people would say of a system they have not judged, read off its pass rate.

Over the models that have both, the human score is fitted by a line in the pass rate,

    score = intercept + slope * rate,

by least squares. A model at rate x that was not judged is predicted the score on the line, within

    +- t * s * sqrt(1 + 1 / n + (x - mean)^2 / sum_i (x_i - mean)^2),

t the 97.5th percentile of Student's distribution with n - 2 degrees of freedom and s^2 the squared
residuals over n - 2 (Weisberg 2005, Applied linear regression, 3rd edition, section 2.8.3). This is
the interval of one new score, not of the line; it takes residuals for normal, independent and of
one size, which a handful of systems cannot prove, and the new system for one of the same kind.

The leave-one-out error asks the data instead: each judged model is predicted from the others. For a
line that is residual / (1 - leverage) (Allen 1974, Technometrics 16(1), 125-127). Beside it stands
the error of guessing the mean human score of the others: a line that does no better tells nothing.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from nnd.metric.statistics.intervals import FloatArray
from nnd.schemas import ScoringError

Position = Literal["within", "below", "above"]

FEWEST_SYSTEMS = 4
"""Below, a line has at most one degree of freedom left to say how wrong it is."""

ROUNDING = 1e-9
"""A leverage is less than this away from 1 only where it is 1."""


@dataclass(frozen=True, slots=True)
class Line:
    """A least-squares line of human scores in pass rates.

    Attributes:
        intercept: Human score at a pass rate of 0.
        slope: Change of the human score per 1.0 of pass rate.
        residual_sd: s above, in units of the human score.
        lowest: Lowest pass rate seen,
        highest: and the highest.
        rmse: Root mean square leave-one-out error; None where leaving one out leaves no line.
        mean_absolute_error: Mean absolute leave-one-out error; None likewise.
        rmse_of_mean: Root mean square error of guessing the mean score of the others.
    """

    intercept: float
    slope: float
    residual_sd: float
    lowest: float
    highest: float
    rmse: float | None
    mean_absolute_error: float | None
    rmse_of_mean: float


@dataclass(frozen=True, slots=True)
class Prediction:
    """The human score predicted for a model that was not judged.

    Attributes:
        model: Its name.
        pass_rate: Its pass rate.
        score: Predicted human score; scales have ends, lines have none.
        interval: 95 % prediction interval.
        position: Where the pass rate lies: within the range seen, below or above it. Outside, that
            the line goes on is an assumption.
    """

    model: str
    pass_rate: float
    score: float
    interval: tuple[float, float]
    position: Position


@dataclass(frozen=True, slots=True)
class Extrapolation:
    """Human scores read off pass rates, in one category.

    Attributes:
        n: Models with both scores.
        line: Fitted to them; None where there cannot be one.
        reason: Why there is no line, or None.
        predictions: For the models with a pass rate only.
    """

    n: int
    line: Line | None
    reason: str | None
    predictions: Sequence[Prediction]

    def to_dict(self) -> dict[str, Any]:
        """Return plain lists, strings and numbers, ready for JSON."""
        return {
            "n": self.n,
            "line": None if self.line is None else asdict(self.line),
            "reason": self.reason,
            "predictions": [
                {**asdict(each), "interval": list(each.interval)} for each in self.predictions
            ],
        }


def extrapolate(
    rates: Sequence[float], scores: Sequence[float], unjudged: Mapping[str, float]
) -> Extrapolation:
    """Predict the human scores of unjudged models from those of the judged ones.

    Args:
        rates: Pass rates of the judged models, fractions of 1.
        scores: Their human scores, in the same order.
        unjudged: Other models and their pass rates.

    Returns:
        The line and the predictions; or, below `FEWEST_SYSTEMS` judged models or without
        differences between them, the reason why there are none.

    Raises:
        ScoringError: If the lists differ in length or a number is not finite.
    """
    x, y = np.asarray(rates, dtype=np.float64), np.asarray(scores, dtype=np.float64)
    if x.shape != y.shape:
        raise ScoringError(f"{x.size} pass rates and {y.size} human scores cannot be fitted")
    if not np.isfinite([*x, *y, *unjudged.values()]).all():
        raise ScoringError(
            "a line needs finite pass rates and human scores; leave the system out and count it as "
            "dropped"
        )
    reason = _reason_against(x, y)
    if reason is not None:
        return Extrapolation(len(x), None, reason, ())
    line = _fit(x, y)
    predictions = [_predict(line, x, model, rate) for model, rate in unjudged.items()]
    return Extrapolation(len(x), line, None, predictions)


def _reason_against(x: FloatArray, y: FloatArray) -> str | None:
    if len(x) < FEWEST_SYSTEMS:
        return f"a line needs at least {FEWEST_SYSTEMS} judged models, there are {len(x)}"
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
    left_out = None
    # If only one system differs in its rate, there is no line without it.
    if remainders.min() > ROUNDING:
        left_out = residuals / remainders
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


def _predict(line: Line, x: FloatArray, model: str, rate: float) -> Prediction:
    from scipy.special import stdtrit  # noqa: PLC0415 - slow, and few runs have unjudged models

    n, from_mean = len(x), x - x.mean()
    score = line.intercept + line.slope * rate
    spread = 1 + 1 / n + (rate - x.mean()) ** 2 / (from_mean @ from_mean)
    reach = float(stdtrit(n - 2, 0.975)) * line.residual_sd * math.sqrt(spread)
    position: Position = "within"
    if not line.lowest <= rate <= line.highest:
        position = "below" if rate < line.lowest else "above"
    return Prediction(model, rate, score, (score - reach, score + reach), position)
