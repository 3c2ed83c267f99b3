"""Lines and rows are read by the piece; places and errors are as if each were read alone."""

from pathlib import Path

import pytest
from support.refusals import refusal

from nnd.schemas import read_cells, read_lines

ROWS = 3_000
"""Rows of three pieces of cells."""


def cells(*rows: str) -> bytes:
    return "".join(f"{row}\n" for row in rows).encode()


def places_and_values(path: Path, raw: bytes) -> list[tuple[str, list[str]]]:
    path.write_bytes(raw)
    return [(row.where, row.values) for row in read_cells(path, delimiter=",", quoted=True)]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])
def test_a_row_is_named_by_the_line_in_which_it_ends(end: str, tmp_path: Path) -> None:
    lines, expected, line = ["a,b"], [("x.csv:1", ["a", "b"])], 1
    kept = "\r" if end == "\r" else "\n"
    for number in range(ROWS):
        if number % 700 == 5:  # a blank line
            lines.append("")
            line += 1
        breaks = number % 3 if number % 900 > 800 else 0
        lines.append(f'{number},"{end.join("xyz"[: breaks + 1])}"')
        line += 1 + breaks
        expected.append((f"x.csv:{line}", [str(number), kept.join("xyz"[: breaks + 1])]))
    raw = "".join(f"{each}{end}" for each in lines).encode()

    assert places_and_values(tmp_path / "x.csv", raw) == expected


@pytest.mark.parametrize("ahead", [0, 1, 5, 1022, 1023, 1024, 2500])
def test_the_first_fault_is_named(ahead: int, tmp_path: Path) -> None:
    rows = ["a,b", *["1,2"] * ahead]
    for fault, code in (("1,2,3", "file.not-csv"), ('"1"2,3', "file.not-csv")):
        later = ["1,2", '"1"2,3', "1,2,3"]
        with refusal(code, f"x.csv:{ahead + 2}"):
            places_and_values(tmp_path / "x.csv", cells(*rows, fault, *later))
    raw = cells(*rows) + b"\xff,2\n" + cells("1,2,3")
    with refusal("file.not-utf8", f"x.csv:{ahead + 2}"):
        places_and_values(tmp_path / "x.csv", raw)
    with refusal("file.not-csv", f"x.csv:{ahead + 2}"):
        places_and_values(tmp_path / "x.csv", cells(*rows, "1,2,3") + b"\xff,2\n")


@pytest.mark.parametrize("length", [2**18 - 2, 2**18 - 1, 2**18, 2**18 + 1, 10, 100_003])
def test_lines_are_cut_at_line_feeds_only(length: int, tmp_path: Path) -> None:
    marks = "é\u2028\x0b\x85x"  # nine bytes
    lines = [marks * (length // 9) + "x" * (length % 9) + "\n"] * 4
    lines = ["\ufeff" + lines[0], *lines[1:], "", "\n", "end"]
    (tmp_path / "x").write_bytes("".join(lines).encode())

    assert [*read_lines(tmp_path / "x")] == [lines[0][1:], *lines[1:4], "\n", "end"]


@pytest.mark.parametrize("above", [0, 1, 30_000, 60_000])
def test_a_byte_that_is_not_utf8_is_named_after_the_lines_above(above: int, tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"some text\n" * above + b"\xff\n" + b"\0\n")
    read = list[str]()
    with refusal("file.not-utf8", f"x:{above + 1}"):
        read.extend(read_lines(tmp_path / "x"))
    assert len(read) == above


def test_a_long_line_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NND_MAX_LINE", "100")
    (tmp_path / "x").write_bytes(b"x" * 99 + b"\n" + b"x" * 100 + b"\n")
    with refusal("file.too-large", "x:2"):
        list(read_lines(tmp_path / "x"))
