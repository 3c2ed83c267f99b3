"""Human scores against pass rates: do they rank the systems alike?"""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes

from nnd.metric.numbers import FEWEST_SYSTEMS, spoken
from nnd.metric.show.drawing.grid import LegendEntry, panels
from nnd.metric.show.drawing.marks import Drawing, FigureMark, line_width, rate_in_words
from nnd.metric.show.drawing.text_widths import MINUS
from nnd.metric.show.drawing.theme import PAPER, look
from nnd.metric.show.figures.points import Points

CAPTION = (
    "One mark per system; lines are 95 % intervals of its pass rate over independent contexts. "
    "τ is Kendall's tau-b, r is Pearson's; they are undefined if one side does not vary. "
    "In brackets: 95 % intervals over independent contexts, for these systems only, "
    "with fixed human scores. "
    "p(τ) is two-sided, by permutation of the systems; with few systems it cannot be small. "
    f"Fewer than {FEWEST_SYSTEMS} systems have no correlation."
)

_LEAST_P = 0.001  # smaller ones are not distinguished


def draw_agreement(
    names: Mapping[str, str], points: Sequence[Points], *, stacked: bool = False
) -> Drawing:
    """Draw the human score of every judged model against its pass rate, by category."""
    key = [
        LegendEntry(*look(number), name)
        for number, (model, name) in enumerate(names.items())
        if any(model in each.judged for each in points)
    ]
    titles = [[spoken(each.category), *_remarks(each)] for each in points]
    figure, axes = panels(
        titles, key, x_label="pass rate, %", y_label="human score", stacked=stacked
    )
    data = [
        {
            "category": each.category,
            "model": model,
            "pass_rate": judged.pass_rate,
            "interval": judged.interval,
            "human_score": judged.human_score,
        }
        for each in points
        for model, judged in each.judged.items()
    ]
    drawing = Drawing("agreement", "Human scores against pass rates", CAPTION, figure, data)
    for each, panel in zip(points, axes, strict=True):
        draw_judged(drawing, panel, each, names)
    return drawing


def draw_judged(drawing: Drawing, axes: Axes, points: Points, names: Mapping[str, str]) -> None:
    """Draw the judged models of one category."""
    for number, (model, name) in enumerate(names.items()):
        if model not in points.judged:
            continue
        (rate, interval, n, score), (colour, marker) = points.judged[model], look(number)
        if interval is not None:
            ends, width = [100 * bound for bound in interval], 0.7 * line_width(rate, interval)
            axes.plot(ends, [score] * 2, color=colour, lw=width, zorder=2)
        x, shown = [100 * rate], rate_in_words(rate, interval, n)
        (dot,) = axes.plot(x, [score], marker, ms=5, mfc=colour, mec=PAPER, mew=0.5, zorder=3)
        text = f"{name}, {spoken(points.category)}: {shown}; human score {score:.3g}"
        drawing.tag(dot, FigureMark(text, number))


def _remarks(points: Points) -> list[str]:
    n, p = len(points.judged), points.agreement["p_values"]["tau_b"]
    if n < FEWEST_SYSTEMS:
        return [f"{n} systems (too few)"]
    chance = "" if p is None else f"{p:.2g}" if p >= _LEAST_P else f"< {_LEAST_P}"
    systems = f"{n} systems{chance and f', p(τ) {chance}'}"
    named = (("τ", "tau_b"), ("r", "pearson"))
    return [systems, *(_told(letter, points.agreement, name) for letter, name in named)]


def _told(letter: str, agreement: Mapping[str, Any], name: str) -> str:
    value, bounds = agreement[name], agreement["intervals"][name]
    if value is None:
        return f"{letter} undefined"
    interval = "" if bounds is None else f" [{bounds[0]:.2f}, {bounds[1]:.2f}]"
    return f"{letter} {value:.2f}{interval}".replace("-", MINUS)
