"""Differences with their intervals: the one figure of all comparisons.

Differences to the right of 0 are leads of the first side, those to the left of the second. Filled
marks are significant (`statistics.difference`), open ones are not.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from matplotlib.axes import Axes
from matplotlib.text import Text

from nnd.metric.numbers import Difference, in_brackets, in_words, percent, whole_name
from nnd.metric.show.drawing.marks import Drawing, FigureMark
from nnd.metric.show.drawing.text_widths import MINUS, fit, widest
from nnd.metric.show.drawing.theme import COLUMN, MUTED, PAPER, RULE, canvas, look

_MARGIN, _TOP, _RIGHT = 0.04, 0.24, 0.42
_LABELS, _ROW, _HEAD, _GAP, _FOOT = 1.3, 0.16, 0.16, 0.05, 0.36
_REACHES = (0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 1)


class Bar(NamedTuple):
    """A difference in the figure; it is not None.

    Attributes:
        first: Number of the colour and shape of the first side, if it is better.
        second: Number of those of the second side; the same if one model is on both sides.
        words: Words for a significant difference, if the first side or the second is better.
        note: What is at the right end; "" means the number of tests.
        model: Full name of the model on both sides, or "".
    """

    label: str
    difference: Difference
    first: int
    second: int
    words: tuple[str, str]
    note: str = ""
    model: str = ""


class AxisEnds(NamedTuple):
    """What is above the figure: the leader to the right, the one to the left, and the notes."""

    right: str
    left: str
    notes: str = "n"


def draw_differences(
    drawn: tuple[str, str, str],
    ends: AxisEnds,
    blocks: Sequence[tuple[str, Sequence[Bar]]],
    data: Sequence[dict[str, Any]],
) -> Drawing | None:
    """Draw differences below each other; None if there are none."""
    bars = [bar for _, block in blocks for bar in block]
    if not bars:
        return None
    heads = sum(bool(title) for title, _ in blocks)
    bottom = _TOP + len(bars) * _ROW + heads * _HEAD + len(blocks) * _GAP
    figure, axes = canvas(COLUMN, bottom + _FOOT)
    drawing = Drawing(*drawn, figure, data)
    labels = widest([bar.label for bar in bars], _LABELS)
    scale = _scale_of([bar.difference for bar in bars], _MARGIN + labels + 0.1)
    _draw_ground(axes, scale, ends, bottom)
    y = _TOP
    for title, block in blocks:
        if title:
            _write(axes, y + _HEAD / 2, fit(title, COLUMN - 2 * _MARGIN), weight="bold")
            y += _HEAD
        for bar in block:
            _draw_bar(drawing, axes, scale, bar, (y + _ROW / 2, labels))
            y += _ROW
        y += _GAP
    return drawing


class _Scale(NamedTuple):
    """Places of differences: that of 0 in inches, inches per 1, and the largest difference."""

    zero: float
    unit: float
    reach: float

    def at(self, difference: float) -> float:
        """Return the place of a difference."""
        return self.zero + difference * self.unit


def _scale_of(differences: Sequence[Difference], left: float) -> _Scale:
    bounds = [
        abs(bound) for each in differences for bound in each.interval or [each.difference or 0]
    ]
    reach = next(step for step in _REACHES if max(bounds) <= step or step == 1)
    half = (COLUMN - _RIGHT - left) / 2
    return _Scale(left + half, half / reach, reach)


def _draw_ground(axes: Axes, scale: _Scale, ends: AxisEnds, bottom: float) -> None:
    for share in (-1, -0.5, 0, 0.5, 1):
        at = scale.at(share * scale.reach)
        axes.plot([at] * 2, [_TOP, bottom], color=RULE if share else MUTED, lw=0.5, zorder=0)
        text = f"{100 * share * scale.reach:+g}".replace("-", MINUS) if share else "0"
        axes.text(at, bottom + 0.06, text, ha="center", va="center_baseline", color=MUTED)
    where = "difference of pass rates, points"
    axes.text(scale.zero, bottom + 0.2, where, ha="center", va="center_baseline", color=MUTED)
    _write_right(axes, 0.1, ends.notes)
    room, at = scale.reach * scale.unit, scale.zero
    left, right = f"← {fit(ends.left, room)}", f"{fit(ends.right, room)} →"
    axes.text(at - 0.05, 0.1, left, ha="right", va="center_baseline", color=MUTED)
    axes.text(at + 0.05, 0.1, right, va="center_baseline", color=MUTED)


def _draw_bar(
    drawing: Drawing, axes: Axes, scale: _Scale, bar: Bar, place: tuple[float, float]
) -> None:
    difference, (y, labels) = bar.difference, place
    label = _write(axes, y, fit(bar.label, labels))
    if bar.model:
        drawing.tag(label, FigureMark(whole_name(bar.model)))
    _write_right(axes, y, bar.note or f"{difference.n:,}")
    is_clear = difference.verdict in ("first", "second")
    colour, marker = look(bar.second if difference.verdict == "second" else bar.first)
    if not is_clear and bar.first != bar.second:
        colour, marker = MUTED, "o"
    if difference.interval is not None:
        at = [scale.at(bound) for bound in difference.interval]
        axes.plot(at, [y] * 2, color=colour, lw=1.2, zorder=2)
    (dot,) = axes.plot(
        [scale.at(difference.difference or 0)],
        [y],
        marker,
        ms=4.5,
        mfc=colour if is_clear else PAPER,
        mec=PAPER if is_clear else colour,
        mew=0.4 if is_clear else 0.8,
        zorder=3,
    )
    drawing.tag(dot, FigureMark(_explain(bar), bar.first if bar.first == bar.second else None))


def _explain(bar: Bar) -> str:
    difference, p = bar.difference, bar.difference.final_p
    points = f"{percent(difference.difference or 0)} points{in_brackets(difference.interval)}"
    rates = f"{percent(difference.rate or 0)} % against {percent(difference.other or 0)} %"
    verdict = in_words(difference.verdict, *bar.words)
    tested = verdict if p is None else f"p {p:.3g}: {verdict}"
    return f"{bar.label}: {points} of {difference.n:,}, {rates}, {tested}"


def _write(axes: Axes, y: float, text: str, **style: Any) -> Text:  # noqa: ANN401 - matplotlib's
    return axes.text(_MARGIN, y, text, va="center_baseline", **style)


def _write_right(axes: Axes, y: float, text: str) -> None:
    axes.text(COLUMN - _MARGIN, y, text, ha="right", va="center_baseline", color=MUTED)
