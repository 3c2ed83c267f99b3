"""References from the parts of a context or a table: every format, and tables that do not fit."""

from pathlib import Path

import polars as pl
import pytest
from support.refusals import refusal

from nnd.metric.other_metrics.scorers.references import (
    match_references,
    read_references,
    references_in,
)

CONTEXTS = pl.DataFrame(
    {"split": ["a", "a", "b"], "context_id": ["1", "2", "1"], "context": ["x\ny", "z", "w"]}
)


def test_parts_called_reference() -> None:
    parts = {
        "source": "s",
        "reference": "one",
        "reference_2": "two",
        "references": "no",
        "my_reference": "no",
        "reference_3": " \n",
    }
    assert references_in(parts) == ("one", "two")
    assert references_in(None) == ()


def test_a_row_per_reference(tmp_path: Path) -> None:
    path = tmp_path / "references.csv"
    path.write_text('context_id,reference\n1,"one, 1"\n2,three\n1,two\n2,\n')
    assert read_references(path).rows() == [("1", ["one, 1", "two"]), ("2", ["three"])]


@pytest.mark.parametrize("suffix", ["csv", "tsv", "json", "jsonl", "parquet"])
def test_every_format(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"references.{suffix}"
    table = pl.DataFrame({"context_id": ["1", "2"], "reference": ["one", "two"]})
    match suffix:
        case "csv":
            table.write_csv(path)
        case "tsv":
            table.write_csv(path, separator="\t")
        case "json":
            table.write_json(path)
        case "jsonl":
            table.write_ndjson(path)
        case "parquet":
            table.write_parquet(path)
    assert read_references(path).rows() == [("1", ["one"]), ("2", ["two"])]


def test_keys_that_look_like_numbers_stay_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "references.csv"
    path.write_text("context_id,reference\n007,one\n")
    assert read_references(path).rows() == [("007", ["one"])]


def test_lists_of_references(tmp_path: Path) -> None:
    path = tmp_path / "references.jsonl"
    path.write_text('{"context_id": 1, "references": ["one", "two"]}\n')
    table = read_references(path)
    # 1 as text, in both splits; the context 2 has none
    assert match_references(CONTEXTS, table) == [("one", "two"), (), ("one", "two")]


def test_split_and_context_id_together(tmp_path: Path) -> None:
    path = tmp_path / "references.jsonl"
    path.write_text('{"split": "b", "context_id": "1", "reference": "one"}\n')
    assert match_references(CONTEXTS, read_references(path)) == [(), (), ("one",)]


def test_an_empty_column_says_not_whose_they_are(tmp_path: Path) -> None:
    path = tmp_path / "references.csv"
    path.write_text("split,context_id,reference\n,1,one\n,2,two\n")
    assert match_references(CONTEXTS, read_references(path)) == [("one",), ("two",), ("one",)]


def test_a_row_that_says_not_whose_it_is_costs_no_other(tmp_path: Path) -> None:
    path = tmp_path / "references.csv"
    path.write_text("split,context_id,reference\n,1,lost\na,2,two\nb,1,three\nb,1,\n")
    assert match_references(CONTEXTS, read_references(path)) == [(), ("two",), ("three",)]


def test_by_the_context_itself_whatever_its_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "references.csv"
    path.write_bytes(b'context,reference\n"x\r\ny",one\n')
    assert match_references(CONTEXTS, read_references(path)) == [("one",), (), ()]


def test_a_blank_reference_is_none(tmp_path: Path) -> None:
    path = tmp_path / "references.csv"
    path.write_text('context_id,reference\n1,one\n2," "\n')
    assert match_references(CONTEXTS, read_references(path)) == [("one",), (), ("one",)]


def test_references_of_other_data(tmp_path: Path) -> None:
    path = tmp_path / "references.csv"
    path.write_text("context_id,reference\n17,one\n")
    with refusal("scorer.references"):
        match_references(CONTEXTS, read_references(path))


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("r.csv", "context_id,text\n1,one\n", "column.missing"),
        ("r.csv", "context_id,reference\n,one\n", "column.missing"),
        ("r.csv", "id,reference\n1,one\n", "column.missing"),
        ("r.jsonl", '{"context_id": "1", "references": "one"}\n', "column.wrong-type"),
        ("r.jsonl", '{"context_id": "1", "reference": ["one"]}\n', "column.wrong-type"),
        ("r.jsonl", '{"context_id": 1}\n{', "file.not-json"),
        ("r.json", '[{"context_id": 1}, 2]', "file.not-json"),
        ("r.csv", 'context_id,reference\n1,one\n2,"two', "file.not-csv"),
        ("r.tsv", "context_id\treference\n1\tone\n2\n", "file.not-csv"),
        ("r.parquet", "nothing", "file.not-parquet"),
        ("r.txt", "one", "file.not-a-table"),
    ],
)
def test_a_table_that_is_none(tmp_path: Path, name: str, content: str, code: str) -> None:
    (tmp_path / name).write_text(content)
    with refusal(code, name):
        read_references(tmp_path / name)


def test_a_table_that_is_not_there(tmp_path: Path) -> None:
    with refusal("file.not-found", "none.csv"):
        read_references(tmp_path / "none.csv")
