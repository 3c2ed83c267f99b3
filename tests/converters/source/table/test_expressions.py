"""Computed columns and filters, as SQL expressions over the cells of a row."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.refusals import refusal
from support.table_files import csv_of, parquet_of, refused

from nnd.converters.folder.conversion import convert
from nnd.converters.source.table.expressions import compute, keep_where, parse_expression
from nnd.converters.source.table.row_cells import Row

ShapedSource = Callable[..., Path]

TABLE: dict[str, Any] = {
    "columns": {"context_id": "key", "candidate": "answer", "system": "by"},
    "inputs": {"question": "key"},
    "labels": {"answer": "label"},
}
HEADER = ["key", "answer", "by", "verdict", "part"]
ROWS = [
    ["c1", "A", "heron", "Good!", "a"],
    ["c1", "B", "wren", "wrong", ""],
    ["c1", "C", "plover", "rude", "b"],
]
LABEL = {"label": "LOWER(REPLACE(verdict, '!', ''))"}


@pytest.mark.parametrize("name", ["toy.csv", "toy.parquet"])
def test_a_computed_column_is_one_like_any_other(shaped_source: ShapedSource, name: str) -> None:
    raw = csv_of(HEADER, *ROWS) if name == "toy.csv" else parquet_of(HEADER, *ROWS)
    compute = LABEL | {"name": "CONCAT(_file, '/', label, _row)"}
    columns = TABLE["columns"] | {"candidate_id": "name"}

    pairs = convert(shaped_source({name: raw}, TABLE | {"compute": compute, "columns": columns}))

    assert pairs.pairs.select("high_id", "low_id").rows() == [
        (f"{name}/good1", f"{name}/rude3"),
        (f"{name}/good1", f"{name}/wrong2"),
    ]


def test_a_computed_column_may_be_the_same_for_all(shaped_source: ShapedSource) -> None:
    table = TABLE | {"compute": LABEL | {"split": "'dev'", "who": "'otter'"}}
    table["columns"] = {
        "context_id": "key",
        "candidate": "answer",
        "candidate_id": "by",
        "split": "split",
        "system": "who",
    }

    pairs = convert(shaped_source({"toy.csv": csv_of(HEADER, *ROWS)}, table)).pairs

    assert pairs.select("split", "system_high").rows() == [("dev", "otter")] * 2


def test_a_computed_column_may_take_the_place_of_one(shaped_source: ShapedSource) -> None:
    table = TABLE | {"labels": {"answer": "verdict"}, "compute": {"verdict": LABEL["label"]}}

    annotations = convert(shaped_source({"toy.csv": csv_of(HEADER, *ROWS)}, table)).annotations

    assert annotations["label"].to_list() == ["good", "rude", "wrong"]


def test_a_computed_column_may_be_a_list(shaped_source: ShapedSource) -> None:
    rows = [
        {"key": "c1", "answer": "A", "by": "heron", "right": 1, "types": []},
        {"key": "c1", "answer": "B", "by": "wren", "right": 0, "types": ["rude", "wrong"]},
    ]
    raw = "".join(json.dumps(row) + "\n" for row in rows).encode()
    compute = {"label": "CASE WHEN right = '1' THEN ['good'] ELSE types END"}

    pairs = convert(shaped_source({"toy.jsonl": raw}, TABLE | {"compute": compute})).pairs

    assert pairs["error_category"].to_list() == ["rude", "wrong"]


def source_of(shaped: ShapedSource, rows: list[list[str]] | None = None, **table: Any) -> Path:
    """The rows, unless others are given, with the label computed."""
    return shaped({"toy.csv": csv_of(HEADER, *rows or ROWS)}, TABLE | {"compute": LABEL} | table)


@pytest.mark.parametrize("where", ["part <> 'b'", "part IN ('a', '')", "CAST(_row AS INT) < 3"])
def test_rows_are_filtered_and_counted(shaped_source: ShapedSource, where: str) -> None:
    found = convert(source_of(shaped_source, where=where))

    assert found.annotations["system"].to_list() == ["heron", "wren"]
    assert found.manifest["oddities"] == ["toy.csv: rows left out by `where`: 1"]


CLOCKS = ("NOW()", "now ()", "CURRENT_DATE", "current_timestamp", "CURRENT_TIME", "LOCALTIMESTAMP")


@pytest.mark.parametrize(
    "label",
    [
        "MAX(verdict)",
        "INTERVAL '1 day'",
        "COUNT(*)",
        *(f"CAST({one} AS VARCHAR)" for one in CLOCKS),
    ],
)
def test_a_computed_column_that_is_none(shaped_source: ShapedSource, label: str) -> None:
    where = f'source.yaml: table: compute: label: "{label}"'
    refused(source_of(shaped_source, compute={"label": label}), "expression.invalid", where)


@pytest.mark.parametrize(
    "where",
    [
        "label = = 1",
        "part",
        "ROW_NUMBER() OVER (ORDER BY key) > 1",
        "key IN (SELECT 1)",
        "key IN (VALUES ('c1'))",
    ],
)
def test_a_filter_that_is_none(shaped_source: ShapedSource, where: str) -> None:
    place = f'source.yaml: table: where: "{where}"'
    refused(source_of(shaped_source, where=where), "expression.invalid", place)


@pytest.mark.parametrize(
    "where",
    [
        "key IN (SELECT a FROM read_csv('{path}'))",
        "key IN (FROM read_csv('{path}'))",
        "EXISTS (SELECT 1 FROM \"read_csv\"('{path}'))",
        "E'\\'' IN (SELECT a FROM READ_CSV('{path}')) OR key = 'x'",
        "key = (SELECT a FROM read_parquet('{path}'))",
    ],
)
def test_an_expression_reads_no_file(
    shaped_source: ShapedSource, tmp_path: Path, where: str
) -> None:
    (tmp_path / "secret.csv").write_text("a\nc1\n")
    folder = source_of(shaped_source, where=where.format(path=tmp_path / "secret.csv"))

    refused(folder, "expression.invalid", "source.yaml: table: where: ")


def test_a_filter_says_something(shaped_source: ShapedSource) -> None:
    refused(source_of(shaped_source, where=""), "source.definition", "source.yaml: table/where")


@pytest.mark.parametrize(
    ("expression", "named"),
    [
        ("LPAD(part, 1000000000, 'x') = 'y'", "LPAD"),
        ("1" + "+1" * 60_000 + " = 2", "120,005"),
    ],
)
def test_an_expression_that_polars_would_not_survive(
    shaped_source: ShapedSource, expression: str, named: str
) -> None:
    folder = source_of(shaped_source, where=expression)

    error = refused(folder, "expression.invalid", "source.yaml: table: where: ")

    assert named in error.what


SEVERAL_ROWS = (
    *("ROW_NUMBER() OVER (ORDER BY key) > 1", "row_number() > 1", "RANK() OVER () = 1"),
    *("SUM(_row) > 1", "sum (_row) > 1", '"sum"(_row) > 1', "COUNT(*) > 1", "max(_row) > 1"),
    *("_row > AVG(_row)", "first(part) = 'a'", "last(part) = 'a'", "first_value(part) = 'a'"),
    *("ARRAY_AGG(part) = 'a'", "string_agg(part, ',') = 'a'", "group_concat(part) = 'a'"),
    *("UNNEST(part) = 'a'", "quantile_cont(_row, 0.5) > 1", "CORR(_row, _row) > 0"),
    *("stddev(_row) > 0", "variance(_row) > 0", "median(_row) > 0", "EXISTS (SELECT 1)"),
    *("LAG(part) OVER (ORDER BY key) = 'a'", "sum/**/(_row) > 1", "sum(_row) > 1 -- x"),
    *("part = E'\\'' OR SUM(_row) > 1 OR part = ''", "part = $$a$$", "nextval('a') > 1"),
    *("NTILE(2) OVER (ORDER BY key) = 1", "COUNT(*) FILTER (WHERE _row > 1) > 1"),
)


@pytest.mark.parametrize("where", SEVERAL_ROWS)
def test_an_expression_over_several_rows_is_refused_by_name(where: str) -> None:
    with refusal("expression.invalid", "where"):
        parse_expression("where", where)


OF_ONE_ROW = {
    "UPPER(part) = 'B'": ["b"],
    "COALESCE(NULLIF(part, ''), 'x') = 'x'": [""],
    "CONCAT(part, part) = 'bb' OR part || 'c' = 'ac'": ["a", "b"],
    "SUBSTRING(part FROM 1 FOR 1) IN ('a', 'b')": ["a", "b"],
    "CAST(_row AS DECIMAL(10)) >= 2 AND NOT (part = '')": ["b"],
    "REPLACE(REPLACE(part, 'a', 'bb'), 'b', 'cc') = 'cccc'": ["a"],
    "CASE WHEN (part = 'a') THEN (TRUE) ELSE (FALSE) END": ["a"],
    "part = 'SUM(x) OVER (--'": [],
    "POSITION('b' IN part) > 0 OR STARTS_WITH(part, 'a')": ["a", "b"],
    "\"part\" LIKE 'a%' OR REGEXP_LIKE(part, '^b$')": ["a", "b"],
}


@pytest.mark.parametrize(("where", "kept"), OF_ONE_ROW.items())
def test_functions_of_one_row_are_computed(where: str, kept: list[str]) -> None:
    rows = [
        Row(f"toy:{n}", {"part": part, "_row": n}, lambda *_: None)
        for n, part in enumerate(("a", "b", ""), start=1)
    ]
    found = keep_where(rows, parse_expression("where", where), "toy", lambda *_: None)
    assert [row.fields["part"] for row in found] == kept


def replaced(times: int, by: str) -> str:
    return "REPLACE(" * times + "part" + f", 'a', {by})" * times


@pytest.mark.parametrize(
    "expression",
    [
        replaced(9, "part"),  # which aborted the process
        replaced(9, "'aaaaaaaaaa'"),
        replaced(40, "'aa'"),
        "REPLACE(" * 60 + "part" + ", '', 'a')" * 60,
        "NORMALIZE(" * 12 + "part" + ")" * 12,
        "ARRAY_TO_STRING(STRING_TO_ARRAY(part, ''), part)",
    ],
)
def test_an_expression_cannot_make_texts_of_any_length(expression: str) -> None:
    rows = [Row("toy:1", {"part": "a" * 1000}, lambda *_: None)]
    with refusal("expression.invalid", "compute"):
        [*compute(rows, "made", parse_expression("compute", expression))]


def test_steps_that_double_a_text_end_in_a_refusal() -> None:
    rows = iter([Row("toy:1", {"x0": "a" * 1000}, lambda *_: None)])
    for step in range(40):
        doubled = parse_expression("compute", f"x{step} || x{step}")
        rows = compute(rows, f"x{step + 1}", doubled)
    with refusal("expression.invalid", "compute"):
        list(rows)


def test_long_texts_are_computed_in_smaller_batches_with_the_same_result() -> None:
    texts = [f"{n} " + "ab" * 50_000 for n in range(300)]
    rows = [Row(f"toy:{n}", {"part": text}, lambda *_: None) for n, text in enumerate(texts)]
    made = compute(rows, "made", parse_expression("compute", "REPLACE(part, 'ab', 'abc')"))
    assert [row.fields["made"] for row in made] == [text.replace("ab", "abc") for text in texts]


def test_a_column_may_be_called_now(shaped_source: ShapedSource) -> None:
    raw = csv_of([*HEADER[:4], "now"], *ROWS)
    table = TABLE | {"compute": LABEL, "where": "now <> 'x'"}

    annotations = convert(shaped_source({"toy.csv": raw}, table)).annotations

    assert annotations.height == len(ROWS)


@pytest.mark.parametrize(
    ("where", "kept"),
    [
        ("part >= 5", ["10", "7", "007", "5.5"]),
        ("part > 5.25", ["10", "7", "007", "5.5"]),  # as a text, "10" would be less
        ("5 < part", ["10", "7", "007", "5.5"]),
        ('"part" NOT IN (7, 10)', ["5.5", "-1"]),
        ("part between -1 and 7 AND key <> 'x'", ["7", "007", "5.5", "-1"]),
        ("_row <= 2 OR part = -1.0", ["10", "7", "-1"]),
        ("CASE WHEN part > 9 THEN key = 'c' ELSE FALSE END", ["10"]),
        ("part = '007'", ["007"]),
        ("part IN ('7', '007')", ["7", "007"]),
        ("part < '5'", ["10", "007", "-1", ""]),
        ("LENGTH(part) = 3", ["007", "5.5"]),
        ("key <> 'part > 5' AND part = '7'", ["7"]),
        ("x5 < part", ["7", "5.5"]),
    ],
)
def test_a_column_is_numbers_only_where_it_is_compared_with_a_number(
    where: str, kept: list[str]
) -> None:
    parts = ["10", "7", "007", "5.5", "-1", ""]
    rows = [
        Row(f"toy:{n}", {"part": part, "key": "c", "x5": "3", "_row": n}, lambda *_: None)
        for n, part in enumerate(parts, start=1)
    ]

    found = keep_where(rows, parse_expression("where", where), "toy", lambda *_: None)

    assert [row.fields["part"] for row in found] == kept


@pytest.mark.parametrize(
    ("where", "cell", "named"),
    [("part > 5", "n/a", "n/a"), ("CAST(part AS INT) > 1", "x", "")],
)
def test_a_row_that_cannot_be_computed_is_named(
    shaped_source: ShapedSource, where: str, cell: str, named: str
) -> None:
    folder = source_of(shaped_source, [[*ROWS[0][:4], "6"], [*ROWS[1][:4], cell]], where=where)

    error = refused(folder, "expression.invalid", f'table: where: "{where}"')

    assert error.where.startswith("toy.csv:3: ")
    assert named in error.what


def test_half_a_character_is_refused_before_a_cell_is_computed(shaped_source: ShapedSource) -> None:
    rows = [dict(zip(HEADER, row, strict=True)) for row in ROWS]
    rows[1][HEADER[-2]] = "\ud800"
    raw = "".join(f"{json.dumps(row)}\n" for row in rows).encode()
    folder = shaped_source({"toy.jsonl": raw}, TABLE | {"compute": LABEL})

    assert refused(folder, "cell.not-text", "").where == "toy.jsonl:2"


def test_a_column_that_is_not_there(shaped_source: ShapedSource) -> None:
    refused(source_of(shaped_source, where="nope = '1'"), "file.another-kind", "toy.csv:1")


def test_batches_do_not_show(shaped_source: ShapedSource) -> None:
    rows = [[f"c{n // 2}", "AB"[n % 2], "heron", ("good", "rude")[n % 2], ""] for n in range(9000)]
    columns = {"context_id": "key", "candidate": "answer"}

    found = convert(source_of(shaped_source, rows, where="CAST(_row AS INT) > 4", columns=columns))

    assert found.pairs.height == 4498
    assert found.manifest["oddities"] == ["toy.csv: rows left out by `where`: 4"]


def table_of(shaped: ShapedSource, pattern: str, cell: str = "a") -> Path:
    rows = [[*row[:4], cell] for row in ROWS]
    return source_of(shaped, rows, extract={"part": pattern})


def test_a_pattern_takes_linear_time(shaped_source: ShapedSource) -> None:
    # Python's own engine would try 2 ** 5000 ways.
    folder = table_of(shaped_source, "^(?P<found>(a+)+)$", "a" * 5000 + "b")
    refused(folder, "expression.invalid", "toy.csv:2")


@pytest.mark.parametrize("pattern", ["(?P<x>a)(?=b)", r"(?P<x>a)\1", "(?P<x>a", "(?<!b)(?P<x>a)"])
def test_a_pattern_that_needs_more_is_refused_in_words(
    shaped_source: ShapedSource, pattern: str
) -> None:
    error = refused(table_of(shaped_source, pattern), "expression.invalid", "extract: part")
    assert "regular expression" in error.what
