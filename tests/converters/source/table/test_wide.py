"""Rows with several candidates: a column per system, parallel lists, the best and the worst."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.table_files import csv_of, refused

from nnd.converters.folder.conversion import convert

ShapedSource = Callable[..., Path]

GAP = {"rule": "gap", "minimum": 1}
WIDE: dict[str, Any] = {
    "wide": {
        "systems": ["heron", "wren"],
        "columns": {"text": "{system}", "points": "{system} points"},
    },
    "columns": {"context_id": "n", "candidate": "text", "system": "_system"},
    "inputs": {"article": "article"},
    "scores": {"answer": "points"},
}
HEADER = ["n", "article", "heron", "heron points", "wren", "wren points"]
ROWS = [["1", "Ferries.", "A", "5", "B", "2"], ["2", "Bees.", "C", "1", "D", "4"]]


def test_every_system_has_columns_of_its_own(shaped_source: ShapedSource) -> None:
    found = convert(shaped_source({"toy.csv": csv_of(HEADER, *ROWS)}, WIDE, quality=GAP))

    assert found.pairs.select("context", "high_id", "candidate_low", "margin").rows() == [
        ("Ferries.", "1/heron", "B", 3.0),
        ("Bees.", "2/wren", "C", 3.0),
    ]
    assert found.annotations["system"].unique().sort().to_list() == ["heron", "wren"]


def test_a_column_may_be_called_after_a_system_in_another_way(shaped_source: ShapedSource) -> None:
    wide = {"systems": {"The Heron": "heron", "wren": "wren"}, "columns": WIDE["wide"]["columns"]}
    raw = csv_of(HEADER, *ROWS)

    pairs = convert(shaped_source({"toy.csv": raw}, WIDE | {"wide": wide}, quality=GAP)).pairs

    assert pairs["system_high"].to_list() == ["The Heron", "wren"]


def test_what_a_row_is_split_into_can_be_computed_with(shaped_source: ShapedSource) -> None:
    table = WIDE | {
        "compute": {"points": "CAST(points AS DOUBLE) * 2"},
        "where": "_system = 'heron' OR n = '1'",
    }

    found = convert(shaped_source({"toy.csv": csv_of(HEADER, *ROWS)}, table, quality=GAP))

    assert found.pairs["margin"].to_list() == [6.0]
    assert found.manifest["oddities"] == ["toy.csv: rows left out by `where`: 1"]


def test_a_system_without_a_column(shaped_source: ShapedSource) -> None:
    raw = csv_of(HEADER[:-1], *(row[:-1] for row in ROWS))

    refused(shaped_source({"toy.csv": raw}, WIDE, quality=GAP), "file.another-kind", "toy.csv:1")


LISTS: dict[str, Any] = {
    "wide": {"lists": {"text": "outputs", "by": "models", "points": "points"}},
    "columns": {"context_id": "n", "candidate": "text", "system": "by"},
    "inputs": {"article": "article"},
    "scores": {"answer": "points"},
}


def lists_of(*rows: dict[str, Any]) -> dict[str, bytes]:
    return {"toy.jsonl": "".join(json.dumps(row) + "\n" for row in rows).encode()}


def test_lists_hold_what_belongs_together(shaped_source: ShapedSource) -> None:
    row = {"n": 1, "article": "F", "outputs": ["A", "B"], "models": ["heron", "wren"]}

    pairs = convert(shaped_source(lists_of(row | {"points": [1, 3.5]}), LISTS, quality=GAP)).pairs

    assert pairs.select("candidate_high", "system_low", "margin").rows() == [("B", "heron", 2.5)]


@pytest.mark.parametrize(
    ("points", "code", "where"),
    [
        ([1], "row.contradiction", "toy.jsonl:1"),
        (7, "row.wrong-shape", "toy.jsonl:1, points"),
        ([1, {}], "cell.not-text", "toy.jsonl:1[1], points"),
        ([1, "x"], "cell.not-a-number", "toy.jsonl:1[1], points"),
    ],
)
def test_lists_that_do_not_fit(
    shaped_source: ShapedSource, points: object, code: str, where: str
) -> None:
    row = {"n": 1, "article": "F", "outputs": ["A", "B"], "models": ["heron", "wren"]}
    folder = shaped_source(lists_of(row | {"points": points}), LISTS, quality=GAP)

    refused(folder, code, where)


BEST_WORST: dict[str, Any] = {
    "wide": {"lists": {"text": "outputs"}},
    "columns": {"context_id": "article", "candidate": "text", "group": "rater"},
    "inputs": {"article": "article"},
    "best_worst": {"answer": {"best": "best", "worst": "worst"}},
}
CHOICE = {"article": "F", "rater": "r1", "outputs": ["A", "B", "C", "D"], "best": 2, "worst": 4}


def test_the_best_beats_the_others_and_they_the_worst(shaped_source: ShapedSource) -> None:
    pairs = convert(shaped_source(lists_of(CHOICE), BEST_WORST, quality=GAP)).pairs

    assert sorted(pairs.select("candidate_high", "candidate_low", "margin").rows()) == [
        ("A", "D", 1.0),
        ("B", "A", 1.0),
        ("B", "C", 1.0),
        ("B", "D", 2.0),
        ("C", "D", 1.0),
    ]
    assert pairs["group"].unique().to_list() == ["r1"]


def test_the_best_is_one_of_the_row(shaped_source: ShapedSource) -> None:
    folder = shaped_source(lists_of(CHOICE | {"best": 5}), BEST_WORST, quality=GAP)

    refused(folder, "cell.unknown-value", "toy.jsonl:1[0], best")
