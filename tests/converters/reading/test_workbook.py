"""Reading .xlsx workbooks, well-formed and hostile."""

import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from support.refusals import refusal

from nnd.converters.reading.workbook import read_workbook

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


def refused(read: Read, rows: str, code: str, where: str, **options: str) -> None:
    with refusal(code, where):
        read(rows, **options)


def test_cells_know_their_row_and_empty_ones_are_filled_in(read: Read) -> None:
    rows = '<row r="2"/><row r="5"><c r="B5"><v>4.5</v></c></row><row r="9"><c r="A9"/></row>'

    assert read(rows) == [("a.xlsx:5", ["", "4.5"])]


def test_cells_without_a_place_follow_each_other(read: Read) -> None:
    assert read("<row><c><v>1</v></c><c><v>2</v></c></row>") == [("a.xlsx:2", ["1", "2"])]


def test_empty_cells_beyond_the_header_are_no_cells(read: Read) -> None:
    assert read('<row r="2"><c r="A2"><v>1</v></c><c r="Z2"/></row>') == [
        ("a.xlsx:2", ["1", ""]),
    ]


def test_shared_and_inline_texts_with_runs_and_without_reading_aids(read: Read) -> None:
    text = "<r><t>to</t></r><r><t>kyo</t></r><rPh><t>TOKYO</t></rPh>"
    rows = f'<row><c t="s"><v>1</v></c><c t="inlineStr"><is>{text}</is></c></row>'

    assert read(rows, shared=f"<si><t>no</t></si><si>{text}</si>") == [
        ("a.xlsx:2", ["tokyo", "tokyo"])
    ]


def test_escaped_characters_and_truth_values(read: Read) -> None:
    rows = '<row><c t="str"><v>a_x000D_b</v></c><c t="b"><v>1</v></c></row>'

    assert read(rows) == [("a.xlsx:2", ["a\rb", "true"])]


def test_a_formula_counts_as_its_stored_value(read: Read) -> None:
    rows = '<row><c><f>1+1</f><v>2</v></c><c t="str"><f>""</f><v></v></c></row>'

    assert read(rows) == [("a.xlsx:2", ["2", ""])]


@pytest.mark.parametrize("stored", ["", "<v/>", "<v></v>"])
def test_a_formula_with_no_stored_value(read: Read, stored: str) -> None:
    rows = f'<row r="7"><c r="B7"><f>SUM(A1:A3)</f>{stored}</c></row>'

    refused(read, rows, "workbook.damaged", "a.xlsx:7, column 2")


def test_an_error_value(read: Read) -> None:
    rows = '<row><c t="e"><v>#DIV/0!</v></c></row>'

    refused(read, rows, "cell.unknown-value", "a.xlsx:2, column 1")


def test_a_sheet_by_name(read: Read) -> None:
    assert read("<row><c><v>1</v></c></row>", sheet="B") == []


def test_a_sheet_that_is_not_there(read: Read) -> None:
    refused(read, "", "name.unknown", "a.xlsx", sheet="C")


def test_a_row_wider_than_the_header(read: Read) -> None:
    refused(read, '<row r="2"><c r="C2"><v>1</v></c></row>', "file.not-csv", "a.xlsx:2")


@pytest.mark.parametrize("cell", ["XFE2", "ZZZ2"])
def test_a_column_that_no_sheet_has(read: Read, cell: str) -> None:
    # XFD is column 16,384, the last; a made-up one must not make a row of millions.
    refused(read, f'<row r="2"><c r="{cell}"><v>1</v></c></row>', "workbook.damaged", "a.xlsx:2")


def test_columns_in_the_wrong_order(read: Read) -> None:
    rows = '<row r="2"><c r="B2"><v>1</v></c><c r="A2"><v>2</v></c></row>'

    refused(read, rows, "workbook.damaged", "a.xlsx:2")


def test_a_document_type(tmp_path: Path) -> None:
    # Entities that name each other unpack without end; no workbook declares any.
    with zipfile.ZipFile(tmp_path / "a.xlsx", "w") as archive:
        archive.writestr(
            "xl/workbook.xml", f'<!DOCTYPE a [<!ENTITY b "b"><!ENTITY c "&b;&b;">]>{BOOK}'
        )

    with refusal("workbook.damaged", "a.xlsx"):
        list(read_workbook(tmp_path / "a.xlsx"))


def test_a_bomb(read: Read) -> None:
    # 8 MB of spaces pack to 8 kB.
    refused(read, " " * 8_000_000, "file.bad-archive", "a.xlsx")


@pytest.mark.parametrize("raw", [b"", b"PK", b"\xd0\xcf\x11\xe0 an old .xls"])
def test_what_is_no_zip(tmp_path: Path, raw: bytes) -> None:
    (tmp_path / "a.xlsx").write_bytes(raw)

    with refusal("file.cut-off", "a.xlsx"):
        list(read_workbook(tmp_path / "a.xlsx"))


def test_a_zip_that_is_no_workbook(tmp_path: Path) -> None:
    (tmp_path / "a.xlsx").write_bytes(b"PK\x05\x06" + bytes(18))

    with refusal("workbook.damaged", "a.xlsx"):
        list(read_workbook(tmp_path / "a.xlsx"))


@pytest.mark.parametrize(
    "rows",
    ["<row>", '<row r="x"/>', '<row><c t="s"><v>9</v></c></row>', "<row>&b;</row>", "\0"],
    ids=["open", "row", "shared", "entity", "nul"],
)
def test_broken_xml(read: Read, rows: str) -> None:
    refused(read, rows, "workbook.damaged", "a.xlsx")
