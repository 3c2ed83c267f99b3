"""The points of a figure of agreement: pass rate and human score of each judged model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from nnd.metric.data import OVERALL, human_scores_for
from nnd.metric.numbers import Agreement, PassRates


@dataclass(frozen=True, slots=True)
class Points:
    """The models of one category.

    Attributes:
        category: "overall", or the category.
        judged: Model → its rate (`Rate.to_dict`) and its human score.
        unjudged: Model → its rate, for models that were not judged.
        agreement: The agreement in the category (`agreement.CategoryAgreement`).
    """

    category: str
    judged: Mapping[str, tuple[Mapping[str, Any], float]]
    unjudged: Mapping[str, Mapping[str, Any]]
    agreement: Mapping[str, Any]


def find_points(
    rates: Mapping[str, PassRates], found: Agreement, human_scores: pl.DataFrame, column: str
) -> Sequence[Points]:
    """Return the points of every category of an agreement.

    Args:
        rates: Pass rates by model.
        found: Their agreement.
        human_scores: The human scores of the agreement.
        column: The column of its categories (`agree.category_column`).
    """
    points = []
    for category, agreement in found.to_dict()["by_category"].items():
        scores = human_scores_for(human_scores, category)
        of_models = {
            model: each.overall if category == OVERALL else each.by[column].get(category)
            for model, each in rates.items()
        }
        known = {m: r.to_dict() for m, r in of_models.items() if r and r.pass_rate is not None}
        judged = {m: r for m, r in known.items() if found.systems.get(m) in scores}
        points.append(
            Points(
                category,
                {model: (rate, scores[found.systems[model]]) for model, rate in judged.items()},
                {model: rate for model, rate in known.items() if model not in judged},
                agreement,
            )
        )
    return points
