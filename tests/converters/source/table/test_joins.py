"""Columns from another file, by key or by the number of a line."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.table_files import csv_of, jsonl_of, refused

from nnd.converters.folder.conversion import convert

ShapedSource = Callable[..., Path]

TABLE: dict[str, Any] = {
    "columns": {"context_id": "doc", "candidate": "answer", "system": "by"},
    "inputs": {"article": "article"},
    "labels": {"answer": "label"},
}
HEADER = ["doc", "answer", "by", "label"]
ROWS = [["1", "A", "heron", "good"], ["1", "B", "wren", "rude"], ["2", "C", "wren", "good"]]
ARTICLES = [["1", "Ferries."], ["2", "Bees."], ["3", "Tides."]]
JOIN = {"file": "texts.jsonl", "on": {"doc": "id"}, "columns": {"article": "text"}}


def source_of(shaped: ShapedSource, *articles: list[str], **table: Any) -> Path:
    files = {
        "toy.csv": csv_of(HEADER, *ROWS),
        "texts.jsonl": jsonl_of(["id", "text"], *articles),
    }
    return shaped(files, TABLE | {"join": JOIN} | table)


def test_contexts_come_from_another_file(shaped_source: ShapedSource) -> None:
    found = convert(source_of(shaped_source, *ARTICLES))

    assert found.pairs.select("context", "low_id").rows() == [("Ferries.", "1/wren")]
    assert [file["name"] for file in found.manifest["files"]] == ["texts.jsonl", "toy.csv"]


def test_lines_of_texts_are_joined_by_their_number(shaped_source: ShapedSource) -> None:
    files = {
        "hyp/primary.en": b"A\nB\n\n",
        "src/all.de": b"Eins\r\nZwei\r\n",
        "scores.csv": csv_of(["seg", "by", "label"], ["1", "heron", "good"], ["1", "wren", "rude"]),
    }
    table = TABLE | {
        "files": ["scores.csv"],
        "columns": {"context_id": "seg", "candidate": "text", "candidate_id": "_row"},
        "compute": {"n": "_row"},
        "join": [
            {"file": "hyp/primary.en", "on": {"n": "line"}, "columns": {"text": "text"}},
            {"file": "src/all.de", "on": {"seg": "line"}, "columns": {"article": "text"}},
        ],
    }

    pairs = convert(shaped_source(files, table)).pairs

    assert pairs.select("context", "candidate_high", "candidate_low").rows() == [("Eins", "A", "B")]


def test_a_joined_column_may_be_computed_with(shaped_source: ShapedSource) -> None:
    join = JOIN | {"on": {"key": "id"}, "columns": {"text": "text"}}
    compute = {"article": "CONCAT('On: ', text)", "key": "REPLACE(doc, '2', '3')"}

    annotations = convert(
        source_of(shaped_source, *ARTICLES, join=join, compute=compute, where="text <> ''")
    ).annotations

    assert annotations["context"].unique().sort().to_list() == ["On: Ferries.", "On: Tides."]


def test_a_key_that_is_missing(shaped_source: ShapedSource) -> None:
    refused(source_of(shaped_source, ARTICLES[0]), "cell.unknown-value", "toy.csv:4, doc")


def test_a_row_that_is_left_out_needs_no_partner(shaped_source: ShapedSource) -> None:
    assert convert(source_of(shaped_source, ARTICLES[0], where="doc = '1'")).pairs.height == 1


def test_a_key_that_is_there_twice(shaped_source: ShapedSource) -> None:
    refused(
        source_of(shaped_source, *ARTICLES, ["2", "Bees again."]), "row.twice", "texts.jsonl:4, id"
    )


def test_a_key_may_have_several_columns(shaped_source: ShapedSource) -> None:
    files = {
        "toy.csv": csv_of(HEADER, *ROWS[:2]),
        "texts.csv": csv_of(
            ["doc", "who", "note"],
            ["1", "heron", "Hm."],
            ["1", "wren", "Ah."],
            ["2", "wren", "Oh."],
        ),
    }
    join = {"file": "texts.csv", "on": {"doc": "doc", "by": "who"}, "columns": {"n": "note"}}
    table = TABLE | {"join": join, "inputs": {"article": "doc"}}
    table["columns"] = {"context_id": "doc", "candidate": "n", "system": "by"}

    pairs = convert(shaped_source(files, table)).pairs

    assert pairs.select("candidate_high", "candidate_low").rows() == [("Hm.", "Ah.")]


@pytest.mark.parametrize(
    ("join", "where"),
    [
        (JOIN | {"columns": {"article": "body"}}, "texts.jsonl:1"),
        (JOIN | {"on": "doc"}, "texts.jsonl:1"),
        (JOIN | {"on": {"document": "id"}}, "toy.csv:1"),
    ],
)
def test_columns_of_a_join_that_are_missing(
    shaped_source: ShapedSource, join: dict[str, Any], where: str
) -> None:
    refused(source_of(shaped_source, *ARTICLES, join=join), "file.another-kind", where)


def test_a_joined_file_is_declared(shaped_source: ShapedSource) -> None:
    folder = source_of(shaped_source, *ARTICLES, join=JOIN | {"file": "other.csv"})

    refused(folder, "source.definition", "source.yaml: table: files")
