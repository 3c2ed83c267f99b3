"""What a file holds, as rows or JSON values, and copies of it that hold something else."""

import csv
import io
import json
import re
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from html import unescape
from pathlib import Path, PurePath
from typing import Any, NamedTuple, TypeAlias
from xml.sax.saxutils import escape, quoteattr

from nnd.converters.reading import (
    LONGEST_CELL,
    TAR_SUFFIXES,
    decode,
    parquet_schema,
    read_members,
    read_parquet_rows,
    read_tarball,
    read_workbook,
)

Value: TypeAlias = Any
"""A list of rows, each a dict by column, or whatever nested JSON holds."""

Contents: TypeAlias = Mapping[str, Mapping[str, Value]]
"""Declared name of a file → its parts."""

_SHEET = re.compile(r'<(?:\w+:)?sheet\b[^>]*?\bname="([^"]*)"')
_DELIMITERS = ",\t;|"


def read_parts(path: Path) -> dict[str, Value]:
    """Return what a file holds: sheet of a workbook, member of an archive, or "" → its value.

    Parts of unknown kinds are left out, and so is a file of one.

    Raises:
        ValueError: If the file is broken; or a SourceError.
    """
    match path.suffix.lower():
        case ".parquet":
            return {"": list(read_parquet_rows(path))}
        case ".xlsx":
            return {name: _sheet(path, name) for name in _sheet_names(path)}
    return {
        name: _FORMATS[suffix].load(decode(raw, name or path.name))
        for name, raw in _members(path).items()
        if (suffix := PurePath(name or path.name).suffix.lower()) in _FORMATS
    }


def write_parts(path: Path, out: Path, parts: Mapping[str, Value]) -> None:
    """Write a copy of a file with other parts; a part that is not given stays as it is.

    Args:
        path: The file.
        out: Where to write.
        parts: As `read_parts` returns them; every sheet of a workbook.
    """
    match path.suffix.lower():
        case ".parquet":
            from pyarrow import Table, parquet  # noqa: PLC0415 - most files need none of it

            parquet.write_table(Table.from_pylist(parts[""], parquet_schema(path)), out)
            return
        case ".xlsx":
            _write_workbook(out, parts)
            return
    changed = _members(path)
    for name, value in parts.items():
        text = decode(changed[name], name or path.name)
        dump = _FORMATS[PurePath(name or path.name).suffix.lower()].dump
        changed[name] = dump(value, text).encode()
    _write_members(path, out, changed)


def _members(path: Path) -> dict[str, bytes]:
    name = path.name.lower()
    if name.endswith(TAR_SUFFIXES):
        return read_tarball(path)
    return read_members(path) if name.endswith(".zip") else {"": path.read_bytes()}


def _write_members(path: Path, out: Path, members: Mapping[str, bytes]) -> None:
    if path.suffix.lower() == ".zip":
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, raw in members.items():
                archive.writestr(name, raw)
    elif list(members) == [""]:
        out.write_bytes(members[""])
    else:
        with tarfile.open(out, "w:gz", format=tarfile.USTAR_FORMAT) as tar:
            for name, raw in members.items():
                info = tarfile.TarInfo(name)
                info.size = len(raw)
                tar.addfile(info, io.BytesIO(raw))


class _Layout(NamedTuple):
    """How the cells of a text are told apart."""

    delimiter: str
    quoted: bool

    def split(self, text: str) -> list[list[str]]:
        """Return the rows; without quotes, what is too much belongs to the last cell."""
        lines = io.StringIO(text, newline=None)
        if self.quoted:
            limit = csv.field_size_limit(LONGEST_CELL)
            try:
                rows = list(csv.reader(lines, delimiter=self.delimiter, strict=True))
            finally:
                csv.field_size_limit(limit)
        else:
            rows = [line.rstrip("\n").split(self.delimiter) for line in lines if line.strip("\n")]
        return [row for row in rows if row]


def _layout(text: str) -> tuple[_Layout, list[list[str]]]:
    """Tell quotes from characters: with the right layout, all rows are as wide as the header."""
    header = text.partition("\n")[0]
    delimiter = max(_DELIMITERS, key=header.count)
    is_plain = delimiter == "\t" and not text.startswith('"')
    for quoted in (not is_plain, is_plain):
        layout = _Layout(delimiter, quoted)
        try:
            rows = layout.split(text)
        except csv.Error:
            continue
        if len({len(row) for row in rows}) == 1:
            return layout, rows
    return (plain := _Layout(delimiter, quoted=False)), plain.split(text)


