"""Steps that change the rows of a table before they are read: computing, joining, filtering."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple, TypeAlias

from nnd.converters.reading import Record, check_columns, shown
from nnd.converters.source.source_files import Files
from nnd.converters.source.table.expressions import compute, keep_where, parse_expression
from nnd.converters.source.table.row_cells import Report, Row
from nnd.converters.source.table.section import (
    Table,
    columns_of,
    file_names,
    joins_of,
    place_of,
    title_of,
)
from nnd.schemas import SourceError

NAME, NAMES = "_system", "_systems"
"""Columns of the rows that a wide row is split into: the system, or the number of the item from 1;
and the list of all systems or numbers."""


def systems_of(wide: Mapping[str, Any]) -> dict[str, str]:
    """Return the systems of a `wide` section → what the names of their columns contain."""
    systems = wide["systems"]
    return dict(systems) if isinstance(systems, Mapping) else {name: name for name in systems}


def wide_columns(wide: Mapping[str, Any]) -> list[str]:
    """Return the columns that a `wide` section reads."""
    if "lists" in wide:
        return list(wide["lists"].values())
    parts = systems_of(wide).values()
    return [_column(pattern, part) for part in parts for pattern in wide["columns"].values()]


def split_rows(rows: Iterable[Row], wide: Mapping[str, Any]) -> Iterator[Row]:
    """Yield a row for each candidate of each row.

    Either every system has its own columns, named by a pattern, or lists of equal length hold the
    values of the candidates in order.

    Raises:
        SourceError: If a cell that should be a list is not, or the lists of a row differ in length.
    """
    if "lists" in wide:
        for row in rows:
            yield from _split_lists(row, wide["lists"])
        return
    systems = systems_of(wide)
    columns = {
        system: {name: _column(pattern, part) for name, pattern in wide["columns"].items()}
        for system, part in systems.items()
    }
    names = list(systems)
    for row in rows:
        for system, own in columns.items():
            cells = {name: row.fields[column] for name, column in own.items()}
            yield row._replace(fields={**row.fields, **cells, NAME: system, NAMES: names})


def _column(pattern: str, part: str) -> str:
    return pattern.replace("{system}", part)


def _split_lists(row: Row, lists: Mapping[str, str]) -> Iterator[Row]:
    cells = {name: row.fields[column] for name, column in lists.items()}
    for name, column in lists.items():
        if not isinstance(cells[name], list):
            raise SourceError(
                f"{row.place(column)}: {shown(cells[name])} is not a list; correct the row, or "
                "`lists` in source.yaml"
            )
    lengths = {column: len(cells[name]) for name, column in lists.items()}
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"{column} has {length}" for column, length in lengths.items())
        raise SourceError(
            f"{row.where}: lists that belong together differ in length: {listed}; correct the row"
        )
    names = [str(number + 1) for number in range(next(iter(lengths.values())))]
    for number, name in enumerate(names):
        own = {column: values[number] for column, values in cells.items()}
        fields = {**row.fields, **own, NAME: name, NAMES: names}
        yield row._replace(where=f"{row.where}[{number}]", fields=fields)


def keys_of(join: Mapping[str, Any]) -> dict[str, str]:
    """Return column of the table → column of the joined file whose cells must be equal."""
    on = join["on"]
    return {on: on} if isinstance(on, str) else dict(on)


def join_rows(
    rows: Iterable[Row], join: Mapping[str, Any], others: Iterable[Record], report: Report
) -> Iterator[Row]:
    """Yield rows with columns of the row of another file that has the same key.

    Args:
        rows: The rows.
        join: The `join` section: file, key, and new column → column of the file.
        others: The rows of that file.
        report: Called to report odd cells.

    Raises:
        SourceError: If a key is missing or occurs twice.
    """
    keys = keys_of(join)
    found = _by_key(others, join, list(keys.values()), report)
    for row in rows:
        key = tuple(row.filled(column) for column in keys)
        if key not in found:
            raise SourceError(
                f"{row.place(', '.join(keys))}: {_quoted_key(key)} is not in {join['file']} "
                f"({', '.join(keys.values())}); correct the cell or that file, or leave the row "
                "out with `where` in source.yaml"
            )
        yield row._replace(fields={**row.fields, **found[key]})


def _by_key(
    others: Iterable[Record], join: Mapping[str, Any], keys: list[str], report: Report
) -> dict[tuple[str, ...], dict[str, Any]]:
    found: dict[tuple[str, ...], dict[str, Any]] = {}
    for record in others:
        other = Row(record.where, record.fields, report)
        key = tuple(other.filled(column) for column in keys)
        if key in found:
            raise SourceError(
                f"{other.place(', '.join(keys))}: {_quoted_key(key)} occurs twice; keep one of the "
                "rows, or join on more columns"
            )
        found[key] = {name: other.fields[column] for name, column in join["columns"].items()}
    return found


def _quoted_key(key: tuple[str, ...]) -> str:
    return ", ".join(map(shown, key))


Rows: TypeAlias = Iterator[Row]

Unfold: TypeAlias = Callable[[Mapping[str, Any]], Iterator[Mapping[str, Any]]]
"""Returns the rows of an object of nested JSON."""

FILE, NUMBER = "_file", "_row"
"""Columns that every table has: the declared name of its file, and the number of the row from 1."""


class RowStep(NamedTuple):
    """One step."""

    reads: list[str]  # the columns that it reads
    gives: list[str]  # the columns that it adds
    apply: Callable[[Rows], Rows]  # returns the changed rows


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
            records = files.table(name, table, columns)
        else:
            records = _unfolded(files.objects(name), columns, unfold)
        for number, record in enumerate(records, start=1):
            fields = {**record.fields, FILE: name, NUMBER: number}
            yield Row(record.where, fields, files.report)


def _unfolded(records: Iterable[Record], columns: list[str], unfold: Unfold) -> Iterator[Record]:
    for record in records:
        for fields in unfold(record.fields):
            check_columns(record.where, fields, columns)
            yield Record(record.where, fields)


def steps_of(table: Table, files: Files) -> list[RowStep]:
    """Return the steps of a section: split, steps without joined columns, joins, other steps.

    Raises:
        SourceError: At an expression that is not valid SQL.
    """
    joins = [_join(join, files) for join in joins_of(table)]
    source, steps = files.source, list[RowStep]()
    for name, text in table.get("compute", {}).items():
        computed = parse_expression(place_of(source, "compute", name), text)
        apply = partial(compute, name=name, expression=computed)
        steps.append(RowStep(computed.columns, [name], apply))
    if "where" in table:
        condition = parse_expression(place_of(source, "where"), table["where"])
        title = title_of(table, source)
        keep = partial(keep_where, expression=condition, file=title, report=files.report)
        steps.append(RowStep(condition.columns, [], keep))
    before, after = list[RowStep](), list[RowStep]()
    if "wide" in table:
        wide = table["wide"]
        gives = [*wide.get("lists", wide.get("columns")), NAME, NAMES]
        before.append(RowStep(wide_columns(wide), gives, lambda rows: split_rows(rows, wide)))
    joined = {name for join in joins for name in join.gives}
    for step in steps:
        if joined.isdisjoint(step.reads):
            before.append(step)
        else:
            after.append(step)
            joined.update(step.gives)
    return [*before, *joins, *after]


def _join(join: Mapping[str, Any], files: Files) -> RowStep:
    name, wanted = join["file"], [*keys_of(join).values(), *join["columns"].values()]

    def apply(rows: Rows) -> Rows:
        others = files.table(name, join, list(dict.fromkeys(wanted)))
        return join_rows(rows, join, others, files.report)

    return RowStep(list(keys_of(join)), list(join["columns"]), apply)
