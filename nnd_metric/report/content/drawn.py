"""The figures of a report: those for which it has something to show."""

from collections.abc import Sequence
from typing import NamedTuple

from nnd.metric.drawing import Drawing, style
from nnd.metric.figures import (
    Side,
    draw_agreement,
    draw_comparison,
    draw_extrapolation,
    draw_forest,
    draw_heat_map,
    draw_scaling,
    main_column,
    main_groups,
)
from nnd.metric.report.content import Content


class Figures(NamedTuple):
    """The figures by the part of the report they belong to."""

    rates: Sequence[Drawing]
    agreement: Sequence[Drawing]
    comparisons: Sequence[Drawing]
    scaling: Sequence[Drawing]

    def all(self) -> list[Drawing]:
        """Return every figure, in the order of the report."""
        return [drawing for part in self for drawing in part]


def draw_figures(content: Content) -> Figures:
    """Draw what the content of a report has to show."""
    with style():
        return Figures(
            _rates(content), _agreement(content), _comparisons(content), _scaling(content)
        )


def _rates(content: Content) -> list[Drawing]:
    names = [each.name for each in content.models]
    models = [each.model for each in content.models]
    groups = main_groups(content.groups)
    return [draw_forest(names, models, groups), draw_heat_map(names, models, groups)]


def _agreement(content: Content) -> list[Drawing]:
    names = {each.model: each.name for each in content.models}
    points = [each for each in content.points if each.judged]
    lines = [each for each in points if each.agreement["extrapolation"]["line"] is not None]
    drawings = [draw_agreement(names, points)] if points else []
    return [*drawings, draw_extrapolation(names, lines)] if lines else drawings


def _comparisons(content: Content) -> list[Drawing]:
    sides = {each.model: Side(at, each.name) for at, each in enumerate(content.models)}
    column = main_column(content.groups)
    return [
        draw_comparison(sides[each.a], sides[each.b], column, each.to_dict(), number=number)
        for number, each in enumerate(content.comparisons)
    ]


def _scaling(content: Content) -> list[Drawing]:
    sizes = {each.model: each.parameters for each in content.models}
    known = {model: size for model, size in sizes.items() if size is not None}
    least = 2 if content.families else 3  # two models of no family differ in more than size
    if len(set(known.values())) < least:
        return []
    names = {each.model: each.name for each in content.models}
    return [draw_scaling(names, main_groups(content.groups), known, content.families)]
