"""Reading the content of a file as rows or JSON values."""

import contextlib
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

from nnd.converters.onboard.check.file_columns import Value
from nnd.converters.reading import (
    ARCHIVES,
    SUFFIXES,
    by_header,
    guess_cells,
    load_json,
    read_archive,
    read_parquet_rows,
    read_text,
    read_workbook,
    sheet_names,
)
from nnd.schemas import SourceError

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


def _unpack(path: Path, place: Path) -> dict[str, Path]:
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
            return {name: by_header(read_workbook(path, name)) for name in sheet_names(path)}
        case ".csv" | ".tsv":
            return {"": by_header(guess_cells(path, even=False)[1])}
        case ".json" | ".jsonl" as suffix:
            return {"": _load(path, is_lines=suffix == ".jsonl")}
    return {}


def _load(path: Path, *, is_lines: bool) -> Value:
    text = read_text(path)
    if not is_lines:
        with contextlib.suppress(SourceError):  # it may hold JSON lines
            return load_json(text, path.name)
    return [load_json(line, path.name) for line in text.split("\n") if line.strip()]
