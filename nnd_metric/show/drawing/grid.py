"""Small multiples: one panel per category on common scales, with a legend of models below."""

from collections.abc import Sequence
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from nnd.metric.show.drawing.text_widths import fit, text_width
from nnd.metric.show.drawing.theme import COLUMN, MUTED, PAGE, PAPER, RULE, axes_at, canvas

_LINE, _KEY = 0.125, 0.15
_LEFT, _RIGHT, _BETWEEN, _ABOVE, _BELOW, _FOOT = 0.5, 0.1, 0.42, 0.06, 0.34, 0.4
_HIGH = 1.15
_STEPS = (1, 2, 2.5, 5, 10)
_TALL = 4
"""Largest number of panels in one column; more are set four in a row, across two columns."""


class LegendEntry(NamedTuple):
    """An entry of the legend: how a model is drawn, and its name."""

    colour: str
    marker: str
    name: str


def panels(
    titles: Sequence[Sequence[str]],
    key: Sequence[LegendEntry],
    *,
    x_label: str,
    y_label: str,
    stacked: bool = False,
) -> tuple[Figure, list[Axes]]:
    """Return a figure with an empty panel for each title; one alone is larger.

    Each of `titles` has the lines above its panel: the name, then remarks. If `stacked`, panels are
    below each other, for narrow screens.
    """
    across = 1 if stacked else 4 if len(titles) > _TALL else min(2, len(titles))
    wide = COLUMN if across <= 2 else PAGE  # noqa: PLR2004
    width = (wide - _LEFT - _RIGHT - (across - 1) * _BETWEEN) / across
    high = _HIGH if across > 1 else 1.6 * _HIGH
    head = max(map(len, titles)) * _LINE + _ABOVE
    tall = -(-len(titles) // across) * (head + high + _BELOW) - _BELOW + _FOOT
    rows = _rows(key, wide)
    figure, ground = canvas(wide, tall + len(rows) * _KEY + 0.04)
    found = []
    for number, title in enumerate(titles):
        left = _LEFT + (number % across) * (width + _BETWEEN)
        top = (number // across) * (head + high + _BELOW) + head
        _write_title(ground, title, left, top, width)
        axes = axes_at(figure, left, top, width, high)
        axes.grid(color=RULE, lw=0.5)
        axes.set_axisbelow(True)
        axes.xaxis.set_major_locator(MaxNLocator(4, steps=_STEPS))
        axes.yaxis.set_major_locator(MaxNLocator(5, steps=_STEPS))
        if number % across == 0:
            place = (0.08, top + high / 2)
            ground.text(*place, y_label, rotation=90, ha="center", va="center", color=MUTED)
        if number + across >= len(titles):
            axes.set_xlabel(x_label, labelpad=2)
        found.append(axes)
    for number, row in enumerate(rows):
        y = tall + (number + 0.5) * _KEY
        for x, (colour, marker, name) in row:
            ground.plot([x + 0.04], [y], marker, ms=4, mfc=colour, mec=PAPER, mew=0.4)
            ground.text(x + 0.12, y, name, va="center_baseline")
    return figure, found


def draw_chance(axes: Axes) -> None:
    """Draw the pass rate of chance, 50 %, across a panel with pass rates in per cent."""
    axes.axhline(50, color=MUTED, lw=0.7, zorder=0.5)


def _write_title(ground: Axes, title: Sequence[str], left: float, top: float, width: float) -> None:
    name, *others = title
    y = top - _ABOVE - (len(title) - 0.5) * _LINE
    shown = fit(name, 0.87 * width + 0.2)  # bold letters are wider
    ground.text(left, y, shown, weight="bold", va="center_baseline")
    for line, text in enumerate(others, start=1):
        shown = fit(text, width + _RIGHT)
        ground.text(left, y + line * _LINE, shown, color=MUTED, va="center_baseline")


def _rows(key: Sequence[LegendEntry], wide: float) -> list[list[tuple[float, LegendEntry]]]:
    rows: list[list[tuple[float, LegendEntry]]] = []
    x = wide
    for entry in key:
        shown = entry._replace(name=fit(entry.name, COLUMN - 0.4))
        width = 0.28 + text_width(shown.name)
        if x + width - 0.14 > wide:
            rows.append([])
            x = 0.14
        rows[-1].append((x, shown))
        x += width
    return rows
