"""Small tables in every format, as bytes, and what converting one is refused with."""

import io
import json
import zipfile
from html import escape
from pathlib import Path

import polars as pl
from support.refusals import refusal

from nnd.converters.folder.conversion import convert
from nnd.schemas import NNDError


def csv_of(*rows: list[str]) -> bytes:
    quoted = [",".join(f'"{cell.replace(chr(34), 2 * chr(34))}"' for cell in row) for row in rows]
    return "\n".join(quoted).encode() + b"\n"


def sheet_of(*rows: list[str]) -> bytes:
    """The XML of a sheet of inline texts."""
    cells = '<c t="inlineStr"><is><t xml:space="preserve">{}</t></is></c>'
    lines = ("".join(cells.format(escape(cell, quote=False)) for cell in row) for row in rows)
    return f"<worksheet>{''.join(f'<row>{line}</row>' for line in lines)}</worksheet>".encode()


def workbook_of(sheet: str | bytes, shared: str = "", packing: int = zipfile.ZIP_STORED) -> bytes:
    """A workbook of one sheet, the smallest that the format allows."""
    members: dict[str, str | bytes] = {
        "xl/workbook.xml": '<w xmlns:r="r"><sheets><sheet name="A" r:id="1"/></sheets></w>',
        "xl/_rels/workbook.xml.rels": '<a><Relationship Id="1" Target="worksheets/a.xml"/></a>',
        "xl/worksheets/a.xml": sheet,
    }
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w", packing) as archive:
        for name, text in members.items():
            archive.writestr(name, text)
        if shared:
            archive.writestr("xl/sharedStrings.xml", f"<sst>{shared}</sst>")
    return raw.getvalue()


def xlsx_of(*rows: list[str]) -> bytes:
    return workbook_of(sheet_of(*rows))


def jsonl_of(*rows: list[str]) -> bytes:
    header, *rest = rows
    return "".join(json.dumps(dict(zip(header, row, strict=True))) + "\n" for row in rest).encode()


def parquet_of(*rows: list[str]) -> bytes:
    raw = io.BytesIO()
    pl.DataFrame(rows[1:], rows[0], orient="row").write_parquet(raw)
    return raw.getvalue()


def tsv_of(*rows: list[str]) -> bytes:
    """Cells as they are, but for line breaks, which they cannot have."""
    return "".join("\t".join(row).replace("\n", " ") + "\n" for row in rows).encode()


def json_of(*rows: list[str]) -> bytes:
    return b"[" + b",".join(jsonl_of(*rows).splitlines()) + b"]"


WRITERS = {
    ".csv": csv_of,
    ".tsv": tsv_of,
    ".xlsx": xlsx_of,
    ".jsonl": jsonl_of,
    ".json": json_of,
    ".parquet": parquet_of,
}


def refused(folder: Path | str, code: str, where: str = "") -> NNDError:
    """The error of converting a folder, after checking its code and place."""
    with refusal(code, where) as caught:
        convert(folder)
    assert str(caught.value).isprintable()
    return caught.value
