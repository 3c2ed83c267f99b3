"""Two models on the same pairs: the lead in each category, the largest first."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nnd.metric.numbers import short_names, spoken
from nnd.metric.show.drawing.marks import Drawing
from nnd.metric.show.figures.differences import AxisEnds, Bar, draw_differences
from nnd.schemas import OVERALL, category_key

if TYPE_CHECKING:
    from nnd.metric.numbers import Comparison

CAPTION = (
    "Difference of the pass rates in points with its 95 % interval (paired, over independent "
    "contexts). Filled: the interval excludes 0, and p, of sign flips over these, is below 0.05 "
    "after Holm's adjustment over the categories. Open: the difference is not significant."
)


def draw_comparison(
    comparison: "Comparison",
    *,
    places: tuple[int, int] = (0, 1),
    models: Sequence[str] = (),
    number: int = 0,
) -> Drawing | None:
    """Draw the differences of two models: overall, and by the first column with several values.

    Args:
        comparison: The comparison.
        places: Number of each model among those of the report.
        models: Full names of both, if they are not the labels of the comparison.
        number: Number of the comparison in the report, from 0.
    """
    by = next((by for by in comparison.by.values() if len(by) > 1), {})
    values = [value for value, each in by.items() if each.difference is not None]
    values.sort(key=lambda value: -(by[value].difference or 0.0))
    rows = {OVERALL: comparison.overall} | {category_key(value): by[value] for value in values}
    first, second = short_names(comparison.labels)
    bars = [
        Bar(spoken(value), each, *places, words=_better(first, second))
        for value, each in rows.items()
        if each.difference is not None
    ]
    labels = dict(zip(("first", "second"), models or comparison.labels, strict=True))
    data = [{**labels, "category": value, **each.to_dict()} for value, each in rows.items()]
    return draw_differences(
        (f"comparison_{number + 1}", f"{first} against {second}", CAPTION),
        AxisEnds(first, second),
        [("", bars[:1]), ("", bars[1:])],
        data,
    )


def draw_comparisons(comparisons: Sequence["Comparison"]) -> Drawing | None:
    """Draw the differences of several models over all tests, a row for every two models."""
    models = list(dict.fromkeys(label for each in comparisons for label in each.labels))
    names = short_names(models)
    bars = []
    for each in comparisons:
        at = [models.index(label) for label in each.labels]
        first, second = (names[place] for place in at)
        if each.overall.difference is not None:
            label, words = f"{first} against {second}", _better(first, second)
            bars.append(Bar(label, each.overall, at[0], at[1], words))
    data = [
        {"first": each.first, "second": each.second, **each.overall.to_dict()}
        for each in comparisons
    ]
    return draw_differences(
        ("comparisons", "Differences of pass rates", CAPTION),
        AxisEnds("the first", "the second"),
        [("", bars)],
        data,
    )


def _better(first: str, second: str) -> tuple[str, str]:
    return f"{first} is better", f"{second} is better"
