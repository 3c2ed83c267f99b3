"""Steps that change the rows of a table before they are read: splits, computing, joins, filters."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import chain, islice
from pathlib import PurePath
from typing import Any, NamedTuple, TypeAlias

import polars as pl

from nnd.converters.source.source_files import Files
from nnd.converters.source.table.expressions import compute, keep_where, parse_expression
from nnd.converters.source.table.nested_paths import is_path, unfold, unfolded_keys
from nnd.converters.source.table.row_cells import Row
from nnd.converters.source.table.section import (
    Table,
    as_texts,
    columns_of,
    file_names,
    joins_of,
    place_of,
    title_of,
)
from nnd.schemas import FileRecord, SourceError, shown

NAME, NAMES = "_system", "_systems"
"""Columns of the rows that a wide row is split into: the system, or the number of the item from 1;
and the list of all systems or numbers."""


FILE, NUMBER = "_file", "_row"
"""Columns that every table has: the declared name of its file, and the number of the row from 1."""

_ROWS_AT_A_TIME = 4096

Rows: TypeAlias = Iterator[Row]


class RowStep(NamedTuple):
    """One step."""

    reads: list[str]  # the columns that it reads
    gives: list[str]  # the columns that it adds
    apply: Callable[[Rows], Rows]  # returns the changed rows


def read_table(table: Table, files: Files) -> Rows:
    """Yield the rows of a section's files after its steps."""
    return _read(table, file_names(table, files.source), files, columns_of(table))


def _read(
    part: Mapping[str, Any], names: Iterable[str], files: Files, wanted: Iterable[str]
) -> Rows:
    """Yield the rows of the files of a section or a join, after its steps."""
    steps = steps_of(part, files)
    needed, given = list[str](), {FILE, NUMBER}
    for step in steps:
        needed += [column for column in step.reads if column not in given]
        given.update(step.gives)
    needed += [column for column in wanted if column not in given]
    rows = _rows(part, names, files, list(dict.fromkeys(needed)))
    for step in steps:
        rows = step.apply(rows)
    return rows


def _rows(part: Mapping[str, Any], names: Iterable[str], files: Files, columns: list[str]) -> Rows:
    path = part.get("unfold", "")
    has_paths = bool(path) or any(map(is_path, columns))
    for name in names:
        suffixes = {files.path(name).suffix.lower(), PurePath(name).suffix}
        records: Iterator[FileRecord]
        if not has_paths or suffixes.isdisjoint((".json", ".jsonl", ".parquet")):
            records = files.table(name, part, [c for c in columns if c not in unfolded_keys(path)])
        else:
            nested = files.table(name) if ".parquet" in suffixes else files.objects(name)
            records = unfold(nested, path, columns, NUMBER)
        for number, (where, fields) in enumerate(records, start=1):
            yield Row(where, {NUMBER: number, **fields, FILE: name}, files.report)


def steps_of(table: Table, files: Files) -> list[RowStep]:
    """Return the steps of a section: split, steps without joined columns, joins, other steps.

    A join has the first two.
    """
    joins = [_join(join, files) for join in joins_of(table)]
    source = files.source
    steps = [_extract(column, pattern) for column, pattern in table.get("extract", {}).items()]
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
                "row.wrong-shape",
                f"{shown(cells[name])} is not a list",
                row.place(column),
                "correct the row, or `lists` in source.yaml",
            )
    lengths = {column: len(cells[name]) for name, column in lists.items()}
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"{column} has {length}" for column, length in lengths.items())
        raise SourceError(
            "row.contradiction", f"lists that belong together differ in length: {listed}", row.where
        )
    names = [str(number + 1) for number in range(next(iter(lengths.values())))]
    for number, name in enumerate(names):
        own = {column: values[number] for column, values in cells.items()}
        fields = {**row.fields, **own, NAME: name, NAMES: names}
        yield row._replace(where=f"{row.where}[{number}]", fields=fields)


def _extract(column: str, pattern: str) -> RowStep:
    """Return the step that adds the named groups of a pattern that every cell of a column has."""
    try:
        groups = pl.Series([""]).str.extract_groups(pattern).struct.fields
    except pl.exceptions.PolarsError as error:
        reason = str(error).rpartition("error: ")[2].strip()
        raise SourceError(
            "expression.invalid",
            f"{shown(pattern)} is not a regular expression in linear time: {reason}",
            f"extract: {column}",
            "write it without look-around and backreferences",
        ) from error
    names = [name for name in groups if not name.isdigit()]

    def apply(rows: Rows) -> Rows:
        remaining = iter(rows)
        while batch := [*islice(remaining, _ROWS_AT_A_TIME)]:
            texts = [row.text(column).encode(errors="replace").decode() for row in batch]
            cells = pl.Series(texts, dtype=pl.String)
            found = zip(
                batch,
                cells.str.contains(pattern),
                cells.str.extract_groups(pattern).to_list(),
                strict=True,
            )
            for row, fits, values in found:
                if not fits:
                    raise SourceError(
                        "expression.invalid",
                        f"{shown(row.text(column))} does not fit {shown(pattern)}",
                        row.place(column),
                        "correct `extract` in source.yaml",
                    )
                own = {name: values[name] for name in names}
                yield row._replace(fields={**row.fields, **own})

    return RowStep([column], names, apply)


def _join(join: Mapping[str, Any], files: Files) -> RowStep:
    """Return the step that adds columns of the row of another file that has the same key."""
    on, columns = join["on"], join["columns"]
    names = as_texts(join["file"])
    keys = {on: on} if isinstance(on, str) else dict(on)

    def key_of(row: Row, names: Iterable[str]) -> tuple[str, ...]:
        return tuple(row.filled(name) for name in names)

    def read() -> dict[tuple[str, ...], dict[str, Any]]:
        found: dict[tuple[str, ...], dict[str, Any]] = {}
        wanted = list(dict.fromkeys([*keys.values(), *columns.values()]))
        for other in _read(join, names, files, wanted):
            key = key_of(other, keys.values())
            if key in found:
                raise SourceError(
                    "row.twice",
                    f"{', '.join(map(shown, key))} occurs twice",
                    other.place(", ".join(keys.values())),
                    "keep one of the rows, or join on more columns",
                )
            found[key] = {name: other.fields[column] for name, column in columns.items()}
        return found

    def apply(rows: Rows) -> Rows:
        known = read()
        for row in rows:
            key = key_of(row, keys)
            if key not in known:
                raise SourceError(
                    "cell.unknown-value",
                    f"{', '.join(map(shown, key))} is not in "
                    f"{title_of({'files': names}, files.source)} "
                    f"({', '.join(keys.values())})",
                    row.place(", ".join(keys)),
                    "correct the cell or that file, or leave the row out with `where` in "
                    "source.yaml",
                )
            yield row._replace(fields={**row.fields, **known[key]})

    return RowStep(list(keys), list(columns), apply)
