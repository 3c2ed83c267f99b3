"""Pass rates over training steps, by category.

After Figure 4 of Laban et al. (2022), with intervals.
"""

import math
from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator

from nnd.metric.numbers import spoken, visible
from nnd.metric.show import (
    PAPER,
    Drawing,
    LegendEntry,
    Mark,
    draw_chance,
    look,
    panels,
    rate_in_words,
    style,
)
from nnd.metric.train.history import Point

CAPTION = (
    "Bands are 95 % intervals over contexts, for each step separately. All steps score the same "
    "pairs, so differences between steps are more certain than the bands suggest. The horizontal "
    "line is chance (50 %)."
)

_MARKED = 40
"""Steps; a longer line is drawn without marks."""

_THOUSAND = 1000
_STEPS = (1, 2, 2.5, 5, 10)


def training_curves(
    names: Sequence[str], lines: Mapping[str, Sequence[Sequence[tuple[int, Point]]]]
) -> Drawing:
    """Draw pass rates over steps, a panel for each category.

    Args:
        names: Names of the runs here.
        lines: Category → for each run, steps with their rates (`Training.line_of`).
    """
    names = [visible(name) for name in names]
    with style():
        key = [LegendEntry(*look(number), name) for number, name in enumerate(names)]
        titles = [[spoken(category), _tests(of_runs)] for category, of_runs in lines.items()]
        figure, axes = panels(titles, key, x_label="training step", y_label="pass rate, %")
        data = [
            {"history": name, "category": category, "step": step, **rate.to_dict()}
            for category, of_runs in lines.items()
            for name, line in zip(names, of_runs, strict=True)
            for step, rate in line
        ]
        drawing = Drawing("curve", "Pass rates during training", CAPTION, figure, data)
        for (category, of_runs), panel in zip(lines.items(), axes, strict=True):
            for number, line in enumerate(of_runs):
                _draw_line(drawing, panel, line, number, f"{names[number]}, {spoken(category)}")
            draw_chance(panel)
            panel.xaxis.set_major_locator(MaxNLocator(4, steps=_STEPS, integer=True))
            panel.xaxis.set_major_formatter(FuncFormatter(lambda step, _: _in_short(step)))
        _share(axes)
    return drawing


def _tests(of_runs: Sequence[Sequence[tuple[int, Point]]]) -> str:
    """Return the number of tests of a panel, which may differ between runs and steps."""
    counts = sorted({rate.n for line in of_runs for _, rate in line})
    return f"{' to '.join(f'{n:,}' for n in (counts[:1] + counts[1:][-1:]))} tests"


def _draw_line(
    drawing: Drawing, axes: Axes, line: Sequence[tuple[int, Point]], number: int, name: str
) -> None:
    colour, marker = look(number)
    steps = [step for step, _ in line]
    rates = [100 * (rate.pass_rate or 0) for _, rate in line]
    bounds = [rate.interval or (math.nan, math.nan) for _, rate in line]
    low, high = ([100 * each[side] for each in bounds] for side in (0, 1))
    axes.fill_between(steps, low, high, color=colour, alpha=0.15, lw=0, zorder=1)
    axes.plot(steps, rates, color=colour, lw=1, zorder=2)
    if len(line) > _MARKED:
        return
    for (step, rate), y in zip(line, rates, strict=True):
        (dot,) = axes.plot([step], [y], marker, ms=3.5, mfc=colour, mec=PAPER, mew=0.3, zorder=3)
        drawing.tag(dot, Mark(f"{name}, step {step:,}: {rate_in_words(rate.to_dict())}", number))


def _share(axes: Sequence[Axes]) -> None:
    """Give all panels the same scales, so that they can be compared."""
    for limits, set_limits in ((Axes.get_xlim, Axes.set_xlim), (Axes.get_ylim, Axes.set_ylim)):
        low, high = zip(*map(limits, axes), strict=True)
        for each in axes:
            set_limits(each, min(low), max(high))


def _in_short(step: float) -> str:
    """Return a step in short form: 500, 1.5k, 20k."""
    return f"{step / _THOUSAND:g}k" if abs(step) >= _THOUSAND else f"{step:g}"
