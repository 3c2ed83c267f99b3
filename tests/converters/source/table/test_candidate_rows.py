"""Rows that are candidates: columns of one file become annotations, with no Python."""

import hashlib
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from support.table_files import csv_of, jsonl_of, parquet_of, refused, xlsx_of

from nnd.converters.folder.conversion import Conversion, convert

TABLE: dict[str, Any] = {
    "columns": {"context_id": "key", "candidate": "answer", "system": "by"},
    "inputs": {"question": "question"},
    "labels": {"answer": "verdict"},
}
GAP = {"rule": "gap", "minimum": 1}
HEADER = ["key", "question", "answer", "by", "verdict"]
ROWS = [
    ["c1", "Who\nsings?", "A bird.", "heron", "good"],
    ["c1", "Who\nsings?", 'A "bird", I think.', "wren", "wrong"],
    ["c1", "Who\nsings?", "You!", "plover", "rude"],
]

TableSource = Callable[..., Path]


def test_a_table_needs_no_python(table_source: TableSource) -> None:
    pairs = convert(table_source(csv_of(HEADER, *ROWS))).pairs

    columns = ("context_id", "context", "high_id", "low_id", "candidate_low", "error_category")
    assert pairs.select(columns).rows() == [
        ("c1", "Who\nsings?", "c1/heron", "c1/plover", "You!", "rude"),
        ("c1", "Who\nsings?", "c1/heron", "c1/wren", 'A "bird", I think.', "wrong"),
    ]


def test_a_convert_py_goes_before_a_table(table_source: TableSource) -> None:
    folder = table_source(csv_of(HEADER, *ROWS))
    (folder / "convert.py").write_text("raise ValueError('I am run')", encoding="utf-8")

    refused(folder, "source.definition", "convert.py")


@pytest.mark.parametrize(
    ("name", "raw"),
    [
        ("toy.csv", csv_of(HEADER, *ROWS)),
        ("toy.csv", b"\xef\xbb\xbf" + csv_of(HEADER, *ROWS).replace(b"\n", b"\r\n")),
        ("toy.jsonl", jsonl_of(HEADER, *ROWS)),
        ("toy.parquet", parquet_of(HEADER, *ROWS)),
        ("toy.xlsx", xlsx_of(HEADER, *ROWS)),
    ],
    ids=["csv", "crlf", "jsonl", "parquet", "xlsx"],
)
def test_every_format_gives_the_same(table_source: TableSource, name: str, raw: bytes) -> None:
    annotations = convert(table_source(raw, name)).annotations

    assert annotations.select("context", "candidate", "system", "label").rows() == [
        (ROWS[0][1], ROWS[0][2], "heron", "good"),
        (ROWS[2][1], ROWS[2][2], "plover", "rude"),
        (ROWS[1][1], ROWS[1][2], "wren", "wrong"),
    ]


def test_a_tsv_is_not_quoted(table_source: TableSource) -> None:
    rows = [["c1", "Who?", '"A" bird', "heron", "good"], ["c1", "Who?", 'B"', "wren", "wrong"]]
    raw = "".join("\t".join(row) + "\n" for row in [HEADER, *rows]).encode()

    pair = convert(table_source(raw, "toy.tsv")).pairs.row(0, named=True)

    assert (pair["candidate_high"], pair["candidate_low"]) == ('"A" bird', 'B"')


def test_a_tsv_that_says_so_is_quoted(table_source: TableSource) -> None:
    raw = csv_of(HEADER, *ROWS).replace(b'","', b'"\t"')

    assert convert(table_source(raw, "toy.tsv", quoted=True)).pairs["candidate_low"][1] == (
        'A "bird", I think.'
    )


def test_cells_may_be_separated_by_something_else(table_source: TableSource) -> None:
    raw = csv_of(HEADER, *ROWS)
    source = table_source(raw.replace(b'","', b'";"'), delimiter=";")

    assert convert(source).pairs["candidate_low"][1] == 'A "bird", I think.'


def test_the_suffix_of_the_file_given_goes_before_the_declared_one(
    table_source: TableSource, tmp_path: Path
) -> None:
    given = tmp_path / "given.JSONL"
    given.write_bytes(jsonl_of(HEADER, *ROWS))

    assert convert(table_source(b"", "toy.csv"), origin=given).pairs.height == 2


