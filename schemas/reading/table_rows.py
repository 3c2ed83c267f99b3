"""The rows of a table file: csv, tsv, jsonl, json, parquet or xlsx, or the lines of a text.

The same table gives the same rows in each of these formats.
"""

import contextlib
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path, PurePath
from typing import Any

from nnd.schemas.reading.limits import COLUMNS
from nnd.schemas.reading.records import (
    Cells,
    FileRecord,
    check_columns,
    load_json,
    parse_json,
    quoted,
    read_cells,
    read_jsonl,
)
from nnd.schemas.reading.text_files import read_lines, read_text
from nnd.schemas.reading.workbook import read_workbook
from nnd.schemas.words.errors import SourceError

TABLE_SUFFIXES = (".csv", ".tsv", ".jsonl", ".json", ".xlsx", ".parquet")
"""Suffixes of tables. Any other file is a text, with the columns `line` (from 1) and `text`."""

CELL_SUFFIXES = (".csv", ".tsv", ".xlsx")
"""Suffixes of tables whose cells are texts."""

_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_QUOTED = re.compile('"[^"]*"')
_ESCAPES = re.compile('".*"".*"', re.DOTALL)


def default_options(suffix: str) -> dict[str, Any]:
    """Return the delimiter and the quotation of cells that the suffix of a file stands for."""
    if suffix not in _DELIMITERS:
        return {}
    return {"delimiter": _DELIMITERS[suffix], "quoted": suffix == ".csv"}


def guess_cells(path: Path, *, even: bool = True) -> tuple[dict[str, Any], list[Cells]]:
    """Return the options of an unknown csv or tsv file, and its rows.

    The delimiter is that of the suffix if the header has it. Cells are quoted as the suffix says,
    unless they can only be read otherwise. If `even`, all rows must have as many cells.
    """
    usual = default_options(kind_of(path) or path.suffix.lower())
    options = {**usual, "delimiter": _delimiter_of(path, usual["delimiter"])}
    other = {**options, "quoted": not usual["quoted"]}
    try:
        rows = list(read_cells(path, **options))
    except SourceError:
        with contextlib.suppress(SourceError):
            return other, list(read_cells(path, **other))
        if even:
            raise
        options["quoted"] = False
        return options, list(read_cells(path, **options, even=False))
    # Doubled quotes inside cells in quotes show that a program quoted them.
    if not usual["quoted"] and any(_ESCAPES.fullmatch(cell) for row in rows for cell in row.values):
        return other, list(read_cells(path, **other))
    return options, rows


def find_options(path: Path) -> dict[str, Any]:
    """Return the delimiter and the quotation of cells in a file that is not described.

    Cells of a .csv may be quoted; those of a .tsv are if one has doubled quotes, or if the file
    cannot be read otherwise.
    """
    if kind_of(path) == ".tsv":
        return guess_cells(path)[0]
    return {"delimiter": _delimiter_of(path, ",")} if kind_of(path) == ".csv" else {}


def _delimiter_of(path: Path, usual: str) -> str:
    header: str = _QUOTED.sub("", next(read_lines(path), ""))
    delimiters: list[str] = [usual, *",\t;|"]
    return max(delimiters, key=header.count)


def kind_of(path: PurePath, name: str = "") -> str | None:
    """Return the suffix that says how a table is read: of its path, else of its declared name."""
    suffixes = (Path(each.lower().removesuffix(".gz")).suffix for each in (path.name, name))
    return next((suffix for suffix in suffixes if suffix in TABLE_SUFFIXES), None)


