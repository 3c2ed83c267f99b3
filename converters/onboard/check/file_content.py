"""Reading the content of a file as rows or JSON values, and writing changed copies."""

import contextlib
import csv
import json
import re
import tarfile
import zipfile
from collections.abc import Mapping
from functools import partial
from html import unescape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

from nnd.converters.reading import (
    TAR_SUFFIXES,
    parquet_schema,
    read_cells,
    read_members,
    read_parquet_rows,
    read_tarball,
    read_text,
    read_workbook,
    write_workbook,
)
from nnd.schemas import SourceError

Value: TypeAlias = Any
"""A list of rows, each a dict by column, or any value of nested JSON."""

Contents: TypeAlias = Mapping[str, Mapping[str, Value]]
"""Declared name of a file → its parts."""

_ARCHIVES = (".zip", *TAR_SUFFIXES)
_TABLES = (".csv", ".tsv")
_TEXTS = (*_TABLES, ".jsonl", ".json")
SUFFIXES = (*_TEXTS, ".parquet", ".xlsx", *_ARCHIVES)
"""Suffixes of files whose content can be read."""

_SHEET = re.compile(r'<(?:\w+:)?sheet\b[^>]*?\bname="([^"]*)"')
_DELIMITERS = ",\t;|"


def read_parts(path: Path) -> dict[str, Value]:
    """Return the content of a file: sheet of a workbook, member of an archive, or "" → value.

    A broken file, or one of another kind, has no parts.
    """
    try:
        if not path.name.lower().endswith(_ARCHIVES):
            return _parts(path)
        with TemporaryDirectory() as place:
            return {
                name: value
                for name, inner in _unpack(path, Path(place)).items()
                if inner.suffix in _TEXTS
                for value in _parts(inner).values()
            }
    except (ValueError, OSError, SourceError):
        return {}


def write_parts(path: Path, out: Path, parts: Mapping[str, Value]) -> None:
    """Write a copy of a file with changed parts, in the form that `read_parts` returns."""
    if not path.name.lower().endswith(_ARCHIVES):
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
    members = read_members(path) if path.suffix.lower() == ".zip" else read_tarball(path)
    found = dict[str, Path]()
    for number, (name, raw) in enumerate(members.items()):
        found[name] = place / f"{number}{Path(name).suffix.lower()}"
        found[name].write_bytes(raw)
    return found


def _parts(path: Path) -> dict[str, Value]:
    match path.suffix.lower():
        case ".parquet":
            return {"": list(read_parquet_rows(path))}
        case ".xlsx":
            book = read_members(path).get("xl/workbook.xml", b"").decode()
            return {
                name: _by_header([row.values for row in read_workbook(path, name)])
                for name in map(unescape, _SHEET.findall(book))
            }
        case ".csv" | ".tsv":
            return {"": _by_header(_cells(path)[-1])}
        case ".json" | ".jsonl" as suffix:
            return {"": _load(read_text(path), is_lines=suffix == ".jsonl")}
    return {}


def _load(text: str, *, is_lines: bool) -> Value:
    if not is_lines:
        with contextlib.suppress(json.JSONDecodeError):  # a .json may hold JSON lines
            return json.loads(text)
    return [json.loads(line) for line in text.split("\n") if line.strip()]


def _write(path: Path, out: Path, parts: Mapping[str, Value]) -> None:
    match path.suffix.lower():
        case ".parquet":
            from pyarrow import Table, parquet  # noqa: PLC0415 - most files need none of it

            parquet.write_table(Table.from_pylist(parts[""], parquet_schema(path)), out)
        case ".xlsx":
            write_workbook(out, {name: _with_header(rows) for name, rows in parts.items()})
        case ".csv" | ".tsv":
            _write_table(path, out, parts[""])
        case _:
            value = parts[""]
            is_lines = isinstance(value, list) and not read_text(path).lstrip().startswith("[")
            dump = partial(json.dumps, ensure_ascii=False)
            text = "".join(f"{dump(one)}\n" for one in value) if is_lines else dump(value)
            out.write_text(text, encoding="utf-8", newline="")


def _cells(path: Path) -> tuple[str, bool, list[list[str]]]:
    """Return the delimiter of a table, whether its cells are quoted, and its rows.

    Quoting is detected: read correctly, all rows are as wide as the header.
    """
    text = read_text(path).replace("\r", "\n")
    header = text.partition("\n")[0]
    delimiter = max(_DELIMITERS, key=header.count)
    plain = [line.split(delimiter) for line in text.split("\n") if line]
    is_even = len({len(row) for row in plain}) == 1
    if delimiter == "\t" and not text.startswith('"') and is_even:
        return delimiter, False, plain
    try:
        cells = read_cells(path, delimiter=delimiter, quoted=True)
        return delimiter, True, [row.values for row in cells]
    except SourceError:
        return delimiter, False, plain


def _by_header(rows: list[list[str]]) -> list[dict[str, str]]:
    """Return rows by column; a column with a missing or repeated name gets its number."""
    names = list[str]()
    for number, name in enumerate(rows[0] if rows else (), start=1):
        names.append(name if name and name not in names else f"{name or 'column'} {number}")
    more = [f"column {n + 1}" for n in range(len(names), max(map(len, rows), default=0))]
    return [dict(zip((*names, *more), row, strict=False)) for row in rows[1:]]


def _with_header(rows: list[dict[str, str]]) -> list[list[str]]:
    return [list(rows[0]), *(list(row.values()) for row in rows)] if rows else []


def _write_table(path: Path, out: Path, rows: list[dict[str, str]]) -> None:
    """Write rows under the header of a table, quoted as it is."""
    delimiter, is_quoted, cells = _cells(path)
    changed = [cells[0], *(list(row.values()) for row in rows)]
    with out.open("w", encoding="utf-8", newline="") as file:
        if not is_quoted:
            file.writelines(f"{delimiter.join(row)}\n" for row in changed)
            return
        is_always = read_text(path).startswith('"')
        csv.writer(
            file,
            delimiter=delimiter,
            quoting=csv.QUOTE_ALL if is_always else csv.QUOTE_MINIMAL,
            lineterminator="\n",
        ).writerows(changed)
