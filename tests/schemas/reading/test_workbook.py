"""Reading .xlsx workbooks, well-formed and hostile."""

import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from support.refusals import refusal

from nnd.schemas.reading.workbook import read_workbook

BOOK = (
    '<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="r">'
    '<sheets><sheet name="A" r:id="r1"/><sheet name="B" r:id="r2"/></sheets></workbook>'
)
LINKS = (
    '<Relationships><Relationship Id="r2" Target="/xl/worksheets/b.xml"/>'
    '<Relationship Id="r1" Target="worksheets/a.xml"/></Relationships>'
)
HEAD = '<row r="1"><c r="A1" t="str"><v>id</v></c><c r="B1" t="str"><v>n</v></c></row>'

Read = Callable[..., list[tuple[str, list[str]]]]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """`read(rows, shared=…, sheet=…)`: (where, cells) of the rows after HEAD."""

    def read_rows(rows: str, *, shared: str = "", sheet: str | None = None, head: str = HEAD):  # type: ignore[no-untyped-def] # noqa: ANN202
        path = tmp_path / "a.xlsx"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("xl/workbook.xml", BOOK)
            archive.writestr("xl/_rels/workbook.xml.rels", LINKS)
            archive.writestr("xl/worksheets/a.xml", f"<worksheet>{head}{rows}</worksheet>")
            archive.writestr("xl/worksheets/b.xml", f"<worksheet>{HEAD}</worksheet>")
            if shared:
                archive.writestr("xl/sharedStrings.xml", f"<sst>{shared}</sst>")
        return [tuple(row) for row in read_workbook(path, sheet)][1:]

    return read_rows


RUNS = "<r><t>to</t></r><r><t>kyo</t></r><rPh><t>TOKYO</t></rPh>"

SHEETS: dict[str, tuple[str, list[tuple[str, list[str]]]]] = {
    "cells know their row, and empty ones are filled in": (
        '<row r="2"/><row r="5"><c r="B5"><v>4.5</v></c></row><row r="9"><c r="A9"/></row>',
        [("a.xlsx:5", ["", "4.5"])],
    ),
    "cells without a place follow each other": (
        "<row><c><v>1</v></c><c><v>2</v></c></row>",
        [("a.xlsx:2", ["1", "2"])],
    ),
    "empty cells beyond the header are no cells": (
        '<row r="2"><c r="A2"><v>1</v></c><c r="Z2"/></row>',
        [("a.xlsx:2", ["1", ""])],
    ),
    "shared and inline texts with runs and without reading aids": (
        f'<row><c t="s"><v>1</v></c><c t="inlineStr"><is>{RUNS}</is></c></row>',
        [("a.xlsx:2", ["tokyo", "tokyo"])],
    ),
    "escaped characters and truth values": (
        '<row><c t="str"><v>a_x000D_b</v></c><c t="b"><v>1</v></c></row>',
        [("a.xlsx:2", ["a\rb", "true"])],
    ),
    "a formula counts as its stored value": (
        '<row><c><f>1+1</f><v>2</v></c><c t="str"><f>""</f><v></v></c></row>',
        [("a.xlsx:2", ["2", ""])],
    ),
}


@pytest.mark.parametrize(("rows", "expected"), SHEETS.values(), ids=SHEETS)
def test_a_sheet(read: Read, rows: str, expected: list[tuple[str, list[str]]]) -> None:
    assert read(rows, shared=f"<si><t>no</t></si><si>{RUNS}</si>") == expected


def test_a_sheet_by_name(read: Read) -> None:
    assert read("<row><c><v>1</v></c></row>", sheet="B") == []
    with refusal("name.unknown", "a.xlsx"):
        read("", sheet="C")


DAMAGED = "workbook.damaged"


@pytest.mark.parametrize(
    ("rows", "code", "where"),
    [
        *(
            (f'<row r="7"><c r="B7"><f>SUM(A1:A3)</f>{stored}</c></row>', DAMAGED, ":7, column 2")
            for stored in ("", "<v/>", "<v></v>")
        ),
        ('<row><c t="e"><v>#DIV/0!</v></c></row>', "cell.unknown-value", ":2, column 1"),
        # Wider than the header.
        ('<row r="2"><c r="C2"><v>1</v></c></row>', "file.not-csv", ":2"),
        # XFD is column 16,384, the last; a made-up one must not make a row of millions.
        *(
            (f'<row r="2"><c r="{cell}"><v>1</v></c></row>', DAMAGED, ":2")
            for cell in ("XFE2", "ZZZ2")
        ),
        ('<row r="2"><c r="B2"><v>1</v></c><c r="A2"><v>2</v></c></row>', DAMAGED, ":2"),
        # A bomb: 8 MB of spaces pack to 8 kB.
        (" " * 8_000_000, "file.bad-archive", ""),
        # Broken XML.
        ("<row>", DAMAGED, ""),
        ('<row r="x"/>', DAMAGED, ""),
        ('<row><c t="s"><v>9</v></c></row>', DAMAGED, ""),
        ("<row>&b;</row>", DAMAGED, ""),
        ("\0", DAMAGED, ""),
    ],
    ids=lambda value: str(value)[:40],
)
def test_rows_that_are_refused(read: Read, rows: str, code: str, where: str) -> None:
    with refusal(code, f"a.xlsx{where}"):
        read(rows)


def test_a_document_type(tmp_path: Path) -> None:
    # Entities that name each other unpack without end; no workbook declares any.
    with zipfile.ZipFile(tmp_path / "a.xlsx", "w") as archive:
        archive.writestr(
            "xl/workbook.xml", f'<!DOCTYPE a [<!ENTITY b "b"><!ENTITY c "&b;&b;">]>{BOOK}'
        )

    with refusal(DAMAGED, "a.xlsx"):
        list(read_workbook(tmp_path / "a.xlsx"))


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (b"", "file.cut-off"),
        (b"PK", "file.cut-off"),
        (b"\xd0\xcf\x11\xe0 an old .xls", "file.cut-off"),
        (b"PK\x05\x06" + bytes(18), DAMAGED),  # a zip of something else
    ],
)
def test_what_is_no_workbook(tmp_path: Path, raw: bytes, code: str) -> None:
    (tmp_path / "a.xlsx").write_bytes(raw)

    with refusal(code, "a.xlsx"):
        list(read_workbook(tmp_path / "a.xlsx"))