def test_a_context_with_no_key_is_known_by_its_text(table_source: TableSource) -> None:
    columns = {"candidate": "answer", "system": "by"}
    crlf = [ROWS[0], [ROWS[1][0], "Who\r\nsings?", *ROWS[1][2:]]]

    pairs = convert(table_source(csv_of(HEADER, *crlf), columns=columns)).pairs

    # "Who", a line feed, "sings?": 10 bytes.
    digest = hashlib.sha256(b"10:Who\nsings?").hexdigest()[:16]
    assert pairs.select("context_id", "high_id").rows() == [(digest, f"{digest}/heron")]


def test_the_key_of_a_context_tells_its_parts_apart(table_source: TableSource) -> None:
    columns = {"candidate": "answer", "system": "by"}
    rows = [["ab", "c", "A", "heron", "good"], ["a", "bc", "B", "wren", "wrong"]]
    inputs = {"first": "key", "second": "question"}
    raw = csv_of(HEADER, *rows, *([*row[:2], "C", "plover", "wrong"] for row in rows))

    found = convert(table_source(raw, columns=columns, inputs=inputs, context="{first}{second}"))

    assert found.manifest["counts"]["contexts"] == 2


def test_a_candidate_may_have_its_own_key(table_source: TableSource) -> None:
    rows = [[str(number), *row] for number, row in enumerate(ROWS)]
    columns = TABLE["columns"] | {"candidate_id": "n"}

    pairs = convert(table_source(csv_of(["n", *HEADER], *rows), columns=columns)).pairs

    assert pairs.select("high_id", "low_id").rows() == [("0", "1"), ("0", "2")]


def test_parts_are_read_as_the_template_says(table_source: TableSource) -> None:
    inputs = {"question": "question", "key": "key"}
    folder = table_source(csv_of(HEADER, *ROWS), inputs=inputs, context="{{{key}}} {question}")

    assert convert(folder).pairs["context"][0] == "{c1} Who\nsings?"


@pytest.mark.parametrize(
    "context",
    [
        None,
        "{question",
        "{paragraph}",
        "{question.__class__}",
        "{question!r}",
        "{question:>9}",
        "{}",
    ],
)
def test_a_template_that_makes_no_sense(table_source: TableSource, context: str | None) -> None:
    inputs = {"question": "question", "key": "key"}
    folder = table_source(csv_of(HEADER, *ROWS), inputs=inputs, context=context)

    refused(folder, "source.definition", "source.yaml: table: context")


def test_category_split_and_language(table_source: TableSource) -> None:
    header = [*HEADER, "topic", "part", "tongue"]
    columns = TABLE["columns"] | {"category": "topic", "split": "part", "language": "tongue"}
    rows = [[*ROWS[0], "birds", "dev", "de"], [*ROWS[1], "birds", "dev", "de"]]
    rows += [["c2", *row[1:], "", "test", ""] for row in ROWS]

    pairs = convert(table_source(csv_of(header, *rows), columns=columns)).pairs

    assert pairs.select("context_id", "category", "split", "language").rows() == [
        ("c1", "birds", "dev", "de"),
        ("c2", None, "test", "en"),
        ("c2", None, "test", "en"),
    ]


def scored(table_source: TableSource, *scores: str) -> Conversion:
    rows = [[*row[:4], score] for row, score in zip(ROWS, scores, strict=True)]
    raw = csv_of(HEADER, *rows)
    return convert(table_source(raw, quality=GAP, labels=None, scores={"answer": "verdict"}))


def test_an_empty_score_is_no_score(table_source: TableSource) -> None:
    found = scored(table_source, "5", "", "3.5")

    assert found.annotations["score"].to_list() == [5.0, 3.5, None]
    assert [(entry["reason"], entry["n"]) for entry in found.manifest["dropped"]] == [
        ("unlabelled", 1)
    ]
    assert found.manifest["oddities"] == []


def test_a_score_of_odd_white_space_is_reported(table_source: TableSource) -> None:
    found = scored(table_source, "5", " \u00a0\u200b", "3.5")

    assert found.annotations["score"].to_list() == [5.0, 3.5, None]
    # The question is written on two lines: the second row ends in line 5.
    assert found.manifest["oddities"] == [
        "toy.csv:5, verdict: nothing but white space (U+00A0, U+200B), read as blank"
    ]


@pytest.mark.parametrize("score", ["x", "1,5", "nan", "inf", "-"])
def test_a_score_that_is_no_number(table_source: TableSource, score: str) -> None:
    rows = [[*ROWS[0][:4], score]]
    raw = csv_of(HEADER, *rows)
    folder = table_source(raw, quality=GAP, labels=None, scores={"answer": "verdict"})

    refused(folder, "cell.not-a-number", "toy.csv:3, verdict")


