"""The figures of a report, as far as there is data for them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from nnd.metric.show.drawing.marks import Drawing
from nnd.metric.show.drawing.theme import style
from nnd.metric.show.figures.agreement import draw_agreement
from nnd.metric.show.figures.changes import draw_effects
from nnd.metric.show.figures.comparison import draw_comparison
from nnd.metric.show.figures.extrapolation import draw_extrapolation
from nnd.metric.show.figures.forest import draw_forest
from nnd.metric.show.figures.groups import main_groups
from nnd.metric.show.figures.heat_map import draw_heat_map
from nnd.metric.show.figures.scaling import draw_scaling
from nnd.metric.show.reports.content.report_content import Content


class Figures(NamedTuple):
    """The figures of a report.

    Attributes:
        parts: Part of the report → its figures.
        stacked: Name → the same figure with its panels one below the other, for narrow screens;
            of those figures alone that have panels beside each other.
    """

    parts: Mapping[str, Sequence[Drawing]]
    stacked: Mapping[str, Drawing]

    def all(self) -> list[Drawing]:
        """Return every figure once, in the order of the report."""
        return [drawing for part in self.parts.values() for drawing in part]


def draw_figures(content: Content) -> Figures:
    """Draw the figures for the content of a report."""
    with style():
        forest, agreement = _forest(content), _agreement(content)
        scaling, slices = _scaling(content), _slices(content)
        parts = {
            "rates": [*forest, _heat_map(content)],
            "slices": slices,
            "agreement": agreement,
            "comparisons": _comparisons(content),
            "effects": _effects(content),
            "scaling": scaling,
        }
        return Figures(parts, dict(_stacked([*forest, *slices, *agreement, *scaling], content)))


def _stacked(usual: Sequence[Drawing], content: Content) -> Iterator[tuple[str, Drawing]]:
    stacked = [
        each
        for draw in (_forest, _slices, _agreement, _scaling)
        for each in draw(content, stacked=True)
    ]
    for wide, narrow in zip(usual, stacked, strict=True):
        if tuple(wide.figure.get_size_inches()) != tuple(narrow.figure.get_size_inches()):
            yield wide.name, narrow


def _forest(content: Content, *, stacked: bool = False) -> list[Drawing]:
    return [draw_forest(*_named(content), main_groups(content.groups), stacked=stacked)]


def _heat_map(content: Content) -> Drawing:
    return draw_heat_map(*_named(content), main_groups(content.groups))


def _slices(content: Content, *, stacked: bool = False) -> list[Drawing]:
    return [] if content.slices is None else [content.slices.drawing(stacked=stacked)]


def _named(content: Content) -> tuple[list[str], list[str]]:
    return [each.name for each in content.models], [each.model for each in content.models]


def _agreement(content: Content, *, stacked: bool = False) -> list[Drawing]:
    names = {each.model: each.name for each in content.models}
    points = [each for each in content.points if each.judged]
    lines = [each for each in points if each.agreement["extrapolation"]["line"] is not None]
    drawings = [draw_agreement(names, points, stacked=stacked)] if points else []
    return [*drawings, draw_extrapolation(names, lines, stacked=stacked)] if lines else drawings


def _comparisons(content: Content) -> list[Drawing]:
    models = [each.model for each in content.models]
    drawings = [
        draw_comparison(
            each.found,
            places=(each.a, each.b),
            models=(models[each.a], models[each.b]),
            number=number,
        )
        for number, each in enumerate(content.comparisons)
    ]
    return [drawing for drawing in drawings if drawing is not None]


def _effects(content: Content) -> list[Drawing]:
    if content.effects is None:
        return []
    drawing = draw_effects({each.model: each.name for each in content.models}, content.effects)
    return [] if drawing is None else [drawing]


def _scaling(content: Content, *, stacked: bool = False) -> list[Drawing]:
    sizes = {each.model: each.parameters for each in content.models}
    known = {model: size for model, size in sizes.items() if size is not None}
    least = 2 if content.families else 3  # two models without a family differ in more than size
    if len(set(known.values())) < least:
        return []
    names = {each.model: each.name for each in content.models}
    groups = main_groups(content.groups)
    return [draw_scaling(names, groups, known, content.families, stacked=stacked)]
