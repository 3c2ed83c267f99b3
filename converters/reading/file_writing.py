"""Writing rows or nested JSON in each format that can be read, for fixtures."""

import csv
import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import polars as pl

from nnd.converters.reading.table_rows import default_options

_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The earliest date of a zip; fixed, so that the same rows give the same bytes."""

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'


def write_objects(
    path: Path,
    objects: Sequence[Mapping[str, Any]] | Mapping[str, Any],
    options: Mapping[str, Any] = {},
) -> None:
    """Write rows, or the values of nested JSON, in the format of the suffix of `path`.

    The options are the delimiter and quotation of cells, or the sheet, as `read_rows` takes them.
    """
    rows = [objects] if isinstance(objects, Mapping) else list(objects)
    match path.suffix.lower():
        case ".json":
            text = json.dumps(objects, ensure_ascii=False, indent=1) + "\n"
        case ".jsonl":
            text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        case ".parquet":
            pl.DataFrame(rows, infer_schema_length=None).write_parquet(path)
            return
        case ".xlsx":
            _write_workbook(path, options.get("sheet") or "Sheet1", _cells(rows))
            return
        case suffix:
            text = _delimited(_cells(rows), **{**default_options(suffix), **options})
    path.write_text(text, encoding="utf-8", newline="")


def _cells(rows: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    header = list(rows[0])
    return [header, *(["" if row[n] is None else str(row[n]) for n in header] for row in rows)]


def _delimited(rows: Sequence[Sequence[str]], delimiter: str, *, quoted: bool) -> str:
    if not quoted:
        return "".join(f"{delimiter.join(row)}\n" for row in rows)
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator="\n").writerows(rows)
    return text.getvalue()


def _write_workbook(path: Path, sheet: str, rows: Sequence[Sequence[str]]) -> None:
    """Write a minimal workbook that spreadsheet programs open: a sheet of texts."""
    place = "worksheets/sheet1.xml"
    cell = '<c t="inlineStr"><is><t xml:space="preserve">{}</t></is></c>'
    cells = ("".join(cell.format(escape(text)) for text in row) for row in rows)
    members = {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types">'
        '<Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{_TYPE}.sheet.main+xml"/>'
        f'<Override PartName="/xl/{place}" ContentType="{_TYPE}.worksheet+xml"/></Types>',
        "_rels/.rels": _relationship("officeDocument", "xl/workbook.xml"),
        "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>'
        f'<sheet name={quoteattr(sheet)} sheetId="1" r:id="rId1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": _relationship("worksheet", place),
        f"xl/{place}": f'<worksheet xmlns="{_MAIN}"><sheetData>'
        f"{''.join(f'<row>{row}</row>' for row in cells)}</sheetData></worksheet>",
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members.items():
            archive.writestr(zipfile.ZipInfo(name, _EPOCH), _HEAD + text)


def _relationship(kind: str, target: str) -> str:
    return (
        f'<Relationships xmlns="{_PACKAGE}/relationships">'
        f'<Relationship Id="rId1" Type="{_OFFICE}/{kind}" Target="{target}"/></Relationships>'
    )
