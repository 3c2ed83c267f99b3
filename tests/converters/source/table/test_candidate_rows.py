"""Rows that are candidates: columns of one file become annotations, with no Python."""

import hashlib
import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from support.table_files import csv_of, jsonl_of, parquet_of, refused, xlsx_of

from nnd.converters.folder.conversion import convert

TABLE: dict[str, Any] = {
    "columns": {"context_id": "key", "candidate": "answer", "system": "by"},
    "inputs": {"question": "question"},
    "labels": {"answer": "verdict"},
}
COLUMNS = TABLE["columns"]
UNNAMED = {"candidate": "answer", "system": "by"}
SCORED: dict[str, Any] = {
    "quality": {"rule": "gap", "minimum": 1},
    "labels": None,
    "scores": {"answer": "verdict"},
}
RATED: dict[str, Any] = {"quality": {"rule": "majority", "top": 5}, "labels": None}
HEADER = ["key", "question", "answer", "by", "verdict"]
ROWS = [
    ["c1", "Who\nsings?", "A bird.", "heron", "good"],
    ["c1", "Who\nsings?", 'A "bird", I think.', "wren", "wrong"],
    ["c1", "Who\nsings?", "You!", "plover", "rude"],
]
CSV = csv_of(HEADER, *ROWS)
MARKS = {
    "no_error": "good",
    "marks": ["x", "X"],
    "columns": {"wrong": "Not so", "rude": "Not nice"},
}
MARKED = [*HEADER[:4], "Not so", "Not nice"]

TableSource = Callable[..., Path]


def with_cells(header: Sequence[str], *cells: Sequence[str]) -> bytes:
    """The rows up to the system, and for each of the first ones cells of its own."""
    return csv_of([*HEADER[:4], *header], *([*ROWS[n][:4], *row] for n, row in enumerate(cells)))


def as_json(header: Sequence[str], *cells: Sequence[Any]) -> bytes:
    """The same in a file of JSON lines, whose cells may be of any type."""
    names = [*HEADER[:4], *header]
    rows = (dict(zip(names, [*ROWS[n][:4], *row], strict=True)) for n, row in enumerate(cells))
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


# "Who", a line feed, "sings?": 10 bytes.
DIGEST = hashlib.sha256(b"10:Who\nsings?").hexdigest()[:16]

