"""Columns of a table that hold references."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.table_files import csv_of, parquet_of, refused, xlsx_of

from nnd.converters.folder.conversion import convert

TableSource = Callable[..., Path]

ROWS = [
    ["key", "question", "answer", "by", "verdict", "first", "second"],
    ["1", "Who sings?", "A heron.", "heron", "wrong", "A wren.", "The wren does."],
    ["1", "Who sings?", "A wren.", "wren", "good", "A wren.", "The wren does."],
    ["2", "Who dives?", "A grebe.", "heron", "good", "A grebe\r\ndives.", " "],
    ["2", "Who dives?", "A wren.", "wren", "wrong", "A grebe\r\ndives.", " "],
]


def texts(folder: Path) -> list[Any]:
    return convert(folder).references.select("context_id", "n", "reference").rows()


@pytest.mark.parametrize(
    ("name", "write"), [("toy.csv", csv_of), ("toy.parquet", parquet_of), ("toy.xlsx", xlsx_of)]
)
def test_columns_of_references(
    table_source: TableSource, name: str, write: Callable[..., bytes]
) -> None:
    # XML has line feeds only. A blank cell is not a reference.
    folder = table_source(write(*ROWS), name, references=["first", "second"])

    assert texts(folder) == [
        ("1", 1, "A wren."),
        ("1", 2, "The wren does."),
        ("2", 1, "A grebe\ndives."),
    ]


def test_a_column_of_lists(table_source: TableSource) -> None:
    rows = [
        dict(zip(ROWS[0][:5], row[:5], strict=True), known=known)
        for row, known in zip(ROWS[1:], [["B.", "A."], ["B.", "A."], "C.", None], strict=True)
    ]
    raw = "".join(json.dumps(row) + "\n" for row in rows).encode()
    folder = table_source(raw, "toy.jsonl", references=["known"])

    assert texts(folder) == [("1", 1, "B."), ("1", 2, "A."), ("2", 1, "C.")]


def test_filters_hold_for_them_and_count_once(table_source: TableSource) -> None:
    folder = table_source(csv_of(*ROWS), references=["first"], where="key <> '2'")
    conversion = convert(folder)

    assert conversion.references["reference"].to_list() == ["A wren."]
    assert len(conversion.manifest["oddities"]) == 1


def test_a_column_that_is_not_there(table_source: TableSource) -> None:
    folder = table_source(csv_of(*ROWS), references=["third"])

    refused(folder, "file.another-kind", "toy.csv:1")