@pytest.mark.parametrize("score", ["1", "5", "3.5"])
def test_a_score_on_the_scale(table_source: TableSource, score: str) -> None:
    found = convert(scaled(table_source, score, {"answer": [1, 5]}))

    assert float(score) in found.annotations["score"].to_list()


@pytest.mark.parametrize("score", ["0.9", "-3", "55", "5.1"])
def test_a_score_off_the_scale(table_source: TableSource, score: str) -> None:
    refused(
        scaled(table_source, score, {"answer": [1, 5]}), "cell.out-of-range", "toy.csv:5, verdict"
    )


def test_a_rating_off_the_scale(table_source: TableSource) -> None:
    header = [*HEADER[:4], "r1", "r2"]
    rows = [[*ROWS[0][:4], "5", "5"], [*ROWS[1][:4], "", "50"]]
    folder = table_source(
        csv_of(header, *rows),
        quality={"rule": "majority", "top": 5},
        labels=None,
        ratings={"answer": ["r1", "r2"]},
        scale={"answer": [1, 5]},
    )

    refused(folder, "cell.out-of-range", "toy.csv:5, r2")


@pytest.mark.parametrize(
    "scale",
    [
        {"tone": [1, 5]},
        {"answer": [5, 1]},
        {"answer": [5, 5]},
    ],
)
def test_a_scale_that_makes_no_sense(
    table_source: TableSource, scale: dict[str, list[float]]
) -> None:
    folder = scaled(table_source, "1", scale)

    refused(folder, "source.definition", "source.yaml: table: scale")


def scaled(table_source: TableSource, score: str, scale: dict[str, list[float]]) -> Path:
    """A table of scores, of which the second is given."""
    rows = [[*row[:4], cell] for row, cell in zip(ROWS, ("5", score, "1"), strict=True)]
    scores = {"answer": "verdict"}
    return table_source(csv_of(HEADER, *rows), quality=GAP, labels=None, scores=scores, scale=scale)


@pytest.mark.parametrize("error", ["#NAME?", "#REF!", "#DIV/0!", "#N/A", "#VALUE!", "Err:502"])
@pytest.mark.parametrize(
    ("place", "where"),
    [
        (1, "toy.csv:4: context"),
        (2, "toy.csv:5: candidate"),
        (3, "toy.csv:5: system"),
        (4, "toy.csv:5: label"),
    ],
)
def test_an_error_of_a_spreadsheet_is_no_text(
    table_source: TableSource, place: int, where: str, error: str
) -> None:
    spoilt = [*ROWS[1][:place], error, *ROWS[1][place + 1 :]]

    refused(table_source(csv_of(HEADER, ROWS[0], spoilt, ROWS[2])), "row.wrong-shape", where)


def test_an_empty_label_is_no_label(table_source: TableSource) -> None:
    rows = [ROWS[0], ROWS[1], [*ROWS[2][:4], " "]]

    assert convert(table_source(csv_of(HEADER, *rows))).annotations["label"].to_list() == [
        "good",
        None,
        "wrong",
    ]


def test_ratings_stand_in_columns_and_empty_ones_are_left_out(table_source: TableSource) -> None:
    header = [*HEADER[:4], "r1", "r2", "r3"]
    rows = [[*ROWS[0][:4], "5", "5", "1"], [*ROWS[1][:4], "4", "", "5"]]
    ratings = {"answer": ["r1", "r2", "r3"]}
    folder = table_source(
        csv_of(header, *rows), quality={"rule": "majority", "top": 5}, labels=None, ratings=ratings
    )

    found = convert(folder)

    assert found.annotations["ratings"].to_list() == [[5.0, 5.0, 1.0], [4.0, 5.0]]
    # Two of three gave 5, and one of two, which is no majority.
    assert found.pairs.select("system_high", "system_low").rows() == [("heron", "wren")]


def test_a_score_stands_beside_the_label_of_its_aspect(table_source: TableSource) -> None:
    rows = [[*row, score] for row, score in zip(ROWS, ("5", "3", "4"), strict=True)]
    folder = table_source(csv_of([*HEADER, "points"], *rows), scores={"answer": "points"})

    # The pair with plover (rude, 4 points) comes first.
    assert convert(folder).pairs["margin"].to_list() == [1.0, 2.0]


