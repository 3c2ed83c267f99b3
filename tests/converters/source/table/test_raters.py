"""Rows that are one annotator's judgement of a candidate."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.table_files import csv_of, refused

from nnd.converters.folder.conversion import Conversion, convert

ShapedSource = Callable[..., Path]

SCORED: dict[str, Any] = {
    "columns": {"context_id": "n", "candidate": "text", "system": "by", "annotator": "rater"},
    "inputs": {"article": "n"},
    "scores": {"answer": "value"},
}
LABELLED = {**SCORED, "labels": {"answer": "value"}}
del LABELLED["scores"]
HEADER = ["n", "rater", "by", "text", "value"]
MEDIAN = {"rule": "gap", "minimum": 1, "ratings": "median"}


def rows(**given: dict[str, str]) -> list[list[str]]:
    """`rows(heron={"ann": "5"})`: system → annotator → value, of one context."""
    return [
        ["1", rater, system, f"by {system}", value]
        for system, some in given.items()
        for rater, value in some.items()
    ]


def converted(
    shaped: ShapedSource, cells: list[list[str]], table: dict[str, Any], **facts: Any
) -> Conversion:
    return convert(shaped({"toy.csv": csv_of(HEADER, *cells)}, table, **facts))


def test_scores_of_annotators_become_the_ratings_of_a_candidate(
    shaped_source: ShapedSource,
) -> None:
    cells = rows(heron={"zoe": "5", "ann": "1", "bob": "4"}, wren={"ann": "", "zoe": "3"})

    # In any order of the rows.
    found = converted(shaped_source, cells[::-1], SCORED, quality=MEDIAN)

    columns = ("system", "ratings", "annotators", "score")
    assert found.annotations[columns].rows() == [
        ("heron", [1.0, 4.0, 5.0], ["a1", "a2", "a3"], None),
        ("wren", [3.0], ["a3"], None),
    ]
    assert found.pairs["system_high", "system_low", "margin"].rows() == [("heron", "wren", 1.0)]


def test_ranks_within_annotators(shaped_source: ShapedSource) -> None:
    # heron is first for two of the three who ranked both.
    cells = rows(
        heron={"ann": "1", "bob": "1", "zoe": "3"},
        wren={"ann": "2", "bob": "2", "zoe": "1"},
        plover={"joe": "1"},
    )
    table = {**SCORED, "ranks": {"answer": "value"}}
    del table["scores"]
    quality = {"rule": "gap", "minimum": 1, "ratings": "majority", "within": "annotator"}

    found = converted(shaped_source, cells, table, quality=quality)

    assert found.pairs["system_high", "system_low"].rows() == [("heron", "wren")]


def test_a_label_that_several_gave_is_one(shaped_source: ShapedSource) -> None:
    cells = rows(heron={"zoe": "good", "ann": "good"}, wren={"ann": "rude", "zoe": "wrong"})

    found = converted(shaped_source, cells, LABELLED)

    assert found.annotations["system", "label", "annotators", "ratings"].rows() == [
        ("heron", "good", ["a1", "a2"], None),
        ("wren", "rude", ["a1"], None),
        ("wren", "wrong", ["a2"], None),
    ]
    # Of good, good, rude, wrong two of twelve ordered pairs are equal: 1 - (2 / 4) / (10 / 12).
    assert found.manifest["agreement"]["answer"] == {
        "level": "nominal",
        "n_units": 2,
        "n_ratings": 4,
        "alpha": pytest.approx(0.4),
    }


@pytest.mark.parametrize(
    ("more", "code", "where"),
    [
        (rows(heron={"ann": "4"}), "row.twice", ":3"),
        ([["1", "bob", "heron", "another", "4"]], "row.contradiction", ":3"),
        (rows(heron={" ": "4"}), "cell.empty", ":3, rater"),
    ],
    ids=["twice", "another text", "no annotator"],
)
def test_rows_that_cannot_be_gathered(
    shaped_source: ShapedSource, more: list[list[str]], code: str, where: str
) -> None:
    raw = csv_of(HEADER, *rows(heron={"ann": "5"}), *more)
    refused(shaped_source({"toy.csv": raw}, SCORED), code, f"toy.csv{where}")


def test_columns_of_ratings_have_no_column_of_annotators(shaped_source: ShapedSource) -> None:
    table = {**SCORED, "ratings": {"answer": ["value"]}}
    del table["scores"]
    folder = shaped_source({"toy.csv": csv_of(HEADER, *rows(heron={"ann": "5"}))}, table)

    refused(folder, "source.definition", "source.yaml: table: columns")
