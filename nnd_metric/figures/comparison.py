"""Two models on the same pairs: by how much one leads in each category, the largest lead first."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from matplotlib.axes import Axes

from nnd.metric.data import OVERALL
from nnd.metric.drawing import (
    COLUMN,
    MINUS,
    MUTED,
    PAPER,
    RULE,
    Drawing,
    Mark,
    canvas,
    fit,
    look,
    spoken,
    widest,
)
from nnd.metric.statistics import percent

CAPTION = (
    "Difference of the pass rates in points with its 95 % interval (paired, over "
    "contexts). Filled: the interval leaves out 0 and the exact McNemar p, after Holm's adjustment "
    "over the categories, is below 0.05. Open: the data cannot tell."
)

_MARGIN, _LABELS, _RIGHT, _ROW, _TOP, _FOOT = 0.04, 1.3, 0.42, 0.17, 0.24, 0.36


class Side(NamedTuple):
    """One of the two models: its number in the report, and what to call it."""

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
        found: What was found (`compare.Comparison.to_dict`).
        number: Which of the report's comparisons this is, from 0.
    """
    by = found.get(f"by_{column}", {}) if column else {}
    told = {value: each for value, each in by.items() if each["difference"] is not None}
    order = sorted(told, key=lambda value: -told[value]["difference"])
    rows = [("overall", found["overall"]), *((value, told[value]) for value in order)]
    data = [{"a": found["a"], "b": found["b"], "category": value, **each} for value, each in rows]
    labelled = [_Row(spoken(value), each, (a, b)) for value, each in rows]
    title = f"{a.name} against {b.name}"
    return _draw(f"comparison_{number + 1}", title, labelled, (a.name, b.name), data)


def draw_comparisons(sides: Mapping[str, Side], found: Sequence[Mapping[str, Any]]) -> Drawing:
    """Draw the differences of several models over all tests, a row for each two of them.

    Args:
        sides: Model → its number and what to call it.
        found: What was found of each two (`compare.Comparison.to_dict`).
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
    """A difference, what to call it, and the two models it is between."""

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
    """Draw differences below each other; `ends` says who leads to the right and to the left."""
    gap = 0.06 if rows[0].label == OVERALL else 0.0  # beneath it
    bottom = _TOP + len(rows) * _ROW + gap
    figure, axes = canvas(COLUMN, bottom + _FOOT)
    drawing = Drawing(name, title, CAPTION, figure, data)
    labels = widest([row.label for row in rows], _LABELS)
    scale = _scale([row.found for row in rows], _MARGIN + labels + 0.1)
    _draw_ground(axes, scale, ends, bottom)
    for place, row in enumerate(rows):
        y = _TOP + (place + 0.5) * _ROW + (gap if place else 0)
        _draw_row(drawing, axes, scale, row, (y, labels))
    return drawing


class _Scale(NamedTuple):
    """Where differences are: the place of 0 in inches, inches per 1, and the largest shown."""

    zero: float
    unit: float
    reach: float

    def at(self, difference: float) -> float:
        return self.zero + difference * self.unit


def _scale(found: Sequence[Mapping[str, Any]], left: float) -> _Scale:
    bounds = [abs(bound) for each in found for bound in each["interval"] or [each["difference"]]]
    largest = max(bounds, default=0)
    reach = next(
        step for step in (0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 1) if largest <= step or step == 1
    )
    half = (COLUMN - _RIGHT - left) / 2
    return _Scale(left + half, half / reach, reach)


def _draw_ground(axes: Axes, scale: _Scale, names: tuple[str, str], bottom: float) -> None:
    for share in (-1, -0.5, 0, 0.5, 1):
        at = scale.at(share * scale.reach)
        axes.plot([at] * 2, [_TOP, bottom], color=RULE if share else MUTED, lw=0.5, zorder=0)
        text = f"{100 * share * scale.reach:+g}" if share else "0"
        text = text.replace("-", MINUS)
        axes.text(at, bottom + 0.06, text, ha="center", va="center_baseline", color=MUTED)
    where = "difference of pass rates, points"
    axes.text(scale.zero, bottom + 0.2, where, ha="center", va="center_baseline", color=MUTED)
    axes.text(COLUMN - _MARGIN, 0.1, "n", ha="right", va="center_baseline", color=MUTED)
    a, b = names
    room = scale.reach * scale.unit
    axes.text(
        scale.zero - 0.05, 0.1, f"← {fit(b, room)}", ha="right", va="center_baseline", color=MUTED
    )
    axes.text(scale.zero + 0.05, 0.1, f"{fit(a, room)} →", va="center_baseline", color=MUTED)


def _draw_row(
    drawing: Drawing,
    axes: Axes,
    scale: _Scale,
    row: _Row,
    place: tuple[float, float],
) -> None:
    (label, each, sides), (y, labels) = row, place
    weight = "bold" if label == OVERALL else "normal"
    axes.text(_MARGIN, y, fit(label, labels), va="center_baseline", weight=weight)
    axes.text(COLUMN - _MARGIN, y, f"{each['n']:,}", ha="right", va="center_baseline", color=MUTED)
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
    verdict = "the data cannot tell" if better is None else f"{better.name} is better"
    text = (
        f"{label}: {percent(each['difference'])} points{interval} of {each['n']:,}, "
        f"p {p:.3g}: {verdict}"
    )
    drawing.tag(dot, Mark(text))
