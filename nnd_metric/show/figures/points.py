"""The points of a figure of agreement: pass rate and human score of each judged model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import polars as pl

from nnd.metric.data import human_scores_for
from nnd.metric.numbers import Agreement, PassRates
from nnd.schemas import category_of


class JudgedRate(NamedTuple):
    """The pass rate of a model, and the human score of its system; None if unknown."""

    pass_rate: float
    interval: tuple[float, float] | None
    n: int | None
    human_score: float


@dataclass(frozen=True, slots=True)
class Points:
    """The models of one category, or of all tests; `category` is a key of the agreement.

    `judged` gives model → its rate and its human score, `unjudged` other model → its pass rate.
    `agreement` is that of the category (`CategoryAgreement.to_dict`).
    """

    category: str
    judged: Mapping[str, JudgedRate]
    unjudged: Mapping[str, float]
    agreement: Mapping[str, Any]


def find_points(
    rates: Mapping[str, PassRates], found: Agreement, human_scores: pl.DataFrame, column: str
) -> Sequence[Points]:
    """Return the points of every category of an agreement."""
    points = []
    for category, agreement in found.to_dict()["by_category"].items():
        name, scores = category_of(category), human_scores_for(human_scores, category)
        judged, unjudged = {}, {}
        for model, of in rates.items():
            rate = of.overall if name is None else of.by[column].get(name)
            if rate is None or rate.pass_rate is None:
                continue
            if (system := found.systems.get(model)) in scores:
                score = scores[system]
                judged[model] = JudgedRate(rate.pass_rate, rate.interval, rate.n, score)
            else:
                unjudged[model] = rate.pass_rate
        points.append(Points(category, judged, unjudged, agreement))
    return points
