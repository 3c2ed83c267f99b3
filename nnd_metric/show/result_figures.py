"""The picture of each type of result. Types are known by name, as in `result_tables`."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from nnd.metric.data import OVERALL
from nnd.metric.numbers import short_names
from nnd.metric.show.drawing.marks import Drawing
from nnd.metric.show.drawing.theme import style
from nnd.metric.show.figures.agreement import draw_agreement
from nnd.metric.show.figures.changes import draw_flips
from nnd.metric.show.figures.comparison import draw_comparison, draw_comparisons
from nnd.metric.show.figures.forest import draw_forest
from nnd.metric.show.figures.groups import RateGroup, find_groups, main_groups
from nnd.metric.show.figures.points import Points

if TYPE_CHECKING:
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
    """Draw the pass rates by slice with their intervals, all tests first.

    Args:
        slices: The slices.
        stacked: Whether to keep one column, however long, for narrow screens.
    """
    groups = [RateGroup("", OVERALL, [rate.to_dict() for rate in slices.overall.values()])]
    groups += [
        RateGroup(
            "slice", each.name, [of_model.rate.to_dict() for of_model in each.models.values()]
        )
        for each in slices.slices
        if each.n
    ]
    return draw_forest(
        short_names([*slices.overall]),
        [*slices.overall],
        groups,
        name="slices",
        title="Pass rates by slice",
        shortest=_ROOM,
        stacked=stacked,
    )


def _agreement(agreement: "Agreement") -> Drawing | None:
    """Draw human scores against pass rates, by category."""
    by_category = agreement.to_dict()["by_category"]
    points = [
        Points(
            category,
            {
                model: (
                    {"pass_rate": of.pass_rate, "n": of.n, "interval": None, "wilson": None},
                    of.human_score,
                )
                for model, of in correlations.judged.items()
            },
            {},
            by_category[category],
        )
        for category, correlations in agreement.by_category.items()
        if correlations.judged
    ]
    if not points or not agreement.of_pass_rates:
        return None
    models = list(agreement.systems)
    return draw_agreement(dict(zip(models, short_names(models), strict=True)), points)


def _comparisons(comparisons: "Comparisons") -> Drawing | None:
    """Draw the differences by category; for several comparisons, those over all tests.

    For several datasets there is no figure; `by_data` has one for each.
    """
    if len(comparisons) == 1:
        return draw_comparison(comparisons[0])
    if len(comparisons.by_data()) > 1:
        return None
    return draw_comparisons(comparisons.comparisons)


def _evaluation(evaluation: "Evaluation") -> Drawing:
    results = evaluation.best_first()
    models = [each.model for each in results]
    groups = main_groups(find_groups([each.rates for each in results]))
    return draw_forest(short_names(models), models, groups)


_DRAWINGS: Mapping[str, Callable[[Any], Drawing | None]] = {
    "Agreement": _agreement,
    "Comparison": draw_comparison,
    "Comparisons": _comparisons,
    "Evaluation": _evaluation,
    "Slices": draw_slices,
    "Variation": draw_flips,
}