PAIRS: dict[str, tuple[dict[str, Any], dict[str, list[Any]]]] = {
    "a table needs no Python": (
        {"raw": CSV},
        {
            "context_id": ["c1", "c1"],
            "context": ["Who\nsings?", "Who\nsings?"],
            "high_id": ["c1/heron", "c1/heron"],
            "low_id": ["c1/plover", "c1/wren"],
            "candidate_low": ["You!", 'A "bird", I think.'],
            "error_category": ["rude", "wrong"],
        },
    ),
    "a TSV is not quoted": (
        {
            "raw": "".join(
                "\t".join(row) + "\n"
                for row in (
                    HEADER,
                    ["c1", "Who?", '"A" bird', "heron", "good"],
                    ["c1", "Who?", 'B"', "wren", "wrong"],
                )
            ).encode(),
            "name": "toy.tsv",
        },
        {"candidate_high": ['"A" bird'], "candidate_low": ['B"']},
    ),
    "a TSV that says so is quoted": (
        {"raw": CSV.replace(b'","', b'"\t"'), "name": "toy.tsv", "quoted": True},
        {"candidate_low": ["You!", 'A "bird", I think.']},
    ),
    "cells may be separated by something else": (
        {"raw": CSV.replace(b'","', b'";"'), "delimiter": ";"},
        {"candidate_low": ["You!", 'A "bird", I think.']},
    ),
    "a context with no key is known by its text": (
        {
            "raw": csv_of(HEADER, ROWS[0], [ROWS[1][0], "Who\r\nsings?", *ROWS[1][2:]]),
            "columns": UNNAMED,
        },
        {"context_id": [DIGEST], "high_id": [f"{DIGEST}/heron"]},
    ),
    "a candidate may have its own key": (
        {
            "raw": with_cells(["verdict", "n"], ["good", "0"], ["wrong", "1"], ["rude", "2"]),
            "columns": COLUMNS | {"candidate_id": "n"},
        },
        {"high_id": ["0", "0"], "low_id": ["1", "2"]},
    ),
    "parts are read as the template says": (
        {
            "raw": CSV,
            "inputs": {"question": "question", "key": "key"},
            "context": "{{{key}}} {question}",
        },
        {"context": ["{c1} Who\nsings?"] * 2},
    ),
    "category, split and language": (
        {
            "raw": csv_of(
                [*HEADER, "topic", "part", "tongue"],
                *([*row, "birds", "dev", "de"] for row in ROWS[:2]),
                *(["c2", *row[1:], "", "test", ""] for row in ROWS),
            ),
            "columns": COLUMNS | {"category": "topic", "split": "part", "language": "tongue"},
        },
        {
            "context_id": ["c1", "c2", "c2"],
            "category": ["birds", None, None],
            "split": ["dev", "test", "test"],
            "language": ["de", "en", "en"],
        },
    ),
    # The pair with plover (rude, 4 points) comes first.
    "an aspect may have a score and a label": (
        {
            "raw": csv_of([*HEADER, "points"], [*ROWS[0], "5"], [*ROWS[1], "3"], [*ROWS[2], "4"]),
            "scores": {"answer": "points"},
        },
        {"margin": [1.0, 2.0]},
    ),
    "candidates are compared within their group": (
        {
            "raw": csv_of([*HEADER, "seed"], [*ROWS[0], "a"], [*ROWS[1], "a"], [*ROWS[2], "b"]),
            "columns": COLUMNS | {"group": "seed"},
        },
        {"group": ["a"], "system_low": ["wren"]},
    ),
    "what else is known of a context": (
        {
            "raw": csv_of([*HEADER, "topic"], *([*row, "birds"] for row in ROWS)),
            "metadata": {"theme": "topic"},
        },
        {"metadata": [[{"key": "theme", "value": "birds"}]] * 2},
    ),
    "every table knows file and row": (
        {
            "raw": CSV,
            "columns": {"context_id": "_file", "candidate": "answer", "candidate_id": "_row"},
        },
        {"context_id": ["toy.csv"] * 2, "high_id": ["1", "1"], "low_id": ["2", "3"]},
    ),
    "columns that are not read may share a name": (
        {"raw": csv_of(["", "", *HEADER], *(["0", "1", *row] for row in ROWS))},
        {"system_low": ["plover", "wren"]},
    ),
}


@pytest.mark.parametrize(("given", "expected"), PAIRS.values(), ids=PAIRS)
def test_pairs(
    table_source: TableSource, given: dict[str, Any], expected: dict[str, list[Any]]
) -> None:
    pairs = convert(table_source(**given)).pairs

    assert pairs.select(*expected).to_dict(as_series=False) == expected


def test_a_convert_py_goes_before_a_table(table_source: TableSource) -> None:
    folder = table_source(CSV)
    (folder / "convert.py").write_text("raise ValueError('I am run')", encoding="utf-8")

    refused(folder, "source.definition", "convert.py")


