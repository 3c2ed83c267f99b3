"""Tables of a report: those of the terminal as rows for its page, and the first table."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import factorial
from typing import Any

from rich.table import Table

from nnd.metric.numbers import BASELINES, FEWEST_SYSTEMS, do_all_agree, percent
from nnd.metric.show.drawing.theme import COLOURS, GLYPHS
from nnd.metric.show.reports.content.report_models import Evaluated
from nnd.schemas import counted

NOTHING = "n/a"


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table.

    Attributes:
        cells: Its texts.
        strong: Whether it is emphasised.
        ends: Whether a part of the table ends with it.
        weak: Why its numbers say little, or "".
    """

    cells: Sequence[str]
    strong: bool = False
    ends: bool = False
    weak: str = ""


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table for the page.

    Attributes:
        heads: Texts of its head.
        numbers: Whether a column holds numbers and is aligned to the right.
        rows: Its rows.
        caption: Caption of the table, or "".
    """

    heads: Sequence[str]
    numbers: Sequence[bool]
    rows: Sequence[Row]
    caption: str


def sheet(table: Table) -> Sheet:
    """Return a table of the terminal (`tables`) for the page."""
    cells = [[str(cell) for cell in column.cells] for column in table.columns]
    rows = [
        Row(texts, strong=row.style == "bold", ends=row.end_section)
        for row, texts in zip(table.rows, zip(*cells, strict=True), strict=True)
    ]
    return Sheet(
        heads=[str(column.header) for column in table.columns],
        numbers=[column.justify == "right" for column in table.columns],
        rows=rows,
        caption=str(table.caption or ""),
    )


def faded(found: Sheet, agreement: Mapping[str, Any]) -> Sheet:
    """Return a table of correlations; those of few systems are marked as weak, with a reason.

    Args:
        found: The table (`tables.agreement_table`): rows of each category, those of the mean last.
        agreement: The agreement of the table (`Agreement.to_dict`).
    """
    counts = {category: each["n"] for category, each in agreement["by_category"].items()}
    n = 0
    rows: list[Row] = []
    for row in found.rows:
        begins = not rows or rows[-1].ends
        if begins:
            n = counts.get(row.cells[0], min(counts.values(), default=0))
        rows.append(replace(row, weak=_few_systems(n)))
    return replace(found, rows=rows)


def _few_systems(n: int) -> str:
    if n >= FEWEST_SYSTEMS:
        return ""
    if n < 2:  # noqa: PLR2004 - nothing can be correlated
        return f"{counted(n, 'system')}: too few to correlate"
    p = 2 / factorial(n)
    return f"{n} systems: even perfect agreement has p = {p:.2f}, so this says little"


@dataclass(frozen=True, slots=True)
class Head:
    """A model in the first table.

    Attributes:
        colour: Number of its colour in figures.
        glyph: A letter in the shape of its marks there.
        name: Its short name.
        model: Its full name.
        parameters: Number of its weights, or "".
        pass_rate: Pass rate over all tests.
        interval: Its 95 % interval, with a star if it is Wilson's (`interval_text`).
        matched: Pass rate on tests whose candidates match in length, with their number.
        alone: Pass rate without any context.
        counts: Ties, unscored tests, tests whose context was cut.
    """

    colour: int
    glyph: str
    name: str
    model: str
    parameters: str
    pass_rate: str
    interval: str
    matched: str
    alone: str
    counts: Sequence[str]


def headline(models: Sequence[Evaluated], sizes: Sequence[str]) -> Iterator[Head]:
    """Yield the rows of the first table, one per model."""
    for number, (each, size) in enumerate(zip(models, sizes, strict=True)):
        rate = each.rates.overall.to_dict()
        matched = rate["length_matched"]
        yield Head(
            colour=number % len(COLOURS),
            glyph=GLYPHS[number % len(GLYPHS)],
            name=each.name,
            model=each.model,
            parameters=size,
            pass_rate=_share(rate["pass_rate"]),
            interval=_interval(rate["interval"]) + ("*" if do_all_agree(rate) else ""),
            matched=NOTHING if matched is None else _matched(matched),
            alone=_baseline(rate["baselines"]["unconditional"]),
            counts=[NOTHING if rate[n] is None else f"{rate[n]:,}" for n in _COUNTS],
        )


def surface(models: Sequence[Evaluated]) -> dict[str, str]:
    """Return the pass rates of surface baselines; those that decide no test are left out."""
    found = {
        name: models[0].rates.overall.baselines[name]
        for name in BASELINES
        if name != "unconditional"
    }
    return {name: _baseline(each.to_dict()) for name, each in found.items() if each is not None}


_COUNTS = ("ties", "unscored", "truncated")


def _share(value: float | None) -> str:
    return NOTHING if value is None else percent(value)


def _interval(bounds: Sequence[float] | None) -> str:
    return "" if bounds is None else f"[{percent(bounds[0])}, {percent(bounds[1])}]"


def _baseline(baseline: Mapping[str, Any] | None) -> str:
    return NOTHING if baseline is None else percent(baseline["with_coin"])


def _matched(matched: Mapping[str, Any]) -> str:
    return f"{_share(matched['pass_rate'])} of {matched['n']:,}"
