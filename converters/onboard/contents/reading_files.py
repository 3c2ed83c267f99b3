"""Reading an unknown file: the columns of a table, or the fields of nested JSON.

Nested JSON is a tree of levels, whose objects share fields. A table has one level, its rows. What
the fields mean is not guessed here.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from nnd.converters.onboard.contents.levels import Level, lay_out
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


@dataclass(frozen=True, slots=True)
class Content:
    """The content of files of one shape."""

    files: tuple[str, ...]
    levels: tuple[Level, ...]  # outermost first; a table has one
    # The rows or outermost objects of each file.
    records: tuple[Sequence[Mapping[str, Any]], ...] = ()
    is_list: bool = True  # whether JSON is a list (or lines) of objects, rather than one object
    ragged: frozenset[str] = frozenset()  # names of fields that some outermost objects lack
    # Delimiter and quotation of the cells of csv or tsv files, or sheet of workbooks.
    options: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()  # columns that were left out, and why


def read_content(
    paths: Mapping[str, Path], sheet: str | None = None, each: Collection[str] = ()
) -> Content:
    """Read csv, tsv, jsonl, json, xlsx or parquet files of one shape.

    Args:
        paths: Name → file; the suffixes decide how they are read.
        sheet: Sheet of a workbook; None: the first.
        each: Paths of objects whose keys are data; `.` is the file itself.

    Raises:
        SourceError: If a file cannot be read, or has no rows or no header that names columns; or if
            the files are of different kinds.
    """
    found = [_read(path, sheet) for path in paths.values()]
    first = found[0]
    for name, other in zip(paths, found, strict=True):
        if other.options != first.options or (len(found) > 1 and not other.is_list):
            raise SourceError(
                f"{name}: cannot be read together with {next(iter(paths))}: they are "
                "of different kinds; name those of one kind, each with --from"
            )
    keys = [{key for record in other.records[0] for key in record} for other in found]
    shared = set.intersection(*keys)
    if len(found) > 1 and not shared:
        raise SourceError(f"{', '.join(paths)}: have no column in common; name files of one shape")
    notes = [note for other in found for note in other.notes]
    for name in dict.fromkeys(key for own in keys for key in sorted(own - shared)):
        without = next(file for file, own in zip(paths, keys, strict=True) if name not in own)
        notes.append(f"column {shown(name)} is not read: {without} does not have it")
    files = tuple(
        [{key: record[key] for key in record if key in shared} for record in other.records[0]]
        for other in found
    )
    records = [record for own in files for record in own]
    levels = lay_out(records, is_list=first.is_list, each=each)
    if not any(level.fields for level in levels):
        raise SourceError("no fields found; check that this is the right file")
    return replace(
        first,
        files=tuple(paths),
        levels=tuple(levels),
        records=files,
        ragged=frozenset(key for record in records for key in shared - record.keys()),
        notes=tuple(notes),
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
        return replace(_table(path.name, read_workbook(path, sheet)), options={"sheet": sheet})
    records = [record.fields for record in read_rows(path, path.name, {})]
    is_list = suffix != ".json" or read_text(path).lstrip().startswith("[")
    return Content((path.name,), (), (records,), is_list)


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
    return Content((file,), (), (records,), notes=notes)


def _check_header(header: Cells, body: Sequence[Cells]) -> None:
    """Refuse a header whose texts occur in later rows too: it is probably an ordinary row."""
    if len(header.values) == 1:
        raise SourceError(
            f"{header.where}: there is only one column, {shown(header.values[0])}, but a source "
            "needs context, candidate and a judgement; check that this is the right file"
        )
    for place, name in enumerate(header.values):
        if any(char.isalpha() for char in name) and any(row.values[place] == name for row in body):
            raise SourceError(
                f"{header.where}: {shown(name)} is in the first row and again below it: the "
                "table has no header, or has it twice; correct a copy of the file: only the first "
                "row may hold the names of columns"
            )


def _unusable(name: str, header: Sequence[str]) -> str | None:
    if not name.strip():
        return "it has no name"
    if header.count(name) > 1:
        return "the header has its name twice"
    if len(name) > _LONGEST_NAME:
        return f"its name has more than {_LONGEST_NAME} characters"
    return None
