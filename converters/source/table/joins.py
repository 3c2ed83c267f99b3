"""Columns from another file, joined by a key or by line number."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from nnd.converters.reading import Record, shown
from nnd.converters.source.table.row_cells import Report, Row
from nnd.schemas import SourceError


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