MARKS = {
    "no_error": "good",
    "marks": ["x", "X"],
    "columns": {"wrong": "Not so", "rude": "Not nice"},
}
MARKED = [*HEADER[:4], "Not so", "Not nice"]


def marked(table_source: TableSource, *cells: tuple[str, str]) -> Path:
    rows = [[*row[:4], *marks] for row, marks in zip(ROWS, cells, strict=False)]
    return table_source(csv_of(MARKED, *rows), labels=None, marks={"answer": MARKS})


def test_marks_become_labels_and_none_becomes_the_no_error_label(
    table_source: TableSource,
) -> None:
    annotations = convert(marked(table_source, ("", ""), ("x", "X "), (" ", "x"))).annotations

    assert annotations.select("system", "label").rows() == [
        ("heron", "good"),
        ("plover", "rude"),
        ("wren", "rude"),
        ("wren", "wrong"),
    ]


@pytest.mark.parametrize("mark", ["y", "xx", "?", "no", "x\u00a0"])
def test_a_mark_that_is_none(table_source: TableSource, mark: str) -> None:
    folder = marked(table_source, ("", ""), ("", mark))

    error = refused(folder, "cell.unknown-value", "toy.csv:5, Not nice")

    assert f'"{mark}"' in error.what.replace("\\xa0", "\u00a0")


def test_a_mark_of_odd_white_space_is_none_and_is_reported(table_source: TableSource) -> None:
    found = convert(marked(table_source, ("\u00a0", ""), ("x", "")))

    assert found.pairs.select("system_high", "error_category").rows() == [("heron", "wrong")]
    assert found.manifest["oddities"] == [
        "toy.csv:3, Not so: nothing but white space (U+00A0), read as blank"
    ]


@pytest.mark.parametrize(
    ("yes", "no"), [("yes", "no"), ("1", "0"), ("TRUE", "FALSE"), (1, 0)], ids=str
)
def test_a_cell_with_no_mark_may_say_so(table_source: TableSource, yes: Any, no: Any) -> None:
    cells = [(no, no), (yes, ""), (no, yes)]
    rows = [[*row[:4], *map(str, marks)] for row, marks in zip(ROWS, cells, strict=True)]
    marks = {"answer": MARKS | {"marks": [yes], "blank": [no]}}
    folder = table_source(csv_of(MARKED, *rows), labels=None, marks=marks)

    assert convert(folder).annotations.select("system", "label").rows() == [
        ("heron", "good"),
        ("plover", "rude"),
        ("wren", "wrong"),
    ]


def test_true_and_false_of_json_are_marks(table_source: TableSource) -> None:
    cells = [(False, False), (True, None), (False, True)]
    rows = [
        dict(zip(MARKED, [*row[:4], *marks], strict=True))
        for row, marks in zip(ROWS, cells, strict=True)
    ]
    raw = "".join(json.dumps(row) + "\n" for row in rows).encode()
    marks = {"answer": MARKS | {"marks": ["true"], "blank": ["false"]}}

    labels = convert(table_source(raw, "toy.jsonl", labels=None, marks=marks)).annotations["label"]

    assert labels.to_list() == ["good", "rude", "wrong"]


def test_a_cell_that_is_neither_a_mark_nor_the_opposite(table_source: TableSource) -> None:
    rows = [[*ROWS[0][:4], "no", "maybe"]]
    marks = {"answer": MARKS | {"marks": ["yes"], "blank": ["no"]}}

    refused(
        table_source(csv_of(MARKED, *rows), labels=None, marks=marks),
        "cell.unknown-value",
        "toy.csv:3, Not nice",
    )


def test_an_aspect_has_labels_or_marks(table_source: TableSource) -> None:
    folder = table_source(csv_of(HEADER, *ROWS), marks={"answer": MARKS})

    refused(folder, "source.definition", "source.yaml: table")


def test_a_table_must_measure_something(table_source: TableSource) -> None:
    folder = table_source(b"", labels=None)

    refused(folder, "source.definition", "source.yaml: table")


def test_a_table_must_name_its_candidates(table_source: TableSource) -> None:
    refused(
        table_source(b"", columns={"context_id": "key"}),
        "source.definition",
        "source.yaml: table: columns",
    )