def read_rows(
    path: Path, name: str, options: Mapping[str, Any], columns: list[str] | None = None
) -> Iterator[FileRecord]:
    """Yield the rows of a table as column → cell; the suffix of the file decides how it is read.

    If that is unknown, the suffix of its declared `name` does. `options` are delimiter, quotation
    and sheet, if they differ from the defaults. Only required `columns` are read; None: all. Spaces
    around the names of columns of cells are ignored.
    """
    match kind_of(path, name):
        case ".csv" | ".tsv" | ".xlsx":
            places, rows = read_by_header(path, name, options, columns)
            for where, values in rows:
                yield FileRecord(where, {name: values[place] for name, place in places.items()})
        case ".jsonl":
            yield from _with_columns(read_jsonl(path), columns)
        case ".json":
            text = read_text(path)
            is_whole = not _begins_with_line(text)
            records = parse_json(text, path.name) if is_whole else read_jsonl(path)
            yield from _with_columns(records, columns)
        case ".parquet":
            # Importing Arrow takes half a second, and most files need none of it.
            from nnd.schemas.reading.parquet import read_parquet_rows  # noqa: PLC0415

            for number, row in enumerate(read_parquet_rows(path, columns), start=1):
                yield FileRecord(f"{path.name} row {number}", row)
        case _:
            check_columns(path.name, ("line", "text"), columns or ())
            for number, line in enumerate(read_lines(path), start=1):
                text = line.rstrip("\r\n")
                yield FileRecord(f"{path.name}:{number}", {"line": number, "text": text})


def read_by_header(
    path: Path, name: str, options: Mapping[str, Any], columns: Collection[str] | None = None
) -> tuple[dict[str, int], Iterator[Cells]]:
    """Return the places of the columns of a table of cells, and its rows as `read_rows` does.

    Rows that are blank are left out.
    """
    suffix = kind_of(path, name) or ""
    if suffix == ".xlsx":
        cells = read_workbook(path, options.get("sheet"))
    else:
        usual = default_options(suffix)
        cells = read_cells(path, **{key: options.get(key, usual[key]) for key in usual})
    where, header = next(cells, Cells(f"{path.name}:1", []))
    if len(header) > COLUMNS.most:
        raise COLUMNS.error(where)
    header = [name.strip() for name in header]
    columns = [name for name in header if name] if columns is None else columns
    wanted = {name: name.strip() for name in columns}
    check_columns(where, header, wanted.values())
    times = Counter(header)
    twice = sorted(name for name, stripped in wanted.items() if times[stripped] > 1)
    if twice:
        raise SourceError("header.wrong-names", f"the header has {quoted(twice)} twice", where)
    places = {name: header.index(stripped) for name, stripped in wanted.items()}
    return places, (row for row in cells if any(map(str.strip, row.values)))


def is_lines(path: Path, name: str) -> bool:
    """Say whether a file of JSON has an object in each line, by its suffix or its declared name."""
    return ".jsonl" in (path.suffix.lower(), Path(name).suffix)


def by_header(cells: Iterable[Cells]) -> list[dict[str, str]]:
    """Return rows by column; a column with a missing or repeated name gets its number."""
    header, *rows = [row.values for row in cells] or [[]]
    more = [""] * (max(map(len, rows), default=0) - len(header))
    names = list[str]()
    for number, name in enumerate([*header, *more], start=1):
        names.append(name if name and name not in names else f"{name or 'column'} {number}")
    return [dict(zip(names, row, strict=False)) for row in rows]


def _begins_with_line(text: str) -> bool:
    """Whether a line with an object comes first, and more after it, which JSON itself forbids."""
    first, _, others = text.lstrip().partition("\n")
    try:
        return bool(others.strip()) and isinstance(load_json(first, ""), dict)
    except SourceError:
        return False


def _with_columns(
    records: Iterator[FileRecord], columns: Collection[str] | None
) -> Iterator[FileRecord]:
    wanted, most = {*(columns or ())}, COLUMNS.most
    for record in records:
        if len(record.fields) > most:
            raise COLUMNS.error(record.where)
        if not wanted <= record.fields.keys():
            check_columns(record.where, record.fields, wanted)
        if columns is None:
            yield record
        else:
            yield FileRecord(record.where, {name: record.fields[name] for name in columns})