def _load_table(text: str) -> Value:
    layout, rows = _layout(text)
    return _by_header(rows, layout.delimiter)


def _by_header(rows: list[list[str]], delimiter: str = "\t") -> list[dict[str, str]]:
    """Return rows by column: a column of no name, or of one that is taken, gets its number."""
    if not rows:
        return []
    names = list[str]()
    for number, name in enumerate(rows[0], start=1):
        names.append(name if name and name not in names else f"{name or 'column'} {number}")
    last = len(names) - 1
    cells = ([*row[:last], delimiter.join(row[last:])] for row in rows[1:])
    return [dict(zip(names, row, strict=False)) for row in cells]


def _dump_table(value: Value, text: str) -> str:
    """Write rows under the header of a text, quoted as it is."""
    layout, rows = _layout(text)
    cells = [rows[0], *(list(row.values()) for row in value)]
    if not layout.quoted:
        return "".join(f"{layout.delimiter.join(row)}\n" for row in cells)
    written = io.StringIO()
    csv.writer(
        written,
        delimiter=layout.delimiter,
        quoting=csv.QUOTE_ALL if text.startswith('"') else csv.QUOTE_MINIMAL,
        lineterminator="\n",
    ).writerows(cells)
    return written.getvalue()


def _load_lines(text: str) -> Value:
    return [json.loads(line) for line in text.split("\n") if line.strip()]


def _dump_lines(value: Value, _text: str) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in value)


def _load_json(text: str) -> Value:
    """Return a JSON value, or the list of those that are a line each."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return _load_lines(text)


def _dump_json(value: Value, text: str) -> str:
    is_lines = isinstance(value, list) and not text.lstrip().startswith("[")
    return _dump_lines(value, text) if is_lines else json.dumps(value, ensure_ascii=False)


class _Format(NamedTuple):
    load: Callable[[str], Value]
    dump: Callable[[Value, str], str]


_FORMATS = {
    ".csv": _Format(_load_table, _dump_table),
    ".tsv": _Format(_load_table, _dump_table),
    ".jsonl": _Format(_load_lines, _dump_lines),
    ".json": _Format(_load_json, _dump_json),
}

SUFFIXES = (*_FORMATS, ".parquet", ".xlsx", ".zip", *TAR_SUFFIXES)
"""Of files whose content can be told."""


def _sheet_names(path: Path) -> list[str]:
    book = read_members(path).get("xl/workbook.xml", b"").decode()
    return [unescape(name) for name in _SHEET.findall(book)]


def _sheet(path: Path, name: str) -> Value:
    return _by_header([list(row.values) for row in read_workbook(path, name)])


_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"


def _write_workbook(out: Path, parts: Mapping[str, Value]) -> None:
    """Write what `read_workbook` needs: sheets of texts, and what leads to them."""
    sheets, relations = "", ""
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as book:
        for number, (name, rows) in enumerate(parts.items(), start=1):
            place = f"worksheets/sheet{number}.xml"
            sheets += f'<sheet name={quoteattr(name)} sheetId="{number}" r:id="r{number}"/>'
            relations += (
                f'<Relationship Id="r{number}" Type="{_OFFICE}/worksheet" Target="{place}"/>'
            )
            cells = "".join(
                map(_row, [list(rows[0]), *(row.values() for row in rows)] if rows else [])
            )
            sheet = f'<worksheet xmlns="{_MAIN}"><sheetData>{cells}</sheetData></worksheet>'
            book.writestr(f"xl/{place}", sheet)
        book.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>{sheets}</sheets></workbook>',
        )
        book.writestr(
            "xl/_rels/workbook.xml.rels",
            f'<Relationships xmlns="{_PACKAGE}">{relations}</Relationships>',
        )


def _row(cells: Any) -> str:  # noqa: ANN401 - any texts
    texts = (
        f'<c t="inlineStr"><is><t xml:space="preserve">{escape(cell)}</t></is></c>'
        for cell in cells
    )
    return f"<row>{''.join(texts)}</row>"
