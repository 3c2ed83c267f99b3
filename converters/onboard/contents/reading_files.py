"""Reading unknown files of one shape: their columns, and how their cells are separated."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from nnd.converters.onboard.contents.level_columns import Column, columns_of
from nnd.converters.reading import (
    SUFFIXES,
    Cells,
    guess_cells,
    read_rows,
    read_text,
    read_workbook,
    shown,
)
from nnd.schemas import SourceError

_LONGEST_NAME = 100
_ALIKE = 0.75  # of the names of columns


@dataclass(frozen=True, slots=True)
class Content:
    """The content of files of one shape."""

    files: tuple[str, ...]
    records: Sequence[Mapping[str, Any]]  # the rows or outermost objects of all files
    columns: tuple[Column, ...] = ()
    is_list: bool = True  # whether JSON is a list (or lines) of objects, rather than one object
    # Delimiter and quotation of the cells of csv or tsv files, or sheet of workbooks.
    options: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()  # columns that cannot be read, and why
    file_column: Column | None = None  # the file of each row of several tables


def read_contents(paths: Mapping[str, Path], sheet: str | None = None) -> list[Content]:
    """Read csv, tsv, jsonl, json, xlsx or parquet files; those of one shape are read together.

    Args:
        paths: Name → file; the suffixes decide how they are read.
        sheet: Sheet of a workbook; None: the first.

    Raises:
        SourceError: If a file cannot be read, or has no rows or no header that names columns.
    """
    shapes: dict[Any, list[Content]] = {}
    for name, path in paths.items():
        found = replace(_read(path, sheet), files=(name,))
        keys = {key for record in found.records for key in record} if found.records else set()
        is_keyed = not found.is_list and columns_of(found.records, is_list=False)[:1]
        shape = is_keyed[0].path if is_keyed and is_keyed[0].path.startswith("*") else keys
        options = tuple(found.options.items())
        alike = (known for known in shapes if known[1] == options and _is_alike(known[0], shape))
        shapes.setdefault(next(alike, (_frozen(shape), options)), []).append(found)
    return [_together(found) for found in shapes.values()]


def _frozen(shape: Any) -> Any:  # noqa: ANN401 - a path or names
    return frozenset(shape) if isinstance(shape, set) else shape


def _is_alike(one: Any, other: Any) -> bool:  # noqa: ANN401 - paths or names
    if isinstance(one, str) or isinstance(other, str):
        return bool(one == other)
    return bool(_ALIKE * len(one | other) <= len(one & other))


def _together(found: Sequence[Content]) -> Content:
    """Return the content of files of one shape; columns that a file lacks are not read."""
    first, *others = found
    records = [record for content in found for record in content.records]
    columns = columns_of(records, is_list=first.is_list)
    if not columns:
        raise SourceError(f"{first.files[0]}: no fields found; check that this is the right file")
    notes = [note for content in found for note in content.notes]
    if others and (first.options or first.files[0].endswith((".xlsx", ".parquet"))):
        for content in found:
            lacks = {c.path for c in columns} - {key for row in content.records for key in row}
            columns = [column for column in columns if column.path not in lacks]
            notes += [f"column {shown(c)} is not read: {content.files[0]} lacks it" for c in lacks]
    files = tuple(name for content in found for name in content.files)
    of_rows = [content.files[0] for content in found for _ in content.records]
    return replace(
        first,
        files=files,
        records=records,
        columns=tuple(columns),
        notes=tuple(sorted(set(notes))),
        file_column=Column("_file", of_rows) if others else None,
    )


def _read(path: Path, sheet: str | None) -> Content:
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise SourceError(
            f"{path.name}: cannot be read; the name of a file must end in {', '.join(SUFFIXES)}"
        )
    if suffix in (".csv", ".tsv"):
        options, cells = guess_cells(path)
        return replace(_table(path.name, cells), options=options)
    if suffix == ".xlsx":
        options = {} if sheet is None else {"sheet": sheet}
        return replace(_table(path.name, read_workbook(path, sheet)), options=options)
    records = [record.fields for record in read_rows(path, path.name, {})]
    is_list = suffix != ".json" or read_text(path).lstrip().startswith("[")
    return Content((path.name,), records, is_list=is_list)


def _table(file: str, rows: Iterable[Cells]) -> Content:
    header, *body = list(rows) or [Cells(file, [])]
    if not header.values:
        raise SourceError(f"{file}: empty; check that this is the right file")
    body = [row for row in body if any(cell.strip() for cell in row.values)]
    if not body:
        raise SourceError(f"{file}: no rows below the header; check that the file is complete")
    _check_header(header, body)
    reasons = {name: _unusable(name, header.values) for name in header.values}
    notes = tuple(
        f"column {shown(name)} is not read: {why}" for name, why in reasons.items() if why
    )
    places = [(place, name) for place, name in enumerate(header.values) if not reasons[name]]
    records = [
        {name: row.values[place] if row.values[place].strip() else None for place, name in places}
        for row in body
    ]
    return Content((file,), records, notes=notes)


def _check_header(header: Cells, body: Sequence[Cells]) -> None:
    """Refuse a header of which most texts occur in a later row too: it is an ordinary row."""
    if len(header.values) == 1:
        raise SourceError(
            f"{header.where}: there is only one column, {shown(header.values[0])}, but a source "
            "needs a candidate and a judgement; check that this is the right file"
        )
    named = {place for place, name in enumerate(header.values) if any(map(str.isalpha, name))}
    again = {place for row in body for place in named if row.values[place] == header.values[place]}
    if 2 * len(again) > len(named):
        names = ", ".join(shown(header.values[place]) for place in sorted(again))
        raise SourceError(
            f"{header.where}: {names} is in the first row and again below it: the table has no "
            "header, or has it twice; correct a copy of the file: only the first row may hold the "
            "names of columns"
        )


def _unusable(name: str, header: Sequence[str]) -> str | None:
    if not name.strip():
        return "it has no name"
    if header.count(name) > 1:
        return "the header has its name twice"
    if len(name) > _LONGEST_NAME:
        return f"its name has more than {_LONGEST_NAME} characters"
    return None
