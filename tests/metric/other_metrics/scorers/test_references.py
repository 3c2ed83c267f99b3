"""References from the parts of a context or a table: every format, and tables that do not fit."""

from pathlib import Path
from typing import Any

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


@pytest.mark.parametrize(
    ("table", "rows"),
    [
        ('1,"one, 1"\n2,three\n1,two\n2,\n', [("1", ["one, 1", "two"]), ("2", ["three"])]),
        ("007,one\n", [("007", ["one"])]),  # keys that look like numbers stay as they are
    ],
)
def test_a_row_per_reference(table: str, rows: list[Any], tmp_path: Path) -> None:
    path = tmp_path / "references.csv"
    path.write_text(f"context_id,reference\n{table}")
    assert read_references(path).rows() == rows


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        # 1 as text, in both splits; the context 2 has none
        (
            "r.jsonl",
            '{"context_id": 1, "references": ["one", "two"]}\n',
            ["one two", "", "one two"],
        ),
        ("r.jsonl", '{"split": "b", "context_id": "1", "reference": "one"}\n', ["", "", "one"]),
        ("r.csv", "split,context_id,reference\n,1,one\n,2,two\n", ["one", "two", "one"]),
        ("r.csv", 'context,reference\n"x\r\ny",one\n', ["one", "", ""]),
        ("r.csv", 'context_id,reference\n1,one\n2," "\n', ["one", "", "one"]),
    ],
    ids=[
        "lists",
        "split and context_id together",
        "an empty column says not whose they are",
        "by the context itself whatever its line ends",
        "a blank reference is none",
    ],
)
def test_whose_references_they_are(
    name: str, text: str, expected: list[str], tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(text.encode())
    found = match_references(CONTEXTS, read_references(tmp_path / name))
    assert found == [tuple(each.split()) for each in expected]


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
        ("r.jsonl", '{"context_id": 1}\n{', "file.cut-off"),
        ("r.json", '[{"context_id": 1}, 2]', "file.another-kind"),
        ("r.json", '[{"context_id": 1', "file.cut-off"),
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
