"""Writing rows, or nested JSON, as a file of any kind that is read: fixtures are written so."""

import csv
import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

_EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest that a zip can tell: the same rows, the same bytes
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'


def write_objects(
    path: Path,
    objects: Sequence[Mapping[str, Any]] | Mapping[str, Any],
    delimiter: str | None = None,
    *,
    quoted: bool | None = None,
    sheet: str | None = None,
) -> None:
    """Write objects as the kind of file that the suffix of `path` says.

    Args:
        path: The file; its suffix says what it is.
        objects: Rows, or whatever nested JSON holds.
        delimiter: What separates the cells of a csv or tsv file.
        quoted: Whether its cells are quoted where need be.
        sheet: Name of the sheet of a workbook.
    """
    rows = [objects] if isinstance(objects, Mapping) else list(objects)
    match path.suffix.lower():
        case ".json":
            text = json.dumps(objects, ensure_ascii=False, indent=1) + "\n"
            path.write_text(text, encoding="utf-8", newline="")
        case ".jsonl":
            lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
            path.write_text(lines, encoding="utf-8", newline="")
        case ".parquet":
            from pyarrow import Table, parquet  # noqa: PLC0415 - most files need none of it

            parquet.write_table(Table.from_pylist(rows), path)
        case ".xlsx":
            _write_workbook(path, _cells(rows), sheet or "Sheet1")
        case _:
            _write_cells(path, _cells(rows), delimiter or ",", quoted=bool(quoted))


def _cells(rows: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    header = list(rows[0])
    return [header, *([_cell(row[name]) for name in header] for row in rows)]


def _cell(value: object) -> str:
    return "" if value is None else str(value)


def _write_cells(path: Path, rows: list[list[str]], delimiter: str, *, quoted: bool) -> None:
    if quoted:
        text = io.StringIO(newline="")
        csv.writer(text, delimiter=delimiter, lineterminator="\n").writerows(rows)
        content = text.getvalue()
    else:
        content = "".join(delimiter.join(row) + "\n" for row in rows)
    path.write_text(content, encoding="utf-8", newline="")


def _write_workbook(path: Path, rows: list[list[str]], sheet: str) -> None:
    """Write the least that spreadsheet programs open: one sheet of texts."""
    cells = "".join(
        "<row>"
        + "".join(
            f'<c t="inlineStr"><is><t xml:space="preserve">{escape(cell)}</t></is></c>'
            for cell in row
        )
        + "</row>"
        for row in rows
    )
    members = {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types">'
        '<Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{_TYPE}.sheet.main+xml"/>'
        f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{_TYPE}.worksheet+xml"/>'
        "</Types>",
        "_rels/.rels": _relationships("officeDocument", "xl/workbook.xml"),
        "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>'
        f'<sheet name={quoteattr(sheet)} sheetId="1" r:id="rId1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": _relationships("worksheet", "worksheets/sheet1.xml"),
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{_MAIN}"><sheetData>{cells}</sheetData>'
        "</worksheet>",
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members.items():
            archive.writestr(zipfile.ZipInfo(name, _EPOCH), _HEAD + text)


def _relationships(kind: str, target: str) -> str:
    return (
        f'<Relationships xmlns="{_PACKAGE}/relationships">'
        f'<Relationship Id="rId1" Type="{_OFFICE}/{kind}" Target="{target}"/></Relationships>'
    )
