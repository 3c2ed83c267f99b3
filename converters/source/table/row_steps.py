"""Steps that change the rows of a table before they are read: computing, joining, filtering."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

from nnd.converters.reading import read_rows, unfold_records
from nnd.converters.source.source_files import Files
from nnd.converters.source.table.expressions import compute, keep_where, parse_expression
from nnd.converters.source.table.joins import join_rows, keys_of
from nnd.converters.source.table.row_cells import Row
from nnd.converters.source.table.section import (
    Table,
    columns_of,
    file_names,
    joins_of,
    place_of,
    title_of,
)
from nnd.converters.source.table.wide_rows import NAME, NAMES, split_rows, wide_columns

Rows: TypeAlias = Iterator[Row]

Unfold: TypeAlias = Callable[[Mapping[str, Any]], Iterator[Mapping[str, Any]]]
"""Returns the rows of an object of nested JSON."""

FILE, NUMBER = "_file", "_row"
"""Columns that every table has: the declared name of its file, and the number of the row from 1."""


class Step(NamedTuple):
    """One step.

    Attributes:
        reads: The columns that it reads.
        gives: The columns that it adds.
        apply: Returns the changed rows.
    """

    reads: list[str]
    gives: list[str]
    apply: Callable[[Rows], Rows]


def read_table(table: Table, files: Files, unfold: Unfold | None = None) -> Rows:
    """Yield the rows of a section's files after its steps; `unfold` is for nested JSON."""
    steps = steps_of(table, files)
    needed, given = list[str](), {FILE, NUMBER}
    for step in steps:
        needed += [column for column in step.reads if column not in given]
        given.update(step.gives)
    needed += [column for column in columns_of(table) if column not in given]
    rows = _read(table, files, list(dict.fromkeys(needed)), unfold)
    for step in steps:
        rows = step.apply(rows)
    return rows


def _read(table: Table, files: Files, columns: list[str], unfold: Unfold | None) -> Rows:
    for name in file_names(table, files.source):
        if unfold is None:
            records = read_rows(files.path(name), name, table, columns)
        else:
            records = unfold_records(files.path(name), name, columns, unfold)
        for number, record in enumerate(records, start=1):
            fields = {**record.fields, FILE: name, NUMBER: number}
            yield Row(record.where, fields, files.report)


def steps_of(table: Table, files: Files) -> list[Step]:
    """Return the steps of a section: split, steps without joined columns, joins, other steps.

    Raises:
        SourceError: At an expression that is not valid SQL.
    """
    joins = [_join(join, files) for join in joins_of(table)]
    steps = [_compute(name, text, files) for name, text in table.get("compute", {}).items()]
    if "where" in table:
        steps.append(_where(table, files))
    before = [_split(table["wide"])] if "wide" in table else []
    after = list[Step]()
    joined = {name for join in joins for name in join.gives}
    for step in steps:
        if joined.isdisjoint(step.reads):
            before.append(step)
        else:
            after.append(step)
            joined.update(step.gives)
    return [*before, *joins, *after]


def _split(wide: Mapping[str, Any]) -> Step:
    gives = [*wide.get("lists", wide.get("columns")), NAME, NAMES]
    return Step(wide_columns(wide), gives, lambda rows: split_rows(rows, wide))


def _compute(name: str, text: str, files: Files) -> Step:
    expression = parse_expression(place_of(files.source, "compute", name), text)
    return Step(expression.columns, [name], lambda rows: compute(rows, name, expression))


def _where(table: Table, files: Files) -> Step:
    expression = parse_expression(place_of(files.source, "where"), table["where"])
    title = title_of(table, files.source)
    return Step(
        expression.columns, [], lambda rows: keep_where(rows, expression, title, files.report)
    )


def _join(join: Mapping[str, Any], files: Files) -> Step:
    name, wanted = join["file"], [*keys_of(join).values(), *join["columns"].values()]

    def apply(rows: Rows) -> Rows:
        others = read_rows(files.path(name), name, join, list(dict.fromkeys(wanted)))
        return join_rows(rows, join, others, files.report)

    return Step(list(keys_of(join)), list(join["columns"]), apply)
