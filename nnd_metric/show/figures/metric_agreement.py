"""How well each metric ranks the systems as people do, and how well any could.

Each metric has a row with its gap correlation with people's scores of the systems and its 95 %
interval over contexts. A line marks the ceiling, which noise in people's own scores sets.
"""

from typing import TYPE_CHECKING

from matplotlib.axes import Axes

from nnd.metric.numbers import FEWEST_SYSTEMS, short_names
from nnd.metric.show.drawing.marks import Drawing, FigureMark
from nnd.metric.show.drawing.text_widths import fit, text_width, widest
from nnd.metric.show.drawing.theme import COLUMN, MUTED, PAPER, RULE, canvas, look
from nnd.metric.show.tables.cells import number
from nnd.schemas import OVERALL

if TYPE_CHECKING:
    from nnd.metric.other_metrics import MetricTable

CAPTION = (
    "Marks are gap correlations (Pearson's r) of a metric's mean scores of the systems with "
    "people's scores, and lines are their 95 % intervals over independent contexts."
)

_ROW, _TOP, _FOOT = 0.15, 0.2, 0.4
_MARGIN, _LABELS, _RIGHT = 0.04, 1.15, 0.14
_LEAST, _MOST = -1.0, 1.0


def draw_metrics(table: "MetricTable") -> Drawing | None:
    """Draw the agreement of each metric on the systems; None if there are too few systems."""
    known = {
        row.name: row.systems.by_category[OVERALL]
        for row in table.rows
        if row.systems is not None
        and OVERALL in row.systems.by_category
        and row.systems.by_category[OVERALL].n >= FEWEST_SYSTEMS
    }
    if not known:
        return None
    names = dict(zip(known, short_names([*known]), strict=True))
    tall = len(known) * _ROW
    figure, axes = canvas(COLUMN, _TOP + tall + _FOOT)
    noise = table.human_noise
    said = [] if noise is None else [f"{noise.sentence()}.", *noise.ceiling_sentence()]
    data = [
        {"metric": name, "n": each.n, "gap_r": each.statistics["pearson"]}
        | {"interval": each.intervals["pearson"]}
        for name, each in known.items()
    ]
    title = "Agreement with people on systems"
    drawing = Drawing("metrics", title, " ".join([CAPTION, *said]), figure, data)
    left = _MARGIN + widest([*names.values()], _LABELS) + 0.1

    def at(r: float) -> float:
        return left + (r - _LEAST) / (_MOST - _LEAST) * (COLUMN - left - _RIGHT)

    for tick in (-1, -0.5, 0, 0.5, 1):
        colour = MUTED if tick == 0 else RULE
        axes.plot([at(tick)] * 2, [_TOP, _TOP + tall], color=colour, lw=0.5, zorder=0)
        axes.text(at(tick), _TOP + tall + 0.08, f"{tick:g}", ha="center", va="center_baseline")
    axes.text(at(0), _TOP + tall + 0.24, "gap r", ha="center", va="center_baseline", color=MUTED)
    if noise is not None and noise.ceiling is not None:
        _draw_ceiling(drawing, axes, at(noise.ceiling.gap_r), noise.ceiling.gap_r, tall)
    for place, (name, each) in enumerate(known.items()):
        y = _TOP + (place + 0.5) * _ROW
        axes.text(_MARGIN, y, fit(names[name], _LABELS), va="center_baseline")
        r, bounds = each.statistics["pearson"], each.intervals["pearson"]
        if r is None:
            continue
        colour, marker = look(place)
        if bounds is not None:
            axes.plot([*map(at, bounds)], [y] * 2, color=colour, lw=1.2, zorder=2)
        (dot,) = axes.plot([at(r)], [y], marker, ms=4.5, mfc=colour, mec=PAPER, mew=0.4, zorder=3)
        within = "" if bounds is None else f" [{number(bounds[0])}, {number(bounds[1])}]"
        drawing.tag(dot, FigureMark(f"{names[name]}: gap r {number(r)}{within}", place))
    return drawing


def _draw_ceiling(drawing: Drawing, axes: Axes, x: float, ceiling: float, tall: float) -> None:
    (line,) = axes.plot(
        [x] * 2, [_TOP, _TOP + tall], color=MUTED, lw=0.9, ls=(0, (2, 1.5)), zorder=1
    )
    drawing.tag(
        line, FigureMark(f"the ceiling, which noise in people's scores sets: {ceiling:.2f}")
    )
    middle = min(x, COLUMN - _MARGIN - text_width("ceiling") / 2)
    axes.text(middle, _TOP - 0.08, "ceiling", ha="center", va="center_baseline", color=MUTED)
