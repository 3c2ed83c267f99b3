"""Writing rows or nested JSON in each format that can be read, for fixtures."""

import csv
import json
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal
from xml.sax.saxutils import escape, quoteattr

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
    """Write objects in the format of the suffix of `path`.

    Args:
        path: The file.
        objects: Rows, or the values of nested JSON.
        options: Delimiter and quotation of cells, or sheet, as `read_rows` takes them; or the
            schema of a Parquet file.
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

            parquet.write_table(Table.from_pylist(rows, options.get("schema")), path)
        case ".xlsx":
            write_workbook(path, {options.get("sheet") or "Sheet1": _cells(rows)})
        case suffix:
            write_cells(path, _cells(rows), **{**default_options(suffix), **options})


def _cells(rows: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    header = list(rows[0])
    cells = ([row[name] for name in header] for row in rows)
    return [header, *(["" if cell is None else str(cell) for cell in own] for own in cells)]


def write_cells(
    path: Path,
    rows: Iterable[Sequence[str]],
    delimiter: str,
    *,
    quoted: bool,
    all_quoted: bool = False,
) -> None:
    """Write rows of cells, quoted only if necessary unless `all_quoted`."""
    with path.open("w", encoding="utf-8", newline="") as file:
        if quoted:
            quoting: Literal[0, 1] = csv.QUOTE_ALL if all_quoted else csv.QUOTE_MINIMAL
            csv.writer(file, delimiter=delimiter, quoting=quoting, lineterminator="\n").writerows(
                rows
            )
        else:
            file.writelines(f"{delimiter.join(row)}\n" for row in rows)


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
