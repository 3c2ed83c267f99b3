"""Human scores of models that were not judged, predicted from their pass rates.

The line, and the band for 95 % of new scores, are those of `extrapolation`.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes

from nnd.metric.numbers import extrapolate, percent, spoken
from nnd.metric.show.drawing.grid import LegendEntry, panels
from nnd.metric.show.drawing.marks import Drawing, FigureMark
from nnd.metric.show.drawing.theme import MUTED, PAPER, look
from nnd.metric.show.figures.points import Points
from nnd.metric.show.figures.scatter import draw_judged

CAPTION = (
    "The line is fitted to the judged systems (filled); the band and the bars are 95 % prediction "
    "intervals of one new score. Open marks are models that were not judged. The dotted line, "
    "beyond the judged systems, assumes that the relation continues; real scores are bounded, the "
    "line is not. The error is that of leaving one system out; in brackets, the error of "
    "predicting the mean score instead."
)

_STEPS = 60


def draw_extrapolation(
    names: Mapping[str, str], points: Sequence[Points], *, stacked: bool = False
) -> Drawing:
    """Draw predicted human scores against pass rates, for categories with a line."""
    key = [LegendEntry(*look(number), name) for number, name in enumerate(names.values())]
    titles = [
        [spoken(each.category), f"{len(each.judged)} systems judged", *_errors(each)]
        for each in points
    ]
    figure, axes = panels(
        titles, key, x_label="pass rate, %", y_label="human score", stacked=stacked
    )
    data = [
        {"category": each.category, **prediction}
        for each in points
        for prediction in each.agreement["extrapolation"]["predictions"]
    ]
    drawing = Drawing("extrapolation", "Predicted human scores", CAPTION, figure, data)
    for each, panel in zip(points, axes, strict=True):
        _draw_band(panel, each)
        draw_judged(drawing, panel, each, names)
        _draw_predictions(drawing, panel, each, names)
    return drawing


def _errors(points: Points) -> list[str]:
    line = points.agreement["extrapolation"]["line"]
    of_mean = f"(mean {line['rmse_of_mean']:.2g})"
    if line["rmse"] is None:
        return [f"error undefined {of_mean}"]
    error = f"error {line['rmse']:.2g} {of_mean}"
    return [error] if line["rmse"] < line["rmse_of_mean"] else [error, "no better than the mean"]


def _draw_band(axes: Axes, points: Points) -> None:
    rates = [judged.pass_rate for judged in points.judged.values()]
    scores = [judged.human_score for judged in points.judged.values()]
    shown = [*rates, *points.unjudged.values()]
    room = 0.05 * (max(shown) - min(shown))
    grid = np.linspace(max(0, min(shown) - room), min(1, max(shown) + room), _STEPS)
    line = extrapolate(rates, scores, {str(at): x for at, x in enumerate(grid)}).predictions
    if bounds := [each.interval for each in line if each.interval is not None]:
        low, high = zip(*bounds, strict=True)
        axes.fill_between(100 * grid, low, high, color=MUTED, alpha=0.15, lw=0, zorder=0)
    within = [each for each in line if each.position == "within"]
    for part, dashes in ((line, ":"), (within, "-")):
        places, predicted = [100 * each.pass_rate for each in part], [each.score for each in part]
        axes.plot(places, predicted, color=MUTED, lw=0.8, ls=dashes, zorder=1)


def _draw_predictions(
    drawing: Drawing, axes: Axes, points: Points, names: Mapping[str, str]
) -> None:
    places = list(names)
    for each in points.agreement["extrapolation"]["predictions"]:
        number = places.index(each["model"])
        colour, marker = look(number)
        x, bounds, told = 100 * each["pass_rate"], each["interval"], ""
        if bounds is not None:
            axes.plot([x] * 2, bounds, color=colour, lw=0.8, zorder=2)
            told = f" [{bounds[0]:.3g}, {bounds[1]:.3g}]"
        (dot,) = axes.plot(
            [x], [each["score"]], marker, ms=5, mfc=PAPER, mec=colour, mew=1, zorder=3
        )
        text = (
            f"{names[each['model']]}, {spoken(points.category)}: pass rate "
            f"{percent(each['pass_rate'])} %, predicted human score {each['score']:.3g}{told}"
        )
        drawing.tag(dot, FigureMark(text, number))
