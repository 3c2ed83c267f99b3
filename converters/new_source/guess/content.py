"""What an unknown file holds: the columns of a table, or the fields of nested JSON.

Nested JSON is a tree of levels: objects that lie side by side in lists, each level with the fields
its objects share. A table has one level, its rows. Nothing is taken for anything yet.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from nnd.converters.new_source.guess.levels import MOST_FIELDS, Field, Level, lay_out
from nnd.converters.reading import (
    DELIMITERS,
    Cells,
    parse_json,
    read_cells,
    read_jsonl,
    read_lines,
    read_parquet_rows,
    read_text,
    read_workbook,
    shown,
)
from nnd.schemas import SourceError

SUFFIXES = (".csv", ".tsv", ".jsonl", ".json", ".xlsx", ".parquet")

KEY = "*"
"""Last part of the name of a key: `outputs.*` for the keys under which outputs lie."""

_LONGEST_NAME = 100
_QUOTED = re.compile('"[^"]*"')


@dataclass(frozen=True, slots=True)
class Content:
    """What a file holds.

    Attributes:
        file: Name of the file.
        levels: Outermost first; a table has one.
        is_table: Whether a `table:` section could read it: rows of cells.
        is_list: Whether JSON is a list (or lines) of objects, rather than one object.
        delimiter: What separates the cells of a csv or tsv file, or None for other files.
        quoted: How quotes of a csv or tsv file are read, or None for other files.
        notes: What was left out, and why.
    """

    file: str
    levels: tuple[Level, ...]
    is_table: bool
    is_list: bool = True
    delimiter: str | None = None
    quoted: bool | None = None
    notes: tuple[str, ...] = ()


def read_content(path: Path, sheet: str | None = None) -> Content:
    """Read a csv, tsv, jsonl, json, xlsx or parquet file.

    Args:
        path: The file; its suffix says how it is read.
        sheet: Sheet of a workbook; None: the first.

    Raises:
        SourceError: If it cannot be read, has no rows, or no header that names columns.
    """
    match path.suffix.lower():
        case ".csv" | ".tsv":
            return _delimited(path)
        case ".xlsx":
            return _table(path.name, read_workbook(path, sheet))
        case ".jsonl":
            return _nested(path.name, [record.fields for record in read_jsonl(path)])
        case ".json":
            text = read_text(path)
            records = [record.fields for record in parse_json(text, path.name)]
            return _nested(path.name, records, is_list=text.lstrip().startswith("["))
        case ".parquet":
            return _nested(path.name, list(read_parquet_rows(path)), is_parquet=True)
    raise SourceError(
        f"{path.name}: not a file that can be looked at: a name ends in {', '.join(SUFFIXES)}"
    )


def _delimited(path: Path) -> Content:
    """Read cells as a `table:` does by default, or with quotes the other way where that fails."""
    usual = path.suffix.lower() == ".csv"
    delimiter = _delimiter(path)
    read = partial(read_cells, path, delimiter=delimiter)
    made = partial(_table, path.name, delimiter=delimiter)
    try:
        rows = list(read(quoted=usual))
    except SourceError as first:
        try:
            rows = list(read(quoted=not usual))
        except SourceError:
            raise first from None
        return made(iter(rows), quoted=not usual)
    # Cells in quotes with doubled quotes inside were written by a program that quotes.
    if not usual and any(_is_quoted(cell) for row in rows for cell in row.values):
        return made(read(quoted=True), quoted=True)
    return made(iter(rows), quoted=usual)


def _delimiter(path: Path) -> str:
    """Return what separates the cells of the header: what the suffix says, if it is there."""
    header = _QUOTED.sub("", next(read_lines(path), ""))
    usual = DELIMITERS[path.suffix.lower()]
    found: str = max((usual, *",\t;|"), key=header.count)
    return found


def _is_quoted(cell: str) -> bool:
    return cell.startswith('"') and cell.endswith('"') and '""' in cell[1:-1]


def _table(
    file: str,
    rows: Iterator[Cells],
    *,
    delimiter: str | None = None,
    quoted: bool | None = None,
) -> Content:
    header = next(rows, None)
    if header is None:
        raise SourceError(f"{file}: empty; check that this is the right file")
    body = [(where, values) for where, values in rows if any(cell.strip() for cell in values)]
    if not body:
        raise SourceError(f"{file}: there is no row below the header; check that it is whole")
    columns = list(zip(*(values for _, values in body), strict=True))
    _check_header(header, columns)
    fields, notes = [], []
    for name, cells in zip(header.values, columns, strict=True):
        reason = _unusable(name, header.values)
        if reason is None:
            values = [cell if cell.strip() else None for cell in cells]
            fields.append(Field((name,), values))
        else:
            notes.append(f"column {shown(name)} is left out: {reason}")
    level = Level((), None, range(len(body)), keyed=False, fields=tuple(fields[:MOST_FIELDS]))
    return Content(
        file, (level,), is_table=True, delimiter=delimiter, quoted=quoted, notes=tuple(notes)
    )


def _check_header(header: Cells, columns: Sequence[Sequence[str]]) -> None:
    """Complain of a first row that is a row like the others: its texts stand below it, too."""
    if len(header.values) == 1:
        raise SourceError(
            f"{header.where}: one column, {shown(header.values[0])}, where context, candidate, "
            "system and a judgement are looked for; check that this is the right file"
        )
    for name, cells in zip(header.values, columns, strict=True):
        if any(char.isalpha() for char in name) and name in cells:
            raise SourceError(
                f"{header.where}: {shown(name)} is in the first row and again below it: the "
                "table has no header, or has it twice; the first row must name the columns, and "
                "stand once: write a copy that has it so"
            )


def _unusable(name: str, header: Sequence[str]) -> str | None:
    if not name.strip():
        return "it has no name"
    if header.count(name) > 1:
        return "the header has its name twice"
    if len(name) > _LONGEST_NAME:
        return f"its name has more than {_LONGEST_NAME} characters"
    return None


def _nested(
    file: str,
    records: Sequence[Mapping[str, Any]],
    *,
    is_list: bool = True,
    is_parquet: bool = False,
) -> Content:
    """Lay records out in levels."""
    levels = lay_out(records, is_list=is_list)
    if not any(level.fields for level in levels):
        raise SourceError(f"{file}: there is nothing in it; check that this is the right file")
    # A `table:` wants every column in every row.
    is_flat = len(levels) == 1 and len({frozenset(record) for record in records}) == 1
    is_flat = is_flat and all(
        len(field.path) == 1 and not isinstance(value, list | dict)
        for field in levels[0].fields
        for value in field.values
    )
    is_table = is_parquet or (is_list and is_flat)
    return Content(file, tuple(levels), is_table=is_table, is_list=is_list)
