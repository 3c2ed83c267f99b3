"""Reading unknown files: the columns of those of one shape, or the content of any."""

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

from nnd.converters.onboard.contents.level_columns import Column, columns_of
from nnd.schemas import (
    ARCHIVES,
    TABLE_SUFFIXES,
    Cells,
    SourceError,
    by_header,
    guess_cells,
    load_json,
    read_archive,
    read_parquet_rows,
    read_rows,
    read_text,
    read_workbook,
    sheet_names,
    shown,
)

Value: TypeAlias = Any
"""A list of rows, each a dict by column, or any value of nested JSON."""

Contents: TypeAlias = Mapping[str, Mapping[str, Value]]
"""Declared name of a file → its parts."""

READABLE = (*TABLE_SUFFIXES, *ARCHIVES)
"""Suffixes of files whose content can be read."""

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

    The keys of `paths` are their names in source.yaml. `sheet` is that of a workbook; None: the
    first.
    """
    shapes: dict[tuple[frozenset[str], str], list[Content]] = {}
    for name, path in paths.items():
        found = replace(_read(path, sheet), files=(name,))
        names = frozenset(key for record in found.records for key in record)
        if not found.is_list:  # the names are those of fields, or a path that begins with `*`
            columns = columns_of(found.records, is_list=False)
            names = frozenset([c.path for c in columns[:1] if c.path.startswith("*")]) or names
        shape = names, str(found.options)
        alike = (known for known in shapes if known[1] == shape[1] and _is_alike(known[0], names))
        shapes.setdefault(next(alike, shape), []).append(found)
    return [_together(found) for found in shapes.values()]


def _is_alike(one: frozenset[str], other: frozenset[str]) -> bool:
    return _ALIKE * len(one | other) <= len(one & other)


def _together(found: Sequence[Content]) -> Content:
    """Return the content of files of one shape; columns that a file lacks are not read."""
    first, *others = found
    records = [record for content in found for record in content.records]
    columns = columns_of(records, is_list=first.is_list)
    if not columns:
        raise SourceError("file.empty", "no fields found", first.files[0])
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
    if suffix not in TABLE_SUFFIXES:
        raise SourceError(
            "file.not-a-table",
            "cannot be read",
            path.name,
            f"the name of a file must end in {', '.join(TABLE_SUFFIXES)}",
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
        raise SourceError("file.empty", "empty", file)
    body = [row for row in body if any(cell.strip() for cell in row.values)]
    if not body:
        raise SourceError("file.empty", "no rows below the header", file)
    _check_header(header, body)
    records = by_header([header, *body])
    names = [n for n in records[0] if header.values.count(n) == 1 and len(n) <= _LONGEST_NAME]
    notes = tuple(
        f"column {shown(name)} is not read: its name is missing, too long or used twice"
        for name in records[0]
        if name not in names
    )
    return Content((file,), [{name: row[name] for name in names} for row in records], notes=notes)


def _check_header(header: Cells, body: Sequence[Cells]) -> None:
    """Refuse a header of which most texts occur in a later row too: it is an ordinary row."""
    if len(header.values) == 1:
        raise SourceError(
            "file.another-kind",
            f"there is only one column, {shown(header.values[0])}, but a source needs a "
            "candidate and a judgement",
            header.where,
        )
    named = {place for place, name in enumerate(header.values) if any(map(str.isalpha, name))}
    again = {place for row in body for place in named if row.values[place] == header.values[place]}
    if 2 * len(again) > len(named):
        names = ", ".join(shown(header.values[place]) for place in sorted(again))
        raise SourceError(
            "header.wrong-names",
            f"{names} is in the first row and again below it: the table has no header, or "
            "has it twice",
            header.where,
            "correct a copy of the file: only the first row may hold the names of columns",
        )


def read_parts(path: Path) -> dict[str, Value]:
    """Return the content of a file: sheet of a workbook, member of an archive, or "" → value.

    A broken file, or one of another kind, has no parts.
    """
    try:
        if not path.name.lower().endswith(ARCHIVES):
            return _parts(path)
        with TemporaryDirectory() as place:
            found = dict[str, Value]()
            for name, raw in read_archive(path).items():
                member = Path(place, f"member{Path(name).suffix.lower()}")
                member.write_bytes(raw)
                for value in _parts(member, packed=False).values():
                    found[name] = value
            return found
    except (ValueError, OSError, SourceError):
        return {}


def _parts(path: Path, *, packed: bool = True) -> dict[str, Value]:
    match path.suffix.lower():
        case ".parquet" if packed:  # not read in archives
            return {"": list(read_parquet_rows(path))}
        case ".xlsx" if packed:
            return {name: by_header(read_workbook(path, name)) for name in sheet_names(path)}
        case ".csv" | ".tsv":
            return {"": by_header(guess_cells(path, even=False)[1])}
        case ".json" | ".jsonl" as suffix:
            text = read_text(path)
            if suffix == ".json":
                with contextlib.suppress(SourceError):  # it may hold JSON lines
                    return {"": load_json(text, path.name)}
            lines = (line for line in text.split("\n") if line.strip())
            return {"": [load_json(line, path.name) for line in lines]}
    return {}
