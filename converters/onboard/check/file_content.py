"""Reading the content of a file as rows or JSON values, and writing changed copies.

A copy has its rows in another order, on which no result of a converter may depend, or exchanged
values in a column.
"""

import contextlib
import json
import random
import tarfile
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias, TypeVar

from nnd.converters.reading import (
    ARCHIVES,
    SUFFIXES,
    Cells,
    guess_cells,
    load_json,
    parquet_schema,
    read_archive,
    read_parquet_rows,
    read_text,
    read_workbook,
    sheet_names,
    write_cells,
    write_objects,
    write_workbook,
)
from nnd.schemas import SourceError

T = TypeVar("T")

Value: TypeAlias = Any
"""A list of rows, each a dict by column, or any value of nested JSON."""

Contents: TypeAlias = Mapping[str, Mapping[str, Value]]
"""Declared name of a file → its parts."""

READABLE = (*SUFFIXES, *ARCHIVES)
"""Suffixes of files whose content can be read."""

_PACKED = (".parquet", ".xlsx")  # not read in archives


def read_parts(path: Path) -> dict[str, Value]:
    """Return the content of a file: sheet of a workbook, member of an archive, or "" → value.

    A broken file, or one of another kind, has no parts.
    """
    try:
        if not path.name.lower().endswith(ARCHIVES):
            return _parts(path)
        with TemporaryDirectory() as place:
            return {
                name: value
                for name, inner in _unpack(path, Path(place)).items()
                if inner.suffix not in _PACKED
                for value in _parts(inner).values()
            }
    except (ValueError, OSError, SourceError):
        return {}


def write_parts(path: Path, out: Path, parts: Mapping[str, Value]) -> None:
    """Write a copy of a file with changed parts, in the form that `read_parts` returns."""
    if not path.name.lower().endswith(ARCHIVES):
        _write(path, out, parts)
        return
    with TemporaryDirectory() as place:
        members = _unpack(path, Path(place))
        for name, value in parts.items():
            changed = members[name].with_name("changed")
            _write(members[name], changed, {"": value})
            changed.replace(members[name])
        if path.suffix.lower() == ".zip":
            with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
                for name, inner in members.items():
                    archive.write(inner, name)
        else:
            with tarfile.open(out, "w:gz", format=tarfile.USTAR_FORMAT) as tar:
                for name, inner in members.items():
                    tar.add(inner, name)


def _unpack(path: Path, place: Path) -> dict[str, Path]:
    """Write the members of an archive into a folder; return name → path."""
    found = dict[str, Path]()
    for number, (name, raw) in enumerate(read_archive(path).items()):
        found[name] = place / f"{number}{Path(name).suffix.lower()}"
        found[name].write_bytes(raw)
    return found


def _parts(path: Path) -> dict[str, Value]:
    match path.suffix.lower():
        case ".parquet":
            return {"": list(read_parquet_rows(path))}
        case ".xlsx":
            return {name: _by_header(read_workbook(path, name)) for name in sheet_names(path)}
        case ".csv" | ".tsv":
            return {"": _by_header(guess_cells(path, even=False)[1])}
        case ".json" | ".jsonl" as suffix:
            return {"": _load(path, is_lines=suffix == ".jsonl")}
    return {}


def _load(path: Path, *, is_lines: bool) -> Value:
    text = read_text(path)
    if not is_lines:
        with contextlib.suppress(SourceError):  # it may hold JSON lines
            return load_json(text, path.name)
    return [load_json(line, path.name) for line in text.split("\n") if line.strip()]


def _by_header(cells: Iterable[Cells]) -> list[dict[str, str]]:
    """Return rows by column; a column with a missing or repeated name gets its number."""
    header, *rows = [row.values for row in cells] or [[]]
    more = [""] * (max(map(len, rows), default=0) - len(header))
    names = list[str]()
    for number, name in enumerate([*header, *more], start=1):
        names.append(name if name and name not in names else f"{name or 'column'} {number}")
    return [dict(zip(names, row, strict=False)) for row in rows]


def _write(path: Path, out: Path, parts: Mapping[str, Value]) -> None:
    match path.suffix.lower():
        case ".parquet":
            write_objects(out, parts[""], {"schema": parquet_schema(path)})
        case ".xlsx":
            write_workbook(out, {name: _with_header(rows) for name, rows in parts.items()})
        case ".csv" | ".tsv":
            options, (header, *_) = guess_cells(path, even=False)
            rows = [header.values, *_with_header(parts[""])[1:]]
            write_cells(out, rows, **options, all_quoted=read_text(path).startswith('"'))
        case _:
            value = parts[""]
            is_lines = isinstance(value, list) and not read_text(path).lstrip().startswith("[")
            texts = [
                json.dumps(one, ensure_ascii=False) for one in (value if is_lines else [value])
            ]
            text = "".join(f"{one}\n" for one in texts) if is_lines else texts[0]
            out.write_text(text, encoding="utf-8", newline="")


def _with_header(rows: list[dict[str, str]]) -> list[list[str]]:
    return [list(rows[0]), *(list(row.values()) for row in rows)] if rows else []


def shuffle_rows(contents: Contents) -> Contents:
    """Return files with their rows shuffled.

    Rows are those of a table or sheet, lines of JSON, or the entries of a JSON list; for a JSON
    object, its entries and those of its lists of objects.
    """
    chance = random.Random(0)  # noqa: S311 - it guards no secret
    return {
        name: {part: _shuffle(value, chance) for part, value in parts.items()}
        for name, parts in contents.items()
    }


def _shuffle(value: Value, chance: random.Random) -> Value:
    if isinstance(value, dict):
        entries = [(key, _rows(inner, chance)) for key, inner in value.items()]
        return dict(_in_another_order(entries, chance))
    return _in_another_order(value, chance) if isinstance(value, list) else value


def _rows(value: Value, chance: random.Random) -> Value:
    """Shuffle a list of objects; other lists may be columns, or the words of a text."""
    is_rows = isinstance(value, list) and all(isinstance(one, dict) for one in value)
    return _in_another_order(value, chance) if is_rows else value


def _in_another_order(rows: list[T], chance: random.Random) -> list[T]:
    """Return the rows in a different order, if there are two."""
    found = chance.sample(rows, len(rows))
    return found if found != rows else found[::-1]
