"""The figures of a report, as far as there is data for them."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from nnd.metric.show.drawing.marks import Drawing
from nnd.metric.show.drawing.theme import style
from nnd.metric.show.figures.changes import draw_effects
from nnd.metric.show.figures.comparison import draw_comparison
from nnd.metric.show.figures.extrapolation import draw_extrapolation
from nnd.metric.show.figures.forest import draw_forest
from nnd.metric.show.figures.heat_map import draw_heat_map
from nnd.metric.show.figures.scaling import draw_scaling
from nnd.metric.show.figures.scatter import draw_agreement
from nnd.metric.show.reports.content.report_content import ReportContent
from nnd.metric.show.result_figures import draw_slices


class Figures(NamedTuple):
    """The figures of a report.

    Attributes:
        parts: Part of the report (rates, slices, agreement, comparisons, effects, scaling) → its
            figures.
        stacked: Name → the same figure with its panels one below the other, for narrow screens;
            of those figures alone that have panels beside each other.
    """

    parts: Mapping[str, Sequence[Drawing]]
    stacked: Mapping[str, Drawing]

    def all(self) -> list[Drawing]:
        """Return every figure once, in the order of the report."""
        return [drawing for part in self.parts.values() for drawing in part]


def draw_figures(content: ReportContent) -> Figures:
    """Draw the figures for the content of a report."""
    names = {each.model: each.name for each in content.models}
    with style():
        wide, narrow = (_foldable(content, names, stacked=stacked) for stacked in (False, True))
        effects = content.effects and draw_effects(names, content.effects)
        parts = {
            "rates": [*wide["rates"], draw_heat_map(names, content.groups)],
            "slices": wide["slices"],
            "agreement": wide["agreement"],
            "comparisons": _comparisons(content),
            "effects": [effects] if effects else [],
            "scaling": wide["scaling"],
        }
    both = [two for part in wide for two in zip(wide[part], narrow[part], strict=True)]
    return Figures(parts, {a.name: b for a, b in both if _size(a) != _size(b)})


def _size(drawing: Drawing) -> tuple[float, ...]:
    return tuple(drawing.figure.get_size_inches())


def _foldable(
    content: ReportContent, names: Mapping[str, str], *, stacked: bool
) -> dict[str, list[Drawing]]:
    """Return the figures whose panels can be stacked, by the part that they belong to."""
    points = [each for each in content.points if each.judged]
    lines = [each for each in points if each.agreement["extrapolation"]["line"] is not None]
    sizes = {each.model: each.parameters for each in content.models if each.parameters is not None}
    least = 2 if content.families else 3  # two models without a family differ in more than size
    drawn = {
        "rates": [draw_forest(names, content.groups, stacked=stacked)],
        "slices": [] if content.slices is None else [draw_slices(content.slices, stacked=stacked)],
        "agreement": [draw_agreement(names, points, stacked=stacked)] if points else [],
        "scaling": [],
    }
    if lines:
        drawn["agreement"].append(draw_extrapolation(names, lines, stacked=stacked))
    if len({*sizes.values()}) >= least:
        scaling = draw_scaling(names, content.groups, sizes, content.families, stacked=stacked)
        drawn["scaling"].append(scaling)
    return drawn


def _comparisons(content: ReportContent) -> list[Drawing]:
    models = [each.model for each in content.models]
    drawings = [
        draw_comparison(both, places=(a, b), models=(models[a], models[b]), number=number)
        for number, (a, b, both) in enumerate(content.comparisons)
    ]
    return [drawing for drawing in drawings if drawing is not None]
