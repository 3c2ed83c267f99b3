"""From the table files of a source to annotations, as its `table` sections say."""

from collections.abc import Iterator

from nnd.converters import Annotation
from nnd.converters.source import Files, Source
from nnd.converters.source.table.candidates import candidate_annotations
from nnd.converters.source.table.cells import Row
from nnd.converters.source.table.pairs import pair_annotations
from nnd.converters.source.table.rows import read_rows
from nnd.converters.source.table.section import (
    Table,
    check_table,
    columns_of,
    only_aspect,
    tables_of,
)
from nnd.converters.source.table.votes import vote_annotations

FILE, NUMBER = "_file", "_row"
"""Columns that every table has: the declared name of its file, and the number of the row from 1."""


def has_table(source: Source) -> bool:
    """Return whether a source says by `table` sections how its files are read."""
    return bool(tables_of(source))


def table_annotations(files: Files) -> Iterator[Annotation]:
    """Yield the annotations of a source's tables, section by section.

    Raises:
        SourceError: If a table lacks a column, has one twice, or a row has more or fewer cells
            than the header; at a cell that its column does not allow.
    """
    tables = tables_of(files.source)
    for table in tables:
        check_table(table, files.source)
    for table in tables:
        yield from _annotations_of(table, files)


def _annotations_of(table: Table, files: Files) -> Iterator[Annotation]:
    rows = _rows(table, files)
    file = ", ".join(file_names(table, files.source))
    match table:
        case {"pairs": {"high": _}}:
            return pair_annotations(rows, table, only_aspect(table["pairs"], files.source))
        case {"pairs": _}:
            aspect = only_aspect(table["pairs"], files.source)
            return vote_annotations(rows, table, aspect, file, files.report)
    return candidate_annotations(rows, table)


def _rows(table: Table, files: Files) -> Iterator[Row]:
    """Yield the rows of the files that a section names."""
    columns = [column for column in columns_of(table) if column not in (FILE, NUMBER)]
    for name in file_names(table, files.source):
        records = read_rows(files.path(name), name, table, columns)
        for number, record in enumerate(records, start=1):
            yield Row(record.where, {**record.fields, FILE: name, NUMBER: number}, files.report)


def file_names(table: Table, source: Source) -> list[str]:
    """Return the declared names of the files that a section reads; by default the main one."""
    return list(table.get("files", [source.files[0].name]))
