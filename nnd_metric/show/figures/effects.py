"""The effects of the sets of a suite on pass rates: a block per set, a row per model."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from matplotlib.axes import Axes

from nnd.metric.numbers import percent, whole_name
from nnd.metric.show.drawing.marks import Drawing, Mark
from nnd.metric.show.drawing.text_widths import fit, widest
from nnd.metric.show.drawing.theme import COLUMN, MUTED, PAPER, canvas, look
from nnd.metric.show.figures.difference_scale import MARGIN, TOP, Scale, draw_ground, scale_of

CAPTION = (
    "Difference of the pass rates in points with its 95 % interval over human contexts. Perturbed "
    "pairs are compared with their own parents (paired), other sets with all other human tests. "
    "Filled: the interval excludes 0, and p is below 0.05 (exact McNemar if every parent has one "
    "child; a score test for sets without parents). Open: the difference is not significant."
)

_LABELS, _ROW, _HEAD, _GAP, _FOOT = 1.1, 0.15, 0.16, 0.05, 0.36

_Suites: TypeAlias = Mapping[str, Sequence[Mapping[str, Any]]]


class _Row(NamedTuple):
    """A row of the figure: the title of a set, or its effect on a model."""

    y: float
    label: str
    effect: Mapping[str, Any]
    model: int | None


def draw_effects(names: Mapping[str, str], suites: _Suites) -> Drawing | None:
    """Draw the effects of sets; None if there are none.

    Args:
        names: Every model of the report → its name here, in the order of the report.
        suites: Model → `result["suite"]`, for the models that were evaluated on the suite.
    """
    rows = list(_rows(names, suites))
    if not rows:
        return None
    bottom = rows[-1].y + _ROW / 2
    figure, axes = canvas(COLUMN, bottom + _FOOT)
    data = [
        {"model": model, **{key: value for key, value in each.items() if key != _PARTS}}
        for model, sets in suites.items()
        for each in sets
    ]
    drawing = Drawing("effects", "Effects of the sets", CAPTION, figure, data)
    labels = widest([row.label for row in rows if row.model is not None], _LABELS)
    drawn = [row.effect for row in rows if row.model is not None]
    scale = scale_of(drawn, MARGIN + labels + 0.1, "delta")
    draw_ground(axes, scale, ("passes more", "passes less"), bottom)
    models = [*names]
    for row in rows:
        if row.model is None:
            _draw_title(axes, row)
            continue
        label = axes.text(MARGIN, row.y, fit(row.label, labels), va="center_baseline")
        drawing.tag(label, Mark(whole_name(models[row.model])))
        _draw_effect(drawing, axes, scale, row)
    return drawing


_PARTS = "by_error_category"


def _rows(names: Mapping[str, str], suites: _Suites) -> Iterator[_Row]:
    y = TOP
    for sets in zip(*suites.values(), strict=True):
        shown = [
            (model, each)
            for model, each in zip(suites, sets, strict=True)
            if each["delta"] is not None
        ]
        if not shown:
            continue
        yield _Row(y + _HEAD / 2, sets[0]["set"], sets[0], None)
        y += _HEAD
        for model, each in shown:
            yield _Row(y + _ROW / 2, names[model], each, [*names].index(model))
            y += _ROW
        y += _GAP


def _draw_title(axes: Axes, row: _Row) -> None:
    title = fit(row.label, COLUMN - 2 * MARGIN - 0.5)
    axes.text(MARGIN, row.y, title, weight="bold", va="center_baseline")
    n = f"{row.effect['n']:,}"
    axes.text(COLUMN - MARGIN, row.y, n, ha="right", va="center_baseline", color=MUTED)


def _draw_effect(drawing: Drawing, axes: Axes, scale: Scale, row: _Row) -> None:
    effect, number = row.effect, row.model or 0
    colour, marker = look(number)
    bounds = effect["interval"]
    if bounds is not None:
        axes.plot(
            [scale.at(bound) for bound in bounds], [row.y] * 2, color=colour, lw=1.2, zorder=2
        )
    is_clear = effect["verdict"] != "undecided"
    (dot,) = axes.plot(
        [scale.at(effect["delta"])],
        [row.y],
        marker,
        ms=4.5,
        mfc=colour if is_clear else PAPER,
        mec=PAPER if is_clear else colour,
        mew=0.4 if is_clear else 0.8,
        zorder=3,
    )
    drawing.tag(dot, Mark(_in_words(row.label, effect), number))


def _in_words(name: str, effect: Mapping[str, Any]) -> str:
    bounds, others = effect["interval"], effect["parents_pass_rate"]
    interval = "" if bounds is None else f" [{percent(bounds[0])}, {percent(bounds[1])}]"
    beside = "of the rest" if others is None else "of the parents"
    others = effect["rest_pass_rate"] if others is None else others
    return (
        f"{name}, {effect['set']}: {percent(effect['pass_rate'])} % of {effect['n']:,}, "
        f"{percent(others)} % {beside}: {percent(effect['delta'])} points{interval}"
    )