def test_a_list_of_labels_makes_a_row_each_and_an_empty_one_the_named_label(
    table_source: TableSource,
) -> None:
    labels: list[Any] = [["good"], ["wrong", "rude", "wrong"], []]
    rows = [
        dict(zip(HEADER, [*row[:4], cell], strict=True))
        for row, cell in zip(ROWS, labels, strict=True)
    ]
    raw = "".join(json.dumps(row) + "\n" for row in rows).encode()
    folder = table_source(
        raw, "toy.jsonl", labels={"answer": {"column": "verdict", "empty": "rude"}}
    )

    assert convert(folder).annotations.select("system", "label").rows() == [
        ("heron", "good"),
        ("plover", "rude"),
        ("wren", "rude"),
        ("wren", "wrong"),
    ]


def test_candidates_are_compared_within_their_group(table_source: TableSource) -> None:
    rows = [[*ROWS[0], "a"], [*ROWS[1], "a"], [*ROWS[2], "b"]]
    columns = TABLE["columns"] | {"group": "seed"}

    pairs = convert(table_source(csv_of([*HEADER, "seed"], *rows), columns=columns)).pairs

    assert pairs.select("group", "system_low").rows() == [("a", "wren")]


def test_a_system_need_not_be_named(table_source: TableSource) -> None:
    columns = {"context_id": "key", "candidate": "answer"}

    pairs = convert(table_source(csv_of(HEADER, *ROWS), columns=columns)).pairs

    digest = hashlib.sha256(b"4:You!").hexdigest()[:16]
    assert f"c1/{digest}" in pairs["low_id"]
    assert pairs["system_low"].to_list() == [None, None]


def test_what_else_is_known_of_a_context(table_source: TableSource) -> None:
    raw = csv_of([*HEADER, "topic"], *([*row, "birds"] for row in ROWS))

    pairs = convert(table_source(raw, metadata={"theme": "topic"})).pairs

    assert pairs["metadata"].to_list() == [[{"key": "theme", "value": "birds"}]] * 2


def test_every_table_knows_file_and_row(table_source: TableSource) -> None:
    columns = {"context_id": "_file", "candidate": "answer", "candidate_id": "_row"}
    folder = table_source(csv_of(HEADER, *ROWS), columns=columns)

    assert convert(folder).pairs.select("context_id", "high_id", "low_id").rows() == [
        ("toy.csv", "1", "2"),
        ("toy.csv", "1", "3"),
    ]


def test_several_files_in_several_ways(
    shaped_source: Callable[..., Path],
) -> None:
    other = [["c2", "B", "wren", "rude"], ["c2", "A", "heron", "good"]]
    files = {
        "a.csv": csv_of(HEADER, ROWS[0]),
        "b.csv": csv_of(HEADER, ROWS[1]),
        "c.csv": csv_of(["q", "a", "by", "v"], *other),
    }
    last = {
        "files": ["c.csv"],
        "columns": {"context_id": "q", "candidate": "a", "system": "by"},
        "inputs": {"question": "q"},
        "labels": {"answer": "v"},
    }

    pairs = convert(shaped_source(files, [TABLE | {"files": ["a.csv", "b.csv"]}, last])).pairs

    assert pairs.select("context_id", "candidate_low").rows() == [
        ("c1", 'A "bird", I think.'),
        ("c2", "B"),
    ]


def test_a_file_of_a_table_is_declared(shaped_source: Callable[..., Path]) -> None:
    folder = shaped_source({"a.csv": csv_of(HEADER, *ROWS)}, TABLE | {"files": ["b.csv"]})

    refused(folder, "source.definition", "source.yaml: table: files")


@pytest.mark.parametrize(
    ("name", "raw", "where"),
    [
        ("toy.csv", csv_of(["key", "question"], ["c1", "Who?"]), "toy.csv:1"),
        ("toy.xlsx", xlsx_of(["key", "question"], ["c1", "Who?"]), "toy.xlsx:1"),
        ("toy.jsonl", jsonl_of(["key", "question"], ["c1", "Who?"]), "toy.jsonl:1"),
        ("toy.parquet", parquet_of(["key", "question"], ["c1", "Who?"]), "toy.parquet"),
    ],
    ids=["csv", "xlsx", "jsonl", "parquet"],
)
def test_columns_that_are_missing(
    table_source: TableSource, name: str, raw: bytes, where: str
) -> None:
    refused(table_source(raw, name), "file.another-kind", where)


