"""Two models on the same pairs: the lead in each category, the largest first."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from matplotlib.axes import Axes

from nnd.metric.data import OVERALL
from nnd.metric.numbers import percent, spoken
from nnd.metric.show.drawing.marks import Drawing, Mark
from nnd.metric.show.drawing.text_widths import fit, widest
from nnd.metric.show.drawing.theme import COLUMN, MUTED, PAPER, canvas, look
from nnd.metric.show.figures.difference_scale import MARGIN, TOP, Scale, draw_ground, scale_of

CAPTION = (
    "Difference of the pass rates in points with its 95 % interval (paired, over contexts). "
    "Filled: the interval excludes 0, and the exact McNemar p is below 0.05 after Holm's "
    "adjustment over the categories. Open: the difference is not significant."
)

_LABELS, _ROW, _FOOT = 1.3, 0.17, 0.36


class Side(NamedTuple):
    """One of the two models: its number in the report, and its name."""

    number: int
    name: str


def draw_comparison(
    a: Side, b: Side, column: str, found: Mapping[str, Any], *, number: int = 0
) -> Drawing:
    """Draw the differences of two models, overall and by category.

    Args:
        a: The first model.
        b: The second.
        column: Column of `results.SLICES` whose categories are shown.
        found: The comparison (`Comparison.to_dict`).
        number: Number of the comparison in the report, from 0.
    """
    by = found.get(f"by_{column}", {}) if column else {}
    compared = {value: each for value, each in by.items() if each["difference"] is not None}
    order = sorted(compared, key=lambda value: -compared[value]["difference"])
    rows = [("overall", found["overall"]), *((value, compared[value]) for value in order)]
    data = [{"a": found["a"], "b": found["b"], "category": value, **each} for value, each in rows]
    labelled = [_Row(spoken(value), each, (a, b)) for value, each in rows]
    title = f"{a.name} against {b.name}"
    return _draw(f"comparison_{number + 1}", title, labelled, (a.name, b.name), data)


def draw_comparisons(sides: Mapping[str, Side], found: Sequence[Mapping[str, Any]]) -> Drawing:
    """Draw the differences of several models over all tests, a row for every two models.

    Args:
        sides: Model → its number and name.
        found: The comparisons of every two models (`Comparison.to_dict`).
    """
    rows = [
        _Row(f"{a.name} against {b.name}", each["overall"], (a, b))
        for each in found
        for a, b in [(sides[each["a"]], sides[each["b"]])]
        if each["overall"]["difference"] is not None
    ]
    data = [{"a": each["a"], "b": each["b"], **each["overall"]} for each in found]
    title = "Differences of pass rates"
    return _draw("comparisons", title, rows, ("the first", "the second"), data)


class _Row(NamedTuple):
    """A difference, its label, and the two models."""

    label: str
    found: Mapping[str, Any]
    sides: tuple[Side, Side]


def _draw(
    name: str,
    title: str,
    rows: Sequence[_Row],
    ends: tuple[str, str],
    data: Sequence[dict[str, Any]],
) -> Drawing:
    """Draw differences below each other; `ends` names the leaders to the right and left."""
    gap = 0.06 if rows[0].label == OVERALL else 0.0  # beneath it
    bottom = TOP + len(rows) * _ROW + gap
    figure, axes = canvas(COLUMN, bottom + _FOOT)
    drawing = Drawing(name, title, CAPTION, figure, data)
    labels = widest([row.label for row in rows], _LABELS)
    scale = scale_of([row.found for row in rows], MARGIN + labels + 0.1)
    draw_ground(axes, scale, ends, bottom)
    for place, row in enumerate(rows):
        y = TOP + (place + 0.5) * _ROW + (gap if place else 0)
        _draw_row(drawing, axes, scale, row, (y, labels))
    return drawing


def _draw_row(
    drawing: Drawing,
    axes: Axes,
    scale: Scale,
    row: _Row,
    place: tuple[float, float],
) -> None:
    (label, each, sides), (y, labels) = row, place
    weight = "bold" if label == OVERALL else "normal"
    axes.text(MARGIN, y, fit(label, labels), va="center_baseline", weight=weight)
    axes.text(COLUMN - MARGIN, y, f"{each['n']:,}", ha="right", va="center_baseline", color=MUTED)
    better = {"a": sides[0], "b": sides[1]}.get(each["verdict"])
    colour, marker = (MUTED, "o") if better is None else look(better.number)
    if each["interval"] is not None:
        ends = [scale.at(bound) for bound in each["interval"]]
        axes.plot(ends, [y] * 2, color=colour, lw=1.2, zorder=2)
    x = scale.at(each["difference"])
    (dot,) = axes.plot(
        [x],
        [y],
        marker,
        ms=4.5,
        mfc=PAPER if better is None else colour,
        mec=MUTED if better is None else PAPER,
        mew=0.8 if better is None else 0.4,
        zorder=3,
    )
    p = each["p"] if each["p_holm"] is None else each["p_holm"]
    low_high = each["interval"]
    interval = "" if low_high is None else f" [{percent(low_high[0])}, {percent(low_high[1])}]"
    verdict = "not significant" if better is None else f"{better.name} is better"
    tested = "not tested" if p is None else f"p {p:.3g}: {verdict}"
    text = f"{label}: {percent(each['difference'])} points{interval} of {each['n']:,}, {tested}"
    drawing.tag(dot, Mark(text))
