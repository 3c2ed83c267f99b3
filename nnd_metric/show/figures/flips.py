"""The share of verdicts that flip with each choice: a block per dimension, a row per choice."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from matplotlib.axes import Axes

from nnd.metric.numbers import percent
from nnd.metric.show.drawing.marks import Drawing, Mark
from nnd.metric.show.drawing.text_widths import MINUS, fit, widest
from nnd.metric.show.drawing.theme import COLUMN, MUTED, PAPER, RULE, canvas, look

CAPTION = (
    "Share of the verdicts that differ from those of the default, with its 95 % interval over "
    "contexts. To the right, the difference of the pass rates in points."
)

_MARGIN, _LABELS, _RIGHT = 0.04, 1.1, 0.42
_TOP, _ROW, _HEAD, _GAP, _FOOT = 0.24, 0.15, 0.16, 0.05, 0.36


def draw_flips(choices: Sequence[Mapping[str, Any]]) -> Drawing | None:
    """Draw the flips of choices; None if no choice has tests.

    Args:
        choices: `Variant.to_dict()` of each, grouped by dimension.
    """
    drawn = [each for each in choices if each["flipped"] is not None]
    if not drawn:
        return None
    blocks = [(name, list(rows)) for name, rows in groupby(drawn, lambda each: each["dimension"])]
    bottom = _TOP + len(drawn) * _ROW + len(blocks) * (_HEAD + _GAP)
    figure, axes = canvas(COLUMN, bottom + _FOOT)
    drawing = Drawing("flips", "Verdicts that flip", CAPTION, figure, [*map(dict, choices)])
    labels = widest([each["choice"] for each in drawn], _LABELS)
    reach = max((each["flipped_interval"] or [0, each["flipped"]])[1] for each in drawn)
    reach = next(step for step in (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1) if reach <= step)
    left = _MARGIN + labels + 0.1
    unit = (COLUMN - _RIGHT - left) / reach
    _draw_ground(axes, (left, unit, reach), bottom)
    y = _TOP
    for number, (name, rows) in enumerate(blocks):
        axes.text(_MARGIN, y + _HEAD / 2, name, weight="bold", va="center_baseline")
        y += _HEAD
        for row in rows:
            label = fit(row["choice"], labels)
            axes.text(_MARGIN, y + _ROW / 2, label, va="center_baseline")
            _draw_share(drawing, axes, row, number, (left, unit, y + _ROW / 2))
            y += _ROW
        y += _GAP
    return drawing


def _draw_ground(axes: Axes, scale: tuple[float, float, float], bottom: float) -> None:
    left, unit, reach = scale
    for share in (0, 0.5, 1):
        at = left + share * reach * unit
        axes.plot([at] * 2, [_TOP, bottom], color=RULE if share else MUTED, lw=0.5, zorder=0)
        text = f"{100 * share * reach:g}"
        axes.text(at, bottom + 0.06, text, ha="center", va="center_baseline", color=MUTED)
    middle = left + reach * unit / 2
    words = "verdicts flipped, %"
    axes.text(middle, bottom + 0.2, words, ha="center", va="center_baseline", color=MUTED)
    axes.text(COLUMN - _MARGIN, 0.1, "points", ha="right", va="center_baseline", color=MUTED)


def _draw_share(
    drawing: Drawing,
    axes: Axes,
    row: Mapping[str, Any],
    number: int,
    place: tuple[float, float, float],
) -> None:
    left, unit, y = place
    colour, marker = look(number)
    bounds = row["flipped_interval"]
    if bounds is not None:
        axes.plot([left + unit * bound for bound in bounds], [y] * 2, color=colour, lw=1.2)
    x = left + unit * row["flipped"]
    (dot,) = axes.plot([x], [y], marker, ms=4.5, mfc=colour, mec=PAPER, mew=0.4, zorder=3)
    difference = f"{100 * row['difference']:+.1f}".replace("-", MINUS)
    axes.text(COLUMN - _MARGIN, y, difference, ha="right", va="center_baseline", color=MUTED)
    interval = "" if bounds is None else f" [{percent(bounds[0])}, {percent(bounds[1])}]"
    drawing.tag(
        dot,
        Mark(
            f"{row['dimension']} {row['choice']}: {percent(row['flipped'])} %{interval} of "
            f"{row['n']:,} verdicts flip, {difference} points"
        ),
    )