@pytest.mark.parametrize(
    ("name", "raw"),
    [
        ("toy.csv", CSV),
        ("toy.csv", b"\xef\xbb\xbf" + CSV.replace(b"\n", b"\r\n")),
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


def test_the_suffix_of_the_file_given_goes_before_the_declared_one(
    table_source: TableSource, tmp_path: Path
) -> None:
    given = tmp_path / "given.JSONL"
    given.write_bytes(jsonl_of(HEADER, *ROWS))

    assert convert(table_source(b"", "toy.csv"), origin=given).pairs.height == 2


def test_the_key_of_a_context_tells_its_parts_apart(table_source: TableSource) -> None:
    rows = [["ab", "c", "A", "heron", "good"], ["a", "bc", "B", "wren", "wrong"]]
    inputs = {"first": "key", "second": "question"}
    raw = csv_of(HEADER, *rows, *([*row[:2], "C", "plover", "wrong"] for row in rows))

    found = convert(table_source(raw, columns=UNNAMED, inputs=inputs, context="{first}{second}"))

    assert found.manifest["counts"]["contexts"] == 2


@pytest.mark.parametrize(
    ("score", "oddities"),
    [
        ("", []),
        # The question is written on two lines: the second row ends in line 5.
        (
            " \u00a0\u200b",
            ["toy.csv:5, verdict: nothing but white space (U+00A0, U+200B), read as blank"],
        ),
    ],
)
def test_an_empty_score_is_no_score(
    table_source: TableSource, score: str, oddities: list[str]
) -> None:
    found = convert(table_source(with_cells(["verdict"], ["5"], [score], ["3.5"]), **SCORED))

    assert found.annotations["score"].to_list() == [5.0, 3.5, None]
    assert [(entry["reason"], entry["n"]) for entry in found.manifest["dropped"]] == [
        ("unlabelled", 1)
    ]
    assert found.manifest["oddities"] == oddities


def scaled(score: str, **scale: list[float]) -> dict[str, Any]:
    """A table of scores, of which the second is given."""
    return {"raw": with_cells(["verdict"], ["5"], [score], ["1"]), "scale": scale, **SCORED}


@pytest.mark.parametrize("score", ["1", "5", "3.5"])
def test_a_score_on_the_scale(table_source: TableSource, score: str) -> None:
    found = convert(table_source(**scaled(score, answer=[1, 5])))

    assert float(score) in found.annotations["score"].to_list()


def test_ratings_stand_in_columns_and_empty_ones_are_left_out(table_source: TableSource) -> None:
    raw = with_cells(["r1", "r2", "r3"], ["5", "5", "1"], ["4", "", "5"])

    found = convert(table_source(raw, ratings={"answer": ["r1", "r2", "r3"]}, **RATED))

    assert found.annotations["ratings"].to_list() == [[5.0, 5.0, 1.0], [4.0, 5.0]]
    # Two of three gave 5, and one of two, which is no majority.
    assert found.pairs.select("system_high", "system_low").rows() == [("heron", "wren")]


def marked(*cells: Sequence[Any], **marks: list[Any]) -> dict[str, Any]:
    """A table with columns of marks; what counts as one may be told."""
    raw = with_cells(MARKED[4:], *([str(cell) for cell in row] for row in cells))
    return {"raw": raw, "labels": None, "marks": {"answer": MARKS | marks}}


def flagged(yes: Any, no: Any) -> dict[str, Any]:
    """Cells without a mark that say so."""
    return marked((no, no), (yes, ""), (no, yes), marks=[yes], blank=[no])


EACH_ONE = [("heron", "good"), ("plover", "rude"), ("wren", "wrong")]
TWO_OF_WREN = [("heron", "good"), ("plover", "rude"), ("wren", "rude"), ("wren", "wrong")]

LABELS: dict[str, tuple[dict[str, Any], list[tuple[str, str | None]]]] = {
    "marks, and none, which is the no-error label": (
        marked(("", ""), ("x", "X "), (" ", "x")),
        TWO_OF_WREN,
    ),
    "yes and no": (flagged("yes", "no"), EACH_ONE),
    "1 and 0": (flagged("1", "0"), EACH_ONE),
    "TRUE and FALSE": (flagged("TRUE", "FALSE"), EACH_ONE),
    "numbers": (flagged(1, 0), EACH_ONE),
    "true and false of JSON": (
        {
            "raw": as_json(MARKED[4:], (False, False), (True, None), (False, True)),
            "name": "toy.jsonl",
            "labels": None,
            "marks": {"answer": MARKS | {"marks": ["true"], "blank": ["false"]}},
        },
        EACH_ONE,
    ),
    "an empty label counts as none": (
        {"raw": with_cells(["verdict"], ["good"], ["wrong"], [" "])},
        [("heron", "good"), ("plover", None), ("wren", "wrong")],
    ),
    "a row for each of a list, and one for an empty one": (
        {
            "raw": as_json(["verdict"], [["good"]], [["wrong", "rude", "wrong"]], [[]]),
            "name": "toy.jsonl",
            "labels": {"answer": {"column": "verdict", "empty": "rude"}},
        },
        TWO_OF_WREN,
    ),
    "a row with nothing in it is passed over": (
        {"raw": CSV + b",,,,\n\n , ,,,\n"},
        EACH_ONE,
    ),
}


@pytest.mark.parametrize(("given", "expected"), LABELS.values(), ids=LABELS)
def test_labels(
    table_source: TableSource, given: dict[str, Any], expected: list[tuple[str, str | None]]
) -> None:
    annotations = convert(table_source(**given)).annotations

    assert annotations.select("system", "label").rows() == expected


@pytest.mark.parametrize("mark", ["y", "xx", "?", "no", "x\u00a0"])
def test_a_mark_that_is_none(table_source: TableSource, mark: str) -> None:
    folder = table_source(**marked(("", ""), ("", mark)))

    error = refused(folder, "cell.unknown-value", "toy.csv:5, Not nice")

    assert f'"{mark}"' in error.what.replace("\\xa0", "\u00a0")


def test_a_mark_of_odd_white_space_is_none_and_is_reported(table_source: TableSource) -> None:
    found = convert(table_source(**marked(("\u00a0", ""), ("x", ""))))

    assert found.pairs.select("system_high", "error_category").rows() == [("heron", "wrong")]
    assert found.manifest["oddities"] == [
        "toy.csv:3, Not so: nothing but white space (U+00A0), read as blank"
    ]


def test_a_system_need_not_be_named(table_source: TableSource) -> None:
    pairs = convert(table_source(CSV, columns={"context_id": "key", "candidate": "answer"})).pairs

    digest = hashlib.sha256(b"4:You!").hexdigest()[:16]
    assert f"c1/{digest}" in pairs["low_id"]
    assert pairs["system_low"].to_list() == [None, None]


def test_several_files_in_several_ways(shaped_source: Callable[..., Path]) -> None:
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
    folder = shaped_source({"a.csv": CSV}, TABLE | {"files": ["b.csv"]})

    refused(folder, "source.definition", "source.yaml: table: files")


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

    annotations = convert(table_source(raw.getvalue(), name, **SCORED)).annotations

    assert annotations.select("context_id", "score").rows() == [("7", 0.1), ("7", None), ("7", 5.0)]


# What is refused.


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


TWO_PARTS = {"raw": CSV, "inputs": {"question": "question", "key": "key"}}

DEFINITIONS: dict[str, tuple[dict[str, Any], str]] = {
    "labels and marks of one aspect": ({"raw": CSV, "marks": {"answer": MARKS}}, "table"),
    "nothing is measured": ({"raw": b"", "labels": None}, "table"),
    "no candidates": ({"raw": b"", "columns": {"context_id": "key"}}, "table: columns"),
    "the scale of another aspect": (scaled("1", tone=[1, 5]), "table: scale"),
    "a scale that falls": (scaled("1", answer=[5, 1]), "table: scale"),
    "a scale of one point": (scaled("1", answer=[5, 5]), "table: scale"),
    **{
        f"the template {template}": (TWO_PARTS | {"context": template}, "table: context")
        for template in (
            *(None, "{question", "{paragraph}", "{question.__class__}"),
            *("{question!r}", "{question:>9}", "{}"),
        )
    },
}


@pytest.mark.parametrize(("given", "where"), DEFINITIONS.values(), ids=DEFINITIONS)
def test_a_table_that_makes_no_sense(
    table_source: TableSource, given: dict[str, Any], where: str
) -> None:
    refused(table_source(**given), "source.definition", f"source.yaml: {where}")


def file(name: str, raw: bytes) -> dict[str, Any]:
    return {"name": name, "raw": raw}


WITHOUT_ANSWERS = (["key", "question"], ["c1", "Who?"])
FIRST = as_json(["verdict"], ["good"])

REFUSED: dict[str, tuple[dict[str, Any], str, str]] = {
    **{
        f"the score {score}": (
            {"raw": with_cells(["verdict"], [score]), **SCORED},
            "cell.not-a-number",
            "toy.csv:3, verdict",
        )
        for score in ("x", "1,5", "nan", "inf", "-")
    },
    **{
        f"{score} off the scale": (
            scaled(score, answer=[1, 5]),
            "cell.out-of-range",
            "toy.csv:5, verdict",
        )
        for score in ("0.9", "-3", "55", "5.1")
    },
    "a rating off the scale": (
        {
            "raw": with_cells(["r1", "r2"], ["5", "5"], ["", "50"]),
            "ratings": {"answer": ["r1", "r2"]},
            "scale": {"answer": [1, 5]},
            **RATED,
        },
        "cell.out-of-range",
        "toy.csv:5, r2",
    ),
    "neither a mark nor the opposite": (
        marked(["no", "maybe"], marks=["yes"], blank=["no"]),
        "cell.unknown-value",
        "toy.csv:3, Not nice",
    ),
    "half a surrogate pair": (
        file("toy.jsonl", FIRST.replace(b"sings?", b"\\ud800?")) | {"columns": UNNAMED},
        "cell.not-text",
        "toy.jsonl:1",
    ),
    **{
        name: (file(name, write(*WITHOUT_ANSWERS)), "file.another-kind", where)
        for name, write, where in (
            ("toy.csv", csv_of, "toy.csv:1"),
            ("toy.xlsx", xlsx_of, "toy.xlsx:1"),
            ("toy.jsonl", jsonl_of, "toy.jsonl:1"),
            ("toy.parquet", parquet_of, "toy.parquet"),
        )
    },
    "a line of JSON without a column": (
        file("toy.jsonl", jsonl_of(HEADER, *ROWS) + jsonl_of(HEADER[:4], ROWS[0][:4])),
        "file.another-kind",
        "toy.jsonl:4",
    ),
    "an empty CSV": (file("toy.csv", b""), "file.another-kind", "toy.csv:1"),
    "an empty TSV": (file("toy.tsv", b""), "file.another-kind", "toy.tsv:1"),
    "an empty workbook": (file("toy.xlsx", xlsx_of()), "file.another-kind", "toy.xlsx:1"),
    "a text, which has lines and numbers": (file("toy.txt", b""), "file.another-kind", "toy.txt"),
    "a name twice in the header": (
        {"raw": csv_of([*HEADER, "answer"], *([*row, "?"] for row in ROWS))},
        "header.wrong-names",
        "toy.csv:1",
    ),
    "a short row": ({"raw": csv_of(HEADER, ROWS[0], ROWS[1][:4])}, "file.not-csv", "toy.csv:5"),
    "a long row": ({"raw": csv_of(HEADER, ROWS[0], [*ROWS[1], ""])}, "file.not-csv", "toy.csv:5"),
    **{
        f"the cell {spoilt}": (
            file("toy.jsonl", FIRST.replace(cell, spoilt)),
            "cell.not-text",
            f"toy.jsonl:1, {column}",
        )
        for column, cell, spoilt in (
            ("question", b'"Who\\nsings?"', b'["good"]'),
            ("verdict", b'"good"', b"{}"),
            ("verdict", b'"good"', b'[["good"]]'),
        )
    },
}


@pytest.mark.parametrize(("given", "code", "where"), REFUSED.values(), ids=REFUSED)
def test_a_file_that_is_refused(
    table_source: TableSource, given: dict[str, Any], code: str, where: str
) -> None:
    refused(table_source(**given), code, where)


def test_a_header_with_a_thousand_names_is_not_listed_whole(table_source: TableSource) -> None:
    header = [f"c{number}" for number in range(1000)]

    error = refused(table_source(csv_of(header, header)), "file.another-kind", "toy.csv:1")

    assert '"c19"' in error.what
    assert '"c20"' not in error.what
