"""Pass rates of all models in all categories: the further from chance, the stronger the colour."""

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from nnd.metric.numbers import spoken, whole_name
from nnd.metric.show.drawing.marks import Drawing, FigureMark, rate_in_words
from nnd.metric.show.drawing.text_widths import fit, text_width, widest
from nnd.metric.show.drawing.theme import ABOVE, BELOW, COLUMN, MUTED, PAGE, canvas
from nnd.metric.show.figures.groups import RateGroup

CAPTION = (
    "Pass rates in per cent, a row per category, a column per model. Blue is above chance (50 %), "
    "orange below; the further from chance, the stronger the colour."
)

_MARGIN, _LABELS, _ROW = 0.04, 1.2, 0.19
_WIDEST, _NARROWEST = 0.55, 0.21
_COIN = 0.5
_DARKEST = 0.9
_STEEP = 0.7071  # names are rotated by 45 degrees


def draw_heat_map(names: Mapping[str, str], groups: Sequence[RateGroup]) -> Drawing:
    """Draw pass rates of models and categories."""
    values = [spoken(group.value) for group in groups]
    heads = {model: fit(name, 1.1) for model, name in names.items()}
    slope = _STEEP * max(map(text_width, heads.values()))
    labels = widest(values, max(_LABELS, COLUMN - slope - 0.3 - 0.27 * len(names)))
    beside = _MARGIN + labels + 0.08
    for wide in (COLUMN, PAGE, beside + slope + len(names) * _NARROWEST):
        # The last name extends to the right.
        cell = min(_WIDEST, (wide - beside - _MARGIN - max(0, slope - 0.1)) / len(names))
        if cell >= _NARROWEST:
            break
    top = slope + 0.16
    figure, axes = canvas(wide, top + len(groups) * _ROW + 0.36)
    data = [
        {"model": model, "category": group.value, "n": rate.n, "pass_rate": rate.pass_rate}
        for group in groups
        for model, rate in zip(names, group.rates, strict=True)
    ]
    drawing = Drawing("heat_map", "Models and categories", CAPTION, figure, data)
    for number, (model, head) in enumerate(heads.items()):
        x = beside + (number + 0.5) * cell
        label = axes.text(
            x - 0.03, top - 0.04, head, rotation=45, ha="left", va="bottom", rotation_mode="anchor"
        )
        drawing.tag(label, FigureMark(whole_name(model)))
    for place, (group, value) in enumerate(zip(groups, values, strict=True)):
        y = top + place * _ROW + (0.03 if place else 0)
        weight = "normal" if place else "bold"
        axes.text(_MARGIN, y + _ROW / 2, fit(value, labels), va="center_baseline", weight=weight)
        for number, (name, rate) in enumerate(zip(names.values(), group.rates, strict=True)):
            x, share = beside + number * cell, rate.pass_rate
            if share is not None:
                patch = _cell(x, y, cell, share)
                axes.add_patch(patch)
                text = f"{name}, {value}: {rate_in_words(share, rate.interval, rate.n)}"
                drawing.tag(patch, FigureMark(text, number, (group.column, group.value)))
            shown = "n/a" if share is None else f"{100 * share:.0f}"
            axes.text(x + cell / 2, y + _ROW / 2, shown, ha="center", va="center_baseline")
    _draw_key(axes, beside, top + len(groups) * _ROW + 0.14)
    return drawing


def _cell(x: float, y: float, width: float, share: float) -> Rectangle:
    strength = _DARKEST * abs(share - _COIN) / _COIN
    colour = ABOVE if share >= _COIN else BELOW
    return Rectangle((x, y), width - 0.015, _ROW - 0.015, fc=colour, alpha=round(strength, 4), lw=0)


def _draw_key(axes: Axes, x: float, y: float) -> None:
    for number in range(11):
        patch = _cell(x + 0.1 * number, y, 0.115, number / 10)
        patch.set_height(0.07)
        axes.add_patch(patch)
    for share in (0, 0.5, 1):
        text = "100 %" if share == 1 else f"{100 * share:.0f}"
        axes.text(x + 0.05 + share, y + 0.15, text, ha="center", va="center_baseline", color=MUTED)
