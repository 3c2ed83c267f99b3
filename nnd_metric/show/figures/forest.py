"""Pass rates by category with their intervals, and those of surface baselines on the same tests.

Each category has a row per model. Letters mark the pass rates of surface baselines, with undecided
tests counting half (`baselines`); an open diamond marks that of the same model without any context.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from matplotlib.axes import Axes

from nnd.metric.numbers import percent, spoken, whole_name
from nnd.metric.show.drawing.marks import Drawing, FigureMark, line_width, rate_in_words
from nnd.metric.show.drawing.text_widths import fit, spread, text_width, widest
from nnd.metric.show.drawing.theme import COLUMN, MUTED, PAGE, PAPER, RULE, canvas, look
from nnd.metric.show.figures.groups import RateGroup
from nnd.metric.show.tables.cells import BASELINES

LETTERS = {"shorter_wins": "S", "longer_wins": "L", "copy_wins": "C"}

CAPTION = (
    "Filled marks are pass rates, and lines are their 95 % intervals over independent contexts; "
    "if all tests pass or all fail, the line is thin and counts each context as one test. "
    "A mark may hide a shorter line. S, L and C mark the pass rates of always picking the shorter, "
    "the longer or the more copied candidate, with undecided tests counting half; "
    "open diamonds mark that of "
    "the same model without any context. The line in the middle is chance (50 %)."
)

_ROW, _HEAD, _GAP = 0.15, 0.16, 0.08
_TOP, _FOOT = 0.05, 0.68
_MARGIN, _LABELS, _RIGHT = 0.04, 1.15, 0.14
_SHORTEST = 0.75  # for labels: a title has this width, wherever baselines are
_BOLD = 1.15  # bold letters are wider
_TALLEST = 8.0
"""Largest height in inches; a longer figure is set in two columns."""


class _Room(NamedTuple):
    """A place to draw, in inches: its left edge, its labels, its scale, its top."""

    left: float
    labels: float
    width: float
    top: float

    def at(self, share: float) -> float:
        """Return the place of a share on the scale."""
        return self.left + self.labels + 0.1 + share * self.width


def draw_forest(
    names: Mapping[str, str],
    groups: Sequence[RateGroup],
    *,
    name: str = "pass_rates",
    title: str = "Pass rates by category",
    shortest: float = _SHORTEST,
    stacked: bool = False,
) -> Drawing:
    """Draw pass rates by category, from top to bottom.

    `names` gives model → its name here. `shortest` is the smallest width of the title of a
    category, in inches. If `stacked`, there is one column, however long, for narrow screens.
    """
    height = _HEAD + len(names) * _ROW + _GAP
    half = (len(groups) + 1) // 2
    is_long = height * len(groups) > _TALLEST and not stacked
    columns = [groups[:half], groups[half:]] if is_long else [groups]
    tall = height * max(map(len, columns))
    wide = COLUMN if len(columns) == 1 else PAGE
    figure, axes = canvas(wide, _TOP + tall + _FOOT)
    data = [
        {"model": model, "column": group.column, "category": group.value, **rate.to_dict()}
        for group in groups
        for model, rate in zip(names, group.rates, strict=True)
    ]
    drawing = Drawing(name, title, CAPTION, figure, data)
    labels = max(shortest, widest([*names.values()], _LABELS))
    scale = wide / len(columns) - _MARGIN - labels - 0.1 - _RIGHT
    for number, column in enumerate(columns):
        room = _Room(_MARGIN + number * wide / len(columns), labels, scale, _TOP)
        for group in column:
            _draw_group(drawing, axes, room, group, names)
            room = room._replace(top=room.top + height)
        _draw_scale(axes, room)
    _draw_key(axes, _TOP + tall + _FOOT)
    return drawing


def _draw_group(
    drawing: Drawing, axes: Axes, room: _Room, group: RateGroup, names: Mapping[str, str]
) -> None:
    y = room.top + 0.08
    top, bottom = room.top + _HEAD, room.top + _HEAD + len(names) * _ROW
    for line in (0, 0.25, 0.5, 0.75, 1):
        colour = MUTED if line == 0.5 else RULE  # noqa: PLR2004 - chance
        axes.plot([room.at(line)] * 2, [top, bottom], color=colour, lw=0.5, zorder=0)
    leftmost = _draw_baselines(drawing, axes, room, group, (top, bottom))
    n = f"n {group.rates[0].n:,}"
    space = leftmost - 0.1 - room.left - text_width(n) - 0.06
    title = fit(spoken(group.value), space / _BOLD)
    axes.text(room.left, y, title, weight="bold", va="center_baseline")
    after = room.left + _BOLD * text_width(title) + 0.06
    axes.text(after, y, n, color=MUTED, va="center_baseline")
    for number, (model, name) in enumerate(names.items()):
        middle = top + (number + 0.5) * _ROW
        label = axes.text(room.left, middle, fit(name, room.labels), va="center_baseline")
        drawing.tag(label, FigureMark(whole_name(model)))
        _draw_rates(drawing, axes, room, group, (number, name, middle))


def _draw_baselines(
    drawing: Drawing, axes: Axes, room: _Room, group: RateGroup, ends: tuple[float, float]
) -> float:
    """Draw baselines that are the same for every model as a line across all rows.

    Return the place of the first letter, or the end of the scale, up to which a title has room.
    """
    found = {name: group.rates[0].baselines[name] for name in LETTERS}
    shares = {name: each.with_coin for name, each in found.items() if each is not None}
    letters = spread([room.at(share) for share in shares.values()], gap=0.085)
    for (name, share), letter in zip(shares.items(), letters, strict=True):
        (line,) = axes.plot(
            [room.at(share)] * 2, ends, color=MUTED, lw=0.7, ls=(0, (2, 1.5)), zorder=1
        )
        drawing.tag(
            line, FigureMark(f"{spoken(group.value)}, {BASELINES[name]}: {percent(share)} %")
        )
        axes.text(letter, ends[0] - 0.02, LETTERS[name], ha="center", va="bottom", color=MUTED)
    return min([*letters, room.at(1)])


def _draw_rates(
    drawing: Drawing, axes: Axes, room: _Room, group: RateGroup, row: tuple[int, str, float]
) -> None:
    number, name, middle = row
    rate, (colour, marker) = group.rates[number], look(number)
    of_model = f"{name}, {spoken(group.value)}"
    if alone := rate.baselines["unconditional"]:
        x = room.at(alone.with_coin)
        (mark,) = axes.plot([x], [middle], "d", ms=4, mfc=PAPER, mec=MUTED, mew=0.6, zorder=2)
        drawing.tag(
            mark,
            FigureMark(f"{of_model}, without any context: {percent(alone.with_coin)} %", number),
        )
    if rate.pass_rate is None:
        return
    if rate.interval is not None:
        ends, width = map(room.at, rate.interval), line_width(rate.pass_rate, rate.interval)
        axes.plot([*ends], [middle] * 2, color=colour, lw=width, zorder=3)
    x, shown = room.at(rate.pass_rate), rate_in_words(rate.pass_rate, rate.interval, rate.n)
    (dot,) = axes.plot([x], [middle], marker, ms=4.5, mfc=colour, mec=PAPER, mew=0.4, zorder=4)
    drawing.tag(dot, FigureMark(f"{of_model}: {shown}", number, (group.column, group.value)))


def _draw_scale(axes: Axes, room: _Room) -> None:
    y = room.top
    for share in (0, 0.25, 0.5, 0.75, 1):
        text = f"{100 * share:.0f}"
        axes.text(room.at(share), y + 0.05, text, ha="center", va="center_baseline", color=MUTED)
    y += 0.19
    axes.text(room.at(0.5), y, "pass rate, %", ha="center", va="center_baseline", color=MUTED)


def _draw_key(axes: Axes, bottom: float) -> None:
    x = _MARGIN
    for name, letter in LETTERS.items():
        label = f"{letter} {BASELINES[name]}"
        axes.text(x, bottom - 0.25, label, color=MUTED, va="center_baseline")
        x += text_width(label) + 0.14
    axes.plot([_MARGIN + 0.04], [bottom - 0.1], "d", ms=4, mfc=PAPER, mec=MUTED, mew=0.6)
    alone = "the same model without any context"
    axes.text(_MARGIN + 0.13, bottom - 0.1, alone, color=MUTED, va="center_baseline")
