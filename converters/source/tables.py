"""Plain tables: a `table:` section in source.yaml maps the columns of one file to annotations.

A row of the table is a candidate. Whatever the format, a cell is read as text: csv, tsv, jsonl,
json, parquet and xlsx files that hold the same table give the same annotations.
"""

import hashlib
import itertools
import math
import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import TypeAlias

from nnd.converters import Annotation
from nnd.converters.reading import (
    Cells,
    Record,
    parquet_columns,
    parse_json,
    parse_number,
    read_cells,
    read_jsonl,
    read_parquet_rows,
    read_text,
    read_workbook,
    shown,
)
from nnd.converters.source.files import Files
from nnd.converters.source.source import Source, load_converter
from nnd.converters.source.table_section import Table, check_table, columns_of, template_of
from nnd.schemas import SourceError

Report: TypeAlias = Callable[[str, str], None]

SUFFIXES = (".csv", ".tsv", ".jsonl", ".json", ".parquet", ".xlsx")

DELIMITERS = {".csv": ",", ".tsv": "\t"}
"""What separates cells where a `table` section does not say."""

_SPACES = " \t\r\n"
_MOST_LISTED = 20
_MEASURES = ("scores", "ratings", "labels", "marks")


def choose_converter(source: Source) -> Callable[[Files], Iterator[Annotation]]:
    """Return a source's own converter, or the one for tables if it has only a `table:` section.

    Raises:
        SourceError: If it has neither, or its convert.py cannot be run.
    """
    is_table = "table" in source.facts and not (source.folder / "convert.py").exists()
    return table_annotations if is_table else load_converter(source)


def table_annotations(files: Files) -> Iterator[Annotation]:
    """Yield the annotations of the main file of a source, row by row.

    Raises:
        SourceError: If the table lacks a column, has one twice, or a row has more or fewer cells
            than the header; at a mark that is none, or a score that is no number.
    """
    table = files.source.facts["table"]
    check_table(table, files.source)
    name = files.source.files[0].name
    for record in _read(files.path(name), name, table):
        yield from _annotations_of(record, table, files.report)


def _read(path: Path, name: str, table: Table) -> Iterator[Record]:
    """Yield the rows of a table by column; the suffix of the file says how it is read."""
    known = [suffix for suffix in (path.suffix.lower(), Path(name).suffix) if suffix in SUFFIXES]
    columns = columns_of(table)
    match known[0] if known else None:
        case ".csv" | ".tsv" as suffix:
            delimiter = table.get("delimiter", DELIMITERS[suffix])
            quoted = table.get("quoted", suffix == ".csv")
            cells = read_cells(path, delimiter=delimiter, quoted=quoted)
            yield from _by_header(cells, path.name, columns)
        case ".xlsx":
            cells = read_workbook(path, table.get("sheet"))
            yield from _by_header(cells, path.name, columns)
        case ".jsonl" | ".json" as suffix:
            lines = suffix == ".jsonl"
            for record in read_jsonl(path) if lines else parse_json(read_text(path), path.name):
                _check_columns(record.where, record.fields, columns)
                yield record
        case ".parquet":
            yield from _read_parquet(path, columns)
        case _:
            raise SourceError(f"{path.name}: not a table: a name ends in {', '.join(SUFFIXES)}")


def _by_header(cells: Iterator[Cells], file: str, columns: Collection[str]) -> Iterator[Record]:
    header = next(cells, Cells(f"{file}:1", []))
    _check_columns(header.where, header.values, columns)
    twice = sorted({name for name in columns if header.values.count(name) > 1})
    if twice:
        raise SourceError(
            f"{header.where}: the header has {_quoted(twice)} twice; give every column its own name"
        )
    for where, values in cells:
        if any(value.strip() for value in values):
            yield Record(where, dict(zip(header.values, values, strict=True)))


def _read_parquet(path: Path, columns: list[str]) -> Iterator[Record]:
    _check_columns(path.name, parquet_columns(path), columns)
    for number, row in enumerate(read_parquet_rows(path, columns), start=1):
        yield Record(f"{path.name} row {number}", row)


def _check_columns(where: str, found: Collection[str], columns: Collection[str]) -> None:
    missing = [name for name in columns if name not in found]
    if missing:
        raise SourceError(
            f"{where}: there is no column {_quoted(missing)}, only "
            f"{_quoted(found) or 'nothing'}; check that this is the right file, and not another "
            "source's"
        )


