"""Pass rates against the number of parameters, by category."""

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes

from nnd.metric.numbers import spoken, visible
from nnd.metric.show.drawing.grid import LegendEntry, draw_chance, panels
from nnd.metric.show.drawing.marks import Drawing, FigureMark, line_width, rate_in_words
from nnd.metric.show.drawing.theme import MUTED, PAPER, look
from nnd.metric.show.figures.groups import RateGroup

CAPTION = (
    "Parameters (embeddings included) on a logarithmic scale; lines join the models of a family; "
    "bars are 95 % intervals over independent contexts. The horizontal line is chance (50 %). "
    "Families differ in more than size."
)

_ALONE = "other models"
_ROOM = 1.5  # around the smallest and the largest, as a factor


def draw_scaling(
    names: Mapping[str, str],
    groups: Sequence[RateGroup],
    parameters: Mapping[str, int],
    families: Mapping[str, str],
    *,
    stacked: bool = False,
) -> Drawing:
    """Draw pass rates against sizes."""
    members = _members([model for model in names if model in parameters], families)
    looks = {family: look(number) for number, family in enumerate(members)}
    if families and _ALONE in members:
        looks[_ALONE] = (MUTED, "o")
    key = [LegendEntry(*looks[family], names.get(family, visible(family))) for family in members]
    titles = [[spoken(group.value)] for group in groups]
    figure, axes = panels(
        titles, key, x_label="parameters", y_label="pass rate, %", stacked=stacked
    )
    data = [
        {
            "model": model,
            "family": families.get(model),
            "parameters": parameters[model],
            "category": group.value,
            "pass_rate": group.rates[number].pass_rate,
            "interval": group.rates[number].interval,
        }
        for group in groups
        for number, model in enumerate(names)
        if model in parameters
    ]
    drawing = Drawing("scaling", "Pass rates and sizes", CAPTION, figure, data)
    least, most = min(parameters.values()), max(parameters.values())
    ticks = _ticks(least, most)
    for group, panel in zip(groups, axes, strict=True):
        panel.set_xscale("log")
        for family, models in members.items():
            _draw_family(drawing, panel, group, (names, parameters, models), looks[family])
        panel.set_xlim(least / _ROOM, most * _ROOM)
        panel.minorticks_off()
        panel.set_xticks(ticks, [in_short(tick) for tick in ticks])
        draw_chance(panel)
    low, high = zip(*(panel.get_ylim() for panel in axes), strict=True)
    for panel in axes:  # one scale, so that they can be compared
        panel.set_ylim(min(low), max(high))
    return drawing


def _members(models: Sequence[str], families: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the models of each family; without families, each model is one."""
    members: dict[str, list[str]] = {}
    for model in models:
        members.setdefault(families.get(model, _ALONE) if families else model, []).append(model)
    if _ALONE in members:
        members[_ALONE] = members.pop(_ALONE)  # last
    return members


def _draw_family(
    drawing: Drawing,
    axes: Axes,
    group: RateGroup,
    of: tuple[Mapping[str, str], Mapping[str, int], Sequence[str]],
    look_of: tuple[str, str],
) -> None:
    (names, parameters, members), (colour, marker) = of, look_of
    places = list(names)
    joined = []
    for model in sorted(members, key=parameters.__getitem__):
        number = places.index(model)
        rate = group.rates[number]
        if rate.pass_rate is None:
            continue
        x, y = parameters[model], 100 * rate.pass_rate
        joined.append((x, y))
        if rate.interval is not None:
            ends = [100 * bound for bound in rate.interval]
            width = 0.7 * line_width(rate.pass_rate, rate.interval)
            axes.plot([x] * 2, ends, color=colour, lw=width, zorder=2)
        (dot,) = axes.plot([x], [y], marker, ms=4.5, mfc=colour, mec=PAPER, mew=0.4, zorder=3)
        shown = rate_in_words(rate.pass_rate, rate.interval, rate.n)
        text = f"{names[model]} ({in_short(x)}), {spoken(group.value)}: {shown}"
        drawing.tag(dot, FigureMark(text, number, (group.column, group.value)))
    if joined and colour != MUTED:
        axes.plot(*zip(*joined, strict=True), color=colour, lw=0.9, zorder=1)


def _ticks(low: int, high: int) -> list[int]:
    """Return a few round sizes between two, or the two themselves."""
    every = [step * 10**power for power in range(len(str(high))) for step in (1, 3)]
    inside = [size for size in every if low / _ROOM <= size <= high * _ROOM]
    if len(inside) < 2:  # noqa: PLR2004
        return [low, high] if low * _ROOM < high else [low]
    return inside[:: -(-len(inside) // 4)]


def in_short(parameters: int) -> str:
    """Return a number of parameters in short form: 124M, 1.5B."""
    for unit, letter in ((10**9, "B"), (10**6, "M"), (10**3, "k")):
        if parameters >= unit:
            decimals = 1 if parameters < 10 * unit else 0
            return f"{parameters / unit:.{decimals}f}".removesuffix(".0") + letter
    return str(parameters)
