"""Steps that change the rows of a table before they are read: splits, computing, joins, filters."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import chain
from typing import Any, NamedTuple, TypeAlias

from nnd.converters.reading import Record, check_columns, shown
from nnd.converters.source.source_files import Files
from nnd.converters.source.table.expressions import compute, keep_where, parse_expression
from nnd.converters.source.table.row_cells import Row
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


FILE, NUMBER = "_file", "_row"
"""Columns that every table has: the declared name of its file, and the number of the row from 1."""

Rows: TypeAlias = Iterator[Row]

Unfold: TypeAlias = Callable[[Mapping[str, Any]], Iterator[Mapping[str, Any]]]
"""Returns the rows of an object of nested JSON."""


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
            objects = files.objects(name)
            records = (Record(one.where, row) for one in objects for row in unfold(one.fields))
        for number, (where, fields) in enumerate(records, start=1):
            if unfold is not None:
                check_columns(where, fields, columns)
            yield Row(where, {**fields, FILE: name, NUMBER: number}, files.report)


def steps_of(table: Table, files: Files) -> list[RowStep]:
    """Return the steps of a section: split, steps without joined columns, joins, other steps."""
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
    before, after = [_split(table["wide"])] if "wide" in table else [], list[RowStep]()
    joined = {name for join in joins for name in join.gives}
    for step in steps:
        if joined.isdisjoint(step.reads):
            before.append(step)
        else:
            after.append(step)
            joined.update(step.gives)
    return [*before, *joins, *after]


def _split(wide: Mapping[str, Any]) -> RowStep:
    """Return the step that makes a row for each candidate of a row.

    Either every system has its own columns, named by a pattern, or lists of equal length hold the
    values of the candidates in order.
    """
    if "lists" in wide:
        lists = wide["lists"]
        gives = [*lists, NAME, NAMES]
        split = partial(_split_lists, lists=lists)
        return RowStep(
            list(lists.values()), gives, lambda rows: chain.from_iterable(map(split, rows))
        )
    named, patterns = wide["systems"], wide["columns"]
    systems = named if isinstance(named, Mapping) else {name: name for name in named}
    columns = {
        system: {name: pattern.replace("{system}", part) for name, pattern in patterns.items()}
        for system, part in systems.items()
    }

    def apply(rows: Rows) -> Rows:
        for row in rows:
            for system, own in columns.items():
                cells = {name: row.fields[column] for name, column in own.items()}
                fields = {**row.fields, **cells, NAME: system, NAMES: list(systems)}
                yield row._replace(fields=fields)

    reads = [column for own in columns.values() for column in own.values()]
    return RowStep(reads, [*patterns, NAME, NAMES], apply)


def _split_lists(row: Row, lists: Mapping[str, str]) -> Rows:
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


def _join(join: Mapping[str, Any], files: Files) -> RowStep:
    """Return the step that adds columns of the row of another file that has the same key."""
    file, on, columns = join["file"], join["on"], join["columns"]
    keys = {on: on} if isinstance(on, str) else dict(on)

    def key_of(row: Row, names: Iterable[str]) -> tuple[str, ...]:
        return tuple(row.filled(name) for name in names)

    def read() -> dict[tuple[str, ...], dict[str, Any]]:
        found: dict[tuple[str, ...], dict[str, Any]] = {}
        wanted = list(dict.fromkeys([*keys.values(), *columns.values()]))
        for where, fields in files.table(file, join, wanted):
            other = Row(where, fields, files.report)
            key = key_of(other, keys.values())
            if key in found:
                raise SourceError(
                    f"{other.place(', '.join(keys.values()))}: {', '.join(map(shown, key))} occurs "
                    "twice; keep one of the rows, or join on more columns"
                )
            found[key] = {name: fields[column] for name, column in columns.items()}
        return found

    def apply(rows: Rows) -> Rows:
        known = read()
        for row in rows:
            key = key_of(row, keys)
            if key not in known:
                raise SourceError(
                    f"{row.place(', '.join(keys))}: {', '.join(map(shown, key))} is not in {file} "
                    f"({', '.join(keys.values())}); correct the cell or that file, or leave the "
                    "row out with `where` in source.yaml"
                )
            yield row._replace(fields={**row.fields, **known[key]})

    return RowStep(list(keys), list(columns), apply)
