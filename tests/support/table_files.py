"""Small tables in every format, as bytes, and what converting one is refused with."""

import io
import json
import zipfile
from pathlib import Path

import polars as pl
from support.refusals import refusal

from nnd.converters.folder.conversion import convert
from nnd.schemas import NNDError


def csv_of(*rows: list[str]) -> bytes:
    quoted = [",".join(f'"{cell.replace(chr(34), 2 * chr(34))}"' for cell in row) for row in rows]
    return "\n".join(quoted).encode() + b"\n"


def xlsx_of(*rows: list[str]) -> bytes:
    """A workbook of inline texts, the smallest that the format allows."""
    sheet = "".join(
        "<row>"
        + "".join(
            f'<c t="inlineStr"><is><t xml:space="preserve">{cell}</t></is></c>' for cell in row
        )
        + "</row>"
        for row in rows
    )
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w") as archive:
        archive.writestr(
            "xl/workbook.xml",
            '<workbook xmlns:r="r"><sheets><sheet name="A" r:id="1"/></sheets></workbook>',
        )
        archive.writestr(
            "xl/_rels/workbook.xml.rels",
            '<Relationships><Relationship Id="1" Target="worksheets/a.xml"/></Relationships>',
        )
        archive.writestr("xl/worksheets/a.xml", f"<worksheet>{sheet}</worksheet>")
    return raw.getvalue()


def jsonl_of(*rows: list[str]) -> bytes:
    header, *rest = rows
    return "".join(json.dumps(dict(zip(header, row, strict=True))) + "\n" for row in rest).encode()


def parquet_of(*rows: list[str]) -> bytes:
    raw = io.BytesIO()
    pl.DataFrame(rows[1:], rows[0], orient="row").write_parquet(raw)
    return raw.getvalue()


def refused(folder: Path | str, code: str, where: str = "") -> NNDError:
    """The error of converting a folder, after checking its code and place."""
    with refusal(code, where) as caught:
        convert(folder)
    assert str(caught.value).isprintable()
    return caught.value
