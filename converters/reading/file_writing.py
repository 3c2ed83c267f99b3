"""Writing rows or nested JSON in each format that can be read, for fixtures."""

import csv
import io
import json
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

_EPOCH = (
    1980,
    1,
    1,
    0,
    0,
    0,
)  # the earliest date of a zip; fixed, so that the same rows give the same bytes
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
    """Write objects in the format of the suffix of `path`.

    Args:
        path: The file.
        objects: Rows, or the values of nested JSON.
        delimiter: What separates the cells of a csv or tsv file.
        quoted: Whether its cells are quoted if necessary.
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
            write_workbook(path, {sheet or "Sheet1": _cells(rows)})
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


def write_workbook(path: Path, sheets: Mapping[str, Sequence[Sequence[str]]]) -> None:
    """Write a minimal workbook that spreadsheet programs open: sheets of texts."""
    places = {name: f"worksheets/sheet{n}.xml" for n, name in enumerate(sheets, start=1)}
    listed = "".join(
        f'<sheet name={quoteattr(name)} sheetId="{n}" r:id="rId{n}"/>'
        for n, name in enumerate(sheets, start=1)
    )
    types = "".join(
        f'<Override PartName="/xl/{place}" ContentType="{_TYPE}.worksheet+xml"/>'
        for place in places.values()
    )
    members = {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types">'
        '<Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{_TYPE}.sheet.main+xml"/>{types}'
        "</Types>",
        "_rels/.rels": _relationships("officeDocument", ["xl/workbook.xml"]),
        "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>{listed}'
        "</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": _relationships("worksheet", places.values()),
        **{f"xl/{place}": _sheet(sheets[name]) for name, place in places.items()},
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members.items():
            archive.writestr(zipfile.ZipInfo(name, _EPOCH), _HEAD + text)


def _sheet(rows: Sequence[Sequence[str]]) -> str:
    cells = "".join(
        "<row>"
        + "".join(
            f'<c t="inlineStr"><is><t xml:space="preserve">{escape(cell)}</t></is></c>'
            for cell in row
        )
        + "</row>"
        for row in rows
    )
    return f'<worksheet xmlns="{_MAIN}"><sheetData>{cells}</sheetData></worksheet>'


def _relationships(kind: str, targets: Iterable[str]) -> str:
    entries = "".join(
        f'<Relationship Id="rId{n}" Type="{_OFFICE}/{kind}" Target="{target}"/>'
        for n, target in enumerate(targets, start=1)
    )
    return f'<Relationships xmlns="{_PACKAGE}/relationships">{entries}</Relationships>'
