"""From the table files of a source to annotations, as its `table` sections say."""

from collections.abc import Iterator

from nnd.converters import Annotation
from nnd.converters.source import Files, Source
from nnd.converters.source.table.candidates import candidate_annotations
from nnd.converters.source.table.cells import Row
from nnd.converters.source.table.expressions import (
    Expression,
    compute,
    keep_where,
    parse_expression,
)
from nnd.converters.source.table.pairs import pair_annotations
from nnd.converters.source.table.rows import read_rows
from nnd.converters.source.table.section import (
    Table,
    check_table,
    columns_of,
    only_aspect,
    place_of,
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
        _expressions(table, files.source)
    for table in tables:
        yield from _annotations(table, files)


def _annotations(table: Table, files: Files) -> Iterator[Annotation]:
    rows = _rows(table, files)
    match table:
        case {"pairs": {"high": _}}:
            return pair_annotations(rows, table, only_aspect(table["pairs"], files.source))
        case {"pairs": _}:
            aspect = only_aspect(table["pairs"], files.source)
            return vote_annotations(rows, table, aspect, _title(table, files.source), files.report)
    return candidate_annotations(rows, table)


def _rows(table: Table, files: Files) -> Iterator[Row]:
    """Yield the rows that are wanted, with their computed columns."""
    computed, where = _expressions(table, files.source)
    named, given = list[str](), {FILE, NUMBER}
    for name, expression in computed.items():
        named += [column for column in expression.columns if column not in given]
        given.add(name)
    others = [*columns_of(table), *(column for each in where for column in each.columns)]
    named += [column for column in others if column not in given]
    rows = _read(table, files, list(dict.fromkeys(named)))
    if computed:
        rows = compute(rows, computed)
    for expression in where:
        rows = keep_where(rows, expression, _title(table, files.source), files.report)
    return rows


def _read(table: Table, files: Files, columns: list[str]) -> Iterator[Row]:
    for name in _file_names(table, files.source):
        records = read_rows(files.path(name), name, table, columns)
        for number, record in enumerate(records, start=1):
            fields = {**record.fields, FILE: name, NUMBER: number}
            yield Row(record.where, fields, files.report)


def _expressions(table: Table, source: Source) -> tuple[dict[str, Expression], list[Expression]]:
    """Return the computed columns of a section by name, and its filter if it has one."""
    computed = {
        name: parse_expression(place_of(source, "compute", name), text)
        for name, text in table.get("compute", {}).items()
    }
    filters = [table["where"]] if "where" in table else []
    return computed, [parse_expression(place_of(source, "where"), text) for text in filters]


def _file_names(table: Table, source: Source) -> list[str]:
    return list(table.get("files", [source.files[0].name]))


def _title(table: Table, source: Source) -> str:
    """Return what a section is called where something of it is counted: by its files."""
    first, *others = _file_names(table, source)
    return f"{first} and {len(others)} more" if others else first