def _annotations_of(record: Record, table: Table, report: Report) -> Iterator[Annotation]:
    """Yield what a row says: one annotation per aspect, or more where several errors are marked."""
    columns = table["columns"]
    inputs = {part: _text(record, column) for part, column in table["inputs"].items()}
    context = template_of(table).format(**inputs)
    has_key = "context_id" in columns
    context_id = _text(record, columns["context_id"]) if has_key else _digest(inputs)
    system = _text(record, columns["system"])
    own_id = _text(record, columns["candidate_id"]) if "candidate_id" in columns else None
    category, split, language = (
        _filled(record, columns[field], report) if field in columns else ""
        for field in ("category", "split", "language")
    )
    for aspect in dict.fromkeys(name for kind in _MEASURES for name in table.get(kind, {})):
        for label in _labels(record, table, aspect, report):
            yield Annotation(
                where=record.where,
                context_id=context_id,
                context=context,
                inputs=inputs,
                candidate_id=f"{context_id}/{system}" if own_id is None else own_id,
                candidate=_text(record, columns["candidate"]),
                system=system,
                aspect=aspect,
                label=label,
                score=_score(record, table, aspect, report),
                ratings=_ratings(record, table, aspect, report),
                category=category or None,
                split=split if "split" in columns else "test",
                language=language or None,
            )


def _labels(record: Record, table: Table, aspect: str, report: Report) -> list[str | None]:
    if aspect in table.get("labels", {}):
        return [_filled(record, table["labels"][aspect], report) or None]
    if aspect not in table.get("marks", {}):
        return [None]
    marks = table["marks"][aspect]
    errors = [
        label
        for label, column in marks["columns"].items()
        if _is_marked(record, column, marks["marks"], report)
    ]
    return errors or [marks["no_error"]]


def _is_marked(record: Record, column: str, marks: Collection[str], report: Report) -> bool:
    cell = _filled(record, column, report)
    if cell and cell not in marks:
        raise SourceError(
            f"{record.where}, {column}: {shown(cell)} is neither blank nor a mark "
            f"({', '.join(marks)}); correct the cell, or add it to `marks` in source.yaml"
        )
    return bool(cell)


def _score(record: Record, table: Table, aspect: str, report: Report) -> float | None:
    column = table.get("scores", {}).get(aspect)
    return None if column is None else _number(record, column, _scale(table, aspect), report)


def _ratings(record: Record, table: Table, aspect: str, report: Report) -> list[float] | None:
    if aspect not in table.get("ratings", {}):
        return None
    scale = _scale(table, aspect)
    numbers = [_number(record, column, scale, report) for column in table["ratings"][aspect]]
    return [number for number in numbers if number is not None]


def _scale(table: Table, aspect: str) -> tuple[float, float]:
    lowest, highest = table.get("scale", {}).get(aspect, (-math.inf, math.inf))
    return lowest, highest


def _number(
    record: Record, column: str, scale: tuple[float, float], report: Report
) -> float | None:
    cell = _filled(record, column, report)
    if not cell:
        return None
    where = f"{record.where}, {column}"
    number = parse_number(cell, where)
    lowest, highest = scale
    if not lowest <= number <= highest:
        raise SourceError(
            f"{where}: {number:g} is not between {lowest:g} and {highest:g}; correct the cell, or "
            "the scale in source.yaml"
        )
    return number


def _filled(record: Record, column: str, report: Report) -> str:
    """Return a cell without the spaces around it; one of nothing but odd white space is empty."""
    cell = _text(record, column).strip(_SPACES)
    if cell and all(char.isspace() or unicodedata.category(char) == "Cf" for char in cell):
        points = ", ".join(f"U+{ord(char):04X}" for char in dict.fromkeys(cell))
        report(f"{record.where}, {column}", f"nothing but white space ({points}), read as blank")
        return ""
    return cell


def _text(record: Record, column: str) -> str:
    """Return a cell as text with line feeds only; nothing there is the empty text."""
    match value := record.fields[column]:
        case None:
            return ""
        case str():
            return value.replace("\r\n", "\n")
        case bool():
            return "true" if value else "false"
        case int() | float() | Decimal():
            return str(value)
    raise SourceError(
        f"{record.where}, {column}: {shown(value)} is neither text nor a number; check that this "
        "is the right file, and not another source's"
    )


def _digest(inputs: Mapping[str, str]) -> str:
    """Return a key for a context that has none: what it says, each part with its length."""
    texts = [text.encode(errors="surrogatepass") for text in inputs.values()]  # checked later
    return hashlib.sha256(b"".join(b"%d:%b" % (len(text), text) for text in texts)).hexdigest()[:16]


def _quoted(names: Collection[str]) -> str:
    """Return names as a message lists them; a line that is no header may have thousands."""
    listed = ", ".join(shown(name) for name in itertools.islice(names, _MOST_LISTED))
    return f"{listed}, …" if len(names) > _MOST_LISTED else listed