def test_a_line_of_json_without_a_column(table_source: TableSource) -> None:
    raw = jsonl_of(HEADER, *ROWS) + jsonl_of(HEADER[:4], ROWS[0][:4])

    refused(table_source(raw, "toy.jsonl"), "file.another-kind", "toy.jsonl:4")


@pytest.mark.parametrize("name", ["toy.csv", "toy.tsv", "toy.xlsx"])
def test_an_empty_file(table_source: TableSource, name: str) -> None:
    raw = xlsx_of() if name == "toy.xlsx" else b""

    refused(table_source(raw, name), "file.another-kind", f"{name}:1")


def test_a_header_with_a_thousand_names_is_not_listed_whole(table_source: TableSource) -> None:
    header = [f"c{number}" for number in range(1000)]

    error = refused(table_source(csv_of(header, header)), "file.another-kind", "toy.csv:1")

    assert '"c19"' in error.what
    assert '"c20"' not in error.what


def test_a_name_that_stands_twice_in_the_header(table_source: TableSource) -> None:
    raw = csv_of([*HEADER, "answer"], *([*row, "?"] for row in ROWS))

    refused(table_source(raw), "header.wrong-names", "toy.csv:1")


def test_columns_nobody_asks_for_may_share_a_name(table_source: TableSource) -> None:
    raw = csv_of(["", "", *HEADER], *(["0", "1", *row] for row in ROWS))

    assert convert(table_source(raw)).pairs.height == 2


@pytest.mark.parametrize("row", [ROWS[1][:4], [*ROWS[1], ""]], ids=["short", "long"])
def test_a_ragged_row(table_source: TableSource, row: list[str]) -> None:
    refused(table_source(csv_of(HEADER, ROWS[0], row)), "file.not-csv", "toy.csv:5")


def test_a_row_with_nothing_in_it_is_passed_over(table_source: TableSource) -> None:
    raw = csv_of(HEADER, *ROWS) + b",,,,\n\n , ,,,\n"

    assert convert(table_source(raw)).annotations.height == 3


@pytest.mark.parametrize("name", ["toy.jsonl", "toy.parquet"])
def test_numbers_are_read_as_they_are_written(table_source: TableSource, name: str) -> None:
    rows = [
        {"key": 7, "question": "Who?", "answer": "A", "by": "heron", "verdict": 0.1},
        {"key": 7, "question": "Who?", "answer": "B", "by": "wren", "verdict": 5.0},
        {"key": 7, "question": "Who?", "answer": "C", "by": "plover", "verdict": None},
    ]
    raw = io.BytesIO()
    if name == "toy.parquet":
        pl.DataFrame(rows).write_parquet(raw)
    else:
        raw.write("".join(json.dumps(row) + "\n" for row in rows).encode())
    folder = table_source(
        raw.getvalue(), name, quality=GAP, labels=None, scores={"answer": "verdict"}
    )

    annotations = convert(folder).annotations

    assert annotations.select("context_id", "score").rows() == [("7", 0.1), ("7", None), ("7", 5.0)]


@pytest.mark.parametrize(
    ("column", "value", "where"),
    [
        ("question", ["good"], "toy.jsonl:1, question"),
        ("verdict", {}, "toy.jsonl:1, verdict"),
        ("verdict", [["good"]], "toy.jsonl:1, verdict"),
    ],
)
def test_a_cell_that_is_no_cell(
    table_source: TableSource, column: str, value: object, where: str
) -> None:
    raw = json.dumps(dict(zip(HEADER, ROWS[0], strict=True)) | {column: value}).encode()

    refused(table_source(raw, "toy.jsonl"), "cell.not-text", where)


def test_half_a_surrogate_pair(table_source: TableSource) -> None:
    row = dict(zip(HEADER, ROWS[0], strict=True)) | {"question": "Who \ud800?"}
    raw = json.dumps(row).encode()
    columns = {"candidate": "answer", "system": "by"}

    refused(
        table_source(raw, "toy.jsonl", columns=columns), "row.wrong-shape", "toy.jsonl:1: context"
    )


@pytest.mark.parametrize("raw", [b"", b"PAR1", b"PAR1" * 9], ids=["empty", "cut", "broken"])
def test_what_is_no_parquet(table_source: TableSource, raw: bytes) -> None:
    refused(table_source(raw, "toy.parquet"), "file.not-parquet", "toy.parquet")


def test_a_text_file_has_lines_and_their_numbers_only(table_source: TableSource) -> None:
    refused(table_source(b"", "toy.txt"), "file.another-kind", "toy.txt")
