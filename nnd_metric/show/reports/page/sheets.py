"""Tables of a report: those of the terminal as rows for its page, and the first table."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import factorial
from typing import Any

from rich.table import Table

from nnd.metric.numbers import FEWEST_SYSTEMS, do_all_agree, in_brackets
from nnd.metric.show.drawing.theme import COLOURS, GLYPHS
from nnd.metric.show.reports.content.report_models import ReportModel
from nnd.metric.show.tables.cells import BASELINES, NOTHING, count, pass_rate, share
from nnd.schemas import counted


@dataclass(frozen=True, slots=True)
class SheetRow:
    """A row of a table.

    `strong` rows are emphasised; a part of the table ends with a row that `ends`; `weak` says why
    the numbers of a row say little.
    """

    cells: Sequence[str]
    strong: bool = False
    ends: bool = False
    weak: str = ""


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table for the page; columns that hold numbers are aligned to the right."""

    heads: Sequence[str]
    numbers: Sequence[bool]
    rows: Sequence[SheetRow]
    caption: str


def sheet(table: Table) -> Sheet:
    """Return a table of the terminal (`tables`) for the page."""
    cells = [[str(cell) for cell in column.cells] for column in table.columns]
    rows = [
        SheetRow(texts, strong=row.style == "bold", ends=row.end_section)
        for row, texts in zip(table.rows, zip(*cells, strict=True), strict=True)
    ]
    return Sheet(
        heads=[str(column.header) for column in table.columns],
        numbers=[column.justify == "right" for column in table.columns],
        rows=rows,
        caption=str(table.caption or ""),
    )


def faded(found: Sheet, agreement: Mapping[str, Any]) -> Sheet:
    """Return a table of correlations; those of few systems are marked as weak, with a reason."""
    counts = {category: each["n"] for category, each in agreement["by_category"].items()}
    n = 0
    rows: list[SheetRow] = []
    for row in found.rows:
        if not rows or rows[-1].ends:
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


def headline(models: Sequence[ReportModel], sizes: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield the rows of the first table, one per model."""
    for number, (model, size) in enumerate(zip(models, sizes, strict=True)):
        rate = model.rates.overall
        matched, alone = rate.length_matched, rate.baselines["unconditional"]
        equal = rate.equal_length
        star = "*" if do_all_agree(rate.pass_rate, rate.interval) else ""
        yield {
            "colour": number % len(COLOURS),  # as in figures
            "glyph": GLYPHS[number % len(GLYPHS)],
            "name": model.name,
            "model": model.model,
            "parameters": size,
            "pass_rate": share(rate.pass_rate),
            "interval": in_brackets(rate.interval).strip() + star,
            "matched": f"{share(matched.pass_rate)} of {matched.n:,}" if matched else NOTHING,
            "equal": NOTHING if equal is None else pass_rate(equal.pass_rate, equal.interval),
            "alone": share(None if alone is None else alone.with_coin),
            "counts": [
                *map(count, (rate.ties, rate.unscored, rate.undecidable, rate.truncated)),
            ],
        }


def surface(models: Sequence[ReportModel]) -> dict[str, str]:
    """Return the pass rates of surface baselines; those that decide no test are omitted."""
    return {
        BASELINES[name]: share(baseline.with_coin)
        for name, baseline in models[0].rates.overall.baselines.items()
        if baseline is not None and name in BASELINES and name != "unconditional"
    }
