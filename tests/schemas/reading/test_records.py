"""Reading lines, fields and cells, each with the place it was read from."""

from pathlib import Path

import pytest
from support.refusals import refusal

from nnd.schemas.reading.records import FileRecord, parse_number, read_cells, read_jsonl
from nnd.schemas.reading.text_files import read_text


def test_every_object_knows_its_line(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"n": 1}\n\n  \n{"n": 2}', encoding="utf-8")

    found = [(record.where, record.fields) for record in read_jsonl(tmp_path / "a.jsonl")]

    assert found == [("a.jsonl:1", {"n": 1}), ("a.jsonl:4", {"n": 2})]


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\x85", "\x0c", "\x1e"])
def test_only_a_line_feed_ends_a_line_of_json(tmp_path: Path, separator: str) -> None:
    # str.splitlines would cut here.
    (tmp_path / "a.jsonl").write_text(f"{{}}\n{{}}{separator}{{}}\n", encoding="utf-8")

    with refusal("file.cut-off", "a.jsonl:2"):
        list(read_jsonl(tmp_path / "a.jsonl"))


def test_a_line_separator_inside_a_json_string_is_text(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "a\u2028b"}\n', encoding="utf-8")

    assert [record.text("text") for record in read_jsonl(tmp_path / "a.jsonl")] == ["a\u2028b"]


@pytest.mark.parametrize(("value", "number"), [(1, 1.0), (0.5, 0.5), (-3, -3.0), (1e-9, 1e-9)])
def test_a_number(value: float, number: float) -> None:
    assert FileRecord("a:1", {"score": value}).number("score") == number


@pytest.mark.parametrize("value", [True, "1", None, [1], float("nan"), float("inf")])
def test_what_is_no_number(value: object) -> None:
    with refusal("cell.not-a-number", "a:1, score"):
        FileRecord("a:1", {"score": value}).number("score")


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1", 1.0),
        ("-1.50", -1.5),
        ("+2", 2.0),
        (".5", 0.5),
        ("5.", 5.0),
        ("1e-3", 0.001),
        ("2.5E+2", 250.0),
        (" 7\t\r\n", 7.0),
        ("007", 7.0),
    ],
)
def test_numbers_as_people_and_programs_write_them(text: str, number: float) -> None:
    assert parse_number(text, "a:1") == number


# All but the empty text and the last two would do for float().
@pytest.mark.parametrize(
    "text",
    [
        "",
        "1_0",
        "\u0661\u0660",  # Arabic-Indic 10
        "\uff15",  # full-width 5
        "\u00a05",  # a no-break space before it
        "nan",
        "inf",
        "-Infinity",
        "1e999",
        "1,5",
        "#NAME?",
    ],
)
def test_numbers_as_only_a_program_would_take_them(text: str) -> None:
    with refusal("cell.not-a-number", "a:1"):
        parse_number(text, "a:1")


def test_texts() -> None:
    assert FileRecord("a:1", {"names": ["x", "y"]}).texts("names") == ["x", "y"]


@pytest.mark.parametrize("value", ["x", ["x", 1], {"x": "y"}, None])
def test_what_is_no_list_of_texts(value: object) -> None:
    with refusal("file.another-kind", "a:1, names"):
        FileRecord("a:1", {"names": value}).texts("names")


@pytest.mark.parametrize("fields", [{}, {"label": None}], ids=["absent", "null"])
def test_an_optional_text_may_be_absent(fields: dict[str, None]) -> None:
    assert FileRecord("a:1", fields).optional_text("label") is None


@pytest.mark.parametrize(("value", "name"), [(7, "7"), ("7", "7"), (0, "0")])
def test_an_identifier_is_a_text_or_a_whole_number(value: object, name: str) -> None:
    assert FileRecord("a:1", {"id": value}).identifier("id") == name


def cells(tmp_path: Path, text: str, *, quoted: bool) -> list[tuple[str, list[str]]]:
    (tmp_path / "a.tsv").write_bytes(text.encode())
    rows = read_cells(tmp_path / "a.tsv", delimiter="\t", quoted=quoted)
    return [(row.where, row.values) for row in rows]


def test_quoted_cells_hold_quotes_tabs_and_line_breaks(tmp_path: Path) -> None:
    text = 'a\tb\n"say ""hi"""\t"x\ty"\n"two\r\nlines"\tz\nlast\trow\n'

    assert cells(tmp_path, text, quoted=True) == [
        ("a.tsv:1", ["a", "b"]),
        ("a.tsv:2", ['say "hi"', "x\ty"]),
        ("a.tsv:4", ["two\nlines", "z"]),
        ("a.tsv:5", ["last", "row"]),
    ]


def test_where_nothing_is_quoted_a_quote_is_a_character(tmp_path: Path) -> None:
    assert cells(tmp_path, 'a\tb\n"stray\tquote"\n', quoted=False) == [
        ("a.tsv:1", ["a", "b"]),
        ("a.tsv:2", ['"stray', 'quote"']),
    ]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["unix", "windows", "old mac"])
def test_rows_may_end_in_any_way(tmp_path: Path, end: str) -> None:
    text = f"a\tb{end}1\t2{end}"

    assert cells(tmp_path, text, quoted=True) == [("a.tsv:1", ["a", "b"]), ("a.tsv:2", ["1", "2"])]


def test_blank_lines_between_rows_are_passed_over(tmp_path: Path) -> None:
    assert cells(tmp_path, "a\n\n\nb\n", quoted=True) == [("a.tsv:1", ["a"]), ("a.tsv:4", ["b"])]


def test_an_empty_cell_is_an_empty_text(tmp_path: Path) -> None:
    assert cells(tmp_path, 'a\tb\t"c"\n\t""\t\n', quoted=True)[1] == ("a.tsv:2", ["", "", ""])


def test_a_byte_order_mark_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\xef\xbb\xbfid")

    assert read_text(tmp_path / "a") == "id"


@pytest.mark.parametrize("value", [1, 5, 2.5])
def test_a_rating_on_the_scale(value: float) -> None:
    assert FileRecord("a.jsonl:3", {"fluency": value}).rating("fluency", 1, 5) == value


@pytest.mark.parametrize("value", [0, 5.5, -1])
def test_a_rating_off_the_scale_names_the_place(value: float) -> None:
    with refusal("cell.out-of-range", "a.jsonl:3, fluency"):
        FileRecord("a.jsonl:3", {"fluency": value}).rating("fluency", 1, 5)
