"""The picture of each type of result. Types are known by name, as in `result_tables`."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from nnd.metric.numbers import short_names
from nnd.metric.show.drawing.marks import Drawing
from nnd.metric.show.drawing.theme import style
from nnd.metric.show.figures.changes import draw_flips
from nnd.metric.show.figures.comparison import draw_comparison, draw_comparisons
from nnd.metric.show.figures.forest import draw_forest
from nnd.metric.show.figures.groups import RateGroup, find_groups
from nnd.metric.show.figures.metric_agreement import draw_metrics
from nnd.metric.show.figures.points import JudgedRate, Points
from nnd.metric.show.figures.scatter import draw_agreement
from nnd.schemas import OVERALL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nnd.metric.numbers import Agreement, Comparisons, Slices
    from nnd.metric.run import Evaluation

_ROOM = 1.15
"""Inches for names of slices, which are long."""


def drawing(result: object) -> Drawing | None:
    """Return the picture of a result with its caption and numbers, or None if it has none."""
    draw = _DRAWINGS.get(type(result).__name__)
    if draw is None:
        return None
    with style():
        return draw(result)


def draw_slices(slices: "Slices", *, stacked: bool = False) -> Drawing:
    """Draw the pass rates by slice with their intervals, all tests first."""
    groups = [RateGroup("", OVERALL, [*slices.overall.values()])]
    groups += [
        RateGroup("slice", each.name, [of_model.rate for of_model in each.models.values()])
        for each in slices.slices
        if each.n
    ]
    return draw_forest(
        _names([*slices.overall]),
        groups,
        name="slices",
        title="Pass rates by slice",
        shortest=_ROOM,
        stacked=stacked,
    )


def _agreement(agreement: "Agreement") -> Drawing | None:
    points = [
        Points(
            category,
            {
                model: JudgedRate(of.pass_rate, None, of.n, of.human_score)
                for model, of in correlations.judged.items()
            },
            {},
            correlations.to_dict(),
        )
        for category, correlations in agreement.by_category.items()
        if correlations.judged
    ]
    if not points or not agreement.of_pass_rates:
        return None
    return draw_agreement(_names([*agreement.systems]), points)


def _comparisons(comparisons: "Comparisons") -> Drawing | None:
    if len(comparisons) == 1:
        return draw_comparison(comparisons[0])
    if len(comparisons.by_data()) > 1:  # `by_data` has a figure for each
        return None
    return draw_comparisons(comparisons.comparisons)


def _evaluation(evaluation: "Evaluation") -> Drawing:
    results = evaluation.best_first()
    groups = find_groups([each.rates for each in results])
    return draw_forest(_names([each.model for each in results]), groups)


def _names(models: "Sequence[str]") -> dict[str, str]:
    return dict(zip(models, short_names(models), strict=True))


_DRAWINGS: Mapping[str, Callable[[Any], Drawing | None]] = {
    "Agreement": _agreement,
    "Comparison": draw_comparison,
    "Comparisons": _comparisons,
    "Evaluation": _evaluation,
    "MetricTable": draw_metrics,
    "Slices": draw_slices,
    "Variation": draw_flips,
}
