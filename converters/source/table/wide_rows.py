"""Rows with several candidates: each becomes a row of its own.

Either every system has its own columns, named by a pattern, or lists of equal length hold the
values of the candidates in order.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from nnd.converters.reading import shown
from nnd.converters.source.table.row_cells import Row
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
