"""Fitting tables into the available width: titles fold, columns stack, and no text is cut.

A table that is too wide becomes several tables, each with the first column; if not even two columns
fit, it becomes one block per row.
"""

import io
import shutil
import textwrap
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING

from nnd.schemas.words.errors import visible

_FOLDED_WORD = 24
"""Width up to which a long word is not folded."""

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Column, Table
    from rich.text import Text


def width_here() -> int:
    """Return the available width: `COLUMNS`, else that of the terminal, else 80."""
    return shutil.get_terminal_size().columns


def fit(table: "Table", width: int) -> list["Table"]:
    """Return one or several tables for a table, none wider than `width` if names allow it.

    Columns are as wide as their longest cell; those that may fold (`no_wrap` is False) need only
    their longest word.
    """
    for column in table.columns:
        cells = (column.header, *column.cells)
        shown = (visible(cell) if isinstance(cell, str) else cell for cell in cells)
        column.header, *column._cells = shown  # noqa: SLF001 - rich has no other way to change them
    if _least(table) <= width:
        return [_settled(table, width)]
    folded = _part(table, range(len(table.columns)))
    parts = [folded] if _least(folded) <= width else list(_stacked(table, width))
    if any(_least(part) > width for part in parts):
        parts = _records(table, width)
    else:
        parts = [_settled(part, width) for part in parts]
    parts[-1].caption = table.caption
    return parts


def table_text(table: "Table", width: int | None = None) -> str:
    """Return a table as plain text of the given width, or the available one."""
    width = width or width_here()
    return "\n\n".join(_rendered(part, width) for part in fit(table, width))


def _rendered(table: "Table", width: int) -> str:
    console = _console(width)
    with console.capture() as captured:
        console.print(table, highlight=False, crop=False)
    return "\n".join(line.rstrip() for line in captured.get().splitlines()).strip("\n")


def _console(width: int) -> "Console":
    from rich.console import Console  # noqa: PLC0415 - slow, and few results are looked at

    file = io.StringIO()
    return Console(file=file, width=width, color_system=None, markup=False, emoji=False)


def _least(table: "Table") -> int:
    """Return the width below which a text would be cut."""
    from rich.measure import Measurement  # noqa: PLC0415

    console = _console(10_000)
    widest = Measurement.get(console, console.options, table).maximum
    return widest - sum(_widest(column) - _narrowest(column) for column in table.columns)


def _widest(column: "Column") -> int:
    return max((_length(line) for line in _lines(column)), default=0)


def _narrowest(column: "Column") -> int:
    """Return the width of the longest line, or of the longest word where lines may fold.

    A column that may fold words too (`overflow`) needs only a minimum width.
    """
    if column.no_wrap:
        return _widest(column)
    title = max((_length(line) for line in str(column.header).splitlines()), default=0)
    words = (_length(word) for line in _lines(column) for word in line.split())
    longest = max(words, default=0)
    return max(title, min(longest, _FOLDED_WORD) if column.overflow == "fold" else longest)


def _lines(column: "Column") -> list[str]:
    texts = [column.header, *column.cells]
    return [line for text in texts for line in str(text).splitlines()]


def _length(text: str) -> int:
    from rich.cells import cell_len  # noqa: PLC0415

    return cell_len(text)


def _stacked(table: "Table", width: int) -> Iterator["Table"]:
    """Yield tables that each have the first column and as many of the others as fit."""
    held = [0]
    for column in range(1, len(table.columns)):
        if held != [0] and _least(_part(table, [*held, column])) > width:
            yield _part(table, held)
            held = [0]
        held.append(column)
    yield _part(table, held)


def _settled(table: "Table", width: int) -> "Table":
    """Return a table whose folding columns share the width that the others leave.

    By itself rich takes from the widest column first, and breaks words where it should not.
    """
    wishes = [_widest(column) - _narrowest(column) for column in table.columns]
    spare = width - _least(table)
    if sum(wishes) <= spare:
        return table
    settled = copy(table)
    settled.columns = [copy(column) for column in table.columns]
    for column, wish in zip(settled.columns, wishes, strict=True):
        if not column.no_wrap:
            column.width = _narrowest(column) + spare * wish // sum(wishes)
    return settled


def _records(table: "Table", width: int) -> list["Table"]:
    """Return a table for every row: each cell follows its title, or is below it if it is long.

    Texts that may not fold exceed the width.
    """
    from rich.padding import Padding  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    columns = table.columns
    needed = 2 + max(_narrowest(replace(column, header="")) for column in columns)
    titles = [str(column.header) for column in columns]
    if max(map(_length, titles)) + needed > width:
        titles = [_folded(title, width - needed) for title in titles]
    longest = max(_length(line) for title in titles for line in title.splitlines())
    below = longest + needed > width
    records = []
    for cells in zip(*(column.cells for column in columns), strict=True):
        record = Table(box=None, pad_edge=False, show_header=False, padding=(0, 1))
        record.width = max(width, longest, needed)
        if not below:
            record.add_column(width=longest)
        record.add_column(ratio=1)  # takes what the titles leave
        for title, column, cell in zip(titles, columns, cells, strict=True):
            text = _text(cell, column)
            if not text:
                continue
            if below:
                record.add_row(" ".join(title.split()))
                record.add_row(Padding(text, (0, 0, 0, 2)))
            else:
                record.add_row(title, text)
        records.append(record)
    return records


def _text(cell: "RenderableType", column: "Column") -> "Text":
    from rich.text import Text  # noqa: PLC0415

    text = cell.copy() if isinstance(cell, Text) else Text(str(cell))
    text.no_wrap, text.overflow = column.no_wrap, column.overflow
    return text


def _part(table: "Table", chosen: Sequence[int]) -> "Table":
    """Return some columns of a table, with titles folded to the width of their cells."""
    from rich.table import Table  # noqa: PLC0415

    part = Table(box=table.box, pad_edge=table.pad_edge)
    columns = [table.columns[index] for index in chosen]
    cells = [[*column.cells] for column in columns]
    for column, own in zip(columns, cells, strict=True):
        lines = [line for cell in own for line in str(cell).splitlines()]
        title = _folded(str(column.header), max(map(_length, lines), default=0))
        part.add_column(title, justify=column.justify, no_wrap=column.no_wrap)
    for row, values in zip(table.rows, zip(*cells, strict=True), strict=True):
        part.add_row(*values, style=row.style, end_section=row.end_section)
    return part


def _folded(title: str, most: int) -> str:
    """Return a title on lines of at most `most` characters, unless a word is longer."""
    words = title.split()
    most = max([most, *map(_length, words)])
    return textwrap.fill(" ".join(words), most, break_long_words=False, break_on_hyphens=False)
