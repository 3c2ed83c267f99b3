"""Rankings per annotator, and rows that name the aspect they are about."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.table_files import csv_of, refused

from nnd.converters.folder.conversion import convert

ShapedSource = Callable[..., Path]

GAP = {"rule": "gap", "minimum": 1}
RANKS: dict[str, Any] = {
    "columns": {"context_id": "n", "candidate": "text", "system": "by", "group": "rater"},
    "inputs": {"article": "n"},
    "ranks": {"answer": "rank"},
}
HEADER = ["n", "rater", "by", "text", "rank"]
TEXTS = {"heron": "A", "wren": "B", "plover": "C"}


def ranking(rater: str, **ranks: str) -> list[list[str]]:
    return [["1", rater, system, TEXTS[system], rank] for system, rank in ranks.items()]


def test_a_rank_beats_the_lower_ones_of_its_annotator(shaped_source: ShapedSource) -> None:
    rows = [
        *ranking("r1", heron="1", wren="2", plover="2"),  # tied for the second place
        *ranking("r2", heron="3", wren="1", plover=""),
    ]

    pairs = convert(shaped_source({"toy.csv": csv_of(HEADER, *rows)}, RANKS, quality=GAP)).pairs

    assert sorted(pairs.select("group", "candidate_high", "candidate_low", "margin").rows()) == [
        ("r1", "A", "B", 1.0),
        ("r1", "A", "C", 1.0),
        ("r2", "B", "A", 2.0),
    ]


def test_a_system_may_have_a_column_of_ranks(shaped_source: ShapedSource) -> None:
    header = ["n", "rater", *TEXTS, *(f"rank {system}" for system in TEXTS)]
    raw = csv_of(header, ["1", "r1", *TEXTS.values(), "2", "1", "3"])
    wide = {"systems": [*TEXTS], "columns": {"text": "{system}", "rank": "rank {system}"}}
    table = RANKS | {"wide": wide, "columns": RANKS["columns"] | {"system": "_system"}}

    pairs = convert(shaped_source({"toy.csv": raw}, table, quality=GAP)).pairs

    assert sorted(pairs.select("candidate_high", "candidate_low").rows()) == [
        ("A", "C"),
        ("B", "A"),
        ("B", "C"),
    ]


@pytest.mark.parametrize("rank", ["0", "-1", "0.5"])
def test_the_best_has_rank_1(shaped_source: ShapedSource, rank: str) -> None:
    raw = csv_of(HEADER, *ranking("r1", heron="1", wren=rank))

    refused(
        shaped_source({"toy.csv": raw}, RANKS, quality=GAP), "cell.out-of-range", "toy.csv:3, rank"
    )


def test_an_aspect_has_scores_or_ranks(shaped_source: ShapedSource) -> None:
    raw = csv_of(HEADER, *ranking("r1", heron="1"))
    folder = shaped_source({"toy.csv": raw}, RANKS | {"scores": {"answer": "rank"}}, quality=GAP)

    refused(folder, "source.definition", "source.yaml: table")


PIVOT: dict[str, Any] = {
    "columns": {"context_id": "n", "candidate": "text", "system": "by"},
    "inputs": {"article": "n"},
    "pivot": {"aspect": "about", "score": "value"},
    "scale": {"tone": [1, 5]},
}
ASPECTS = {"answer": "Right?", "tone": "Nice?"}
LONG = ["n", "by", "text", "about", "value"]


def judged(*cells: tuple[str, str, str]) -> bytes:
    rows = (["1", system, TEXTS[system], about, value] for system, about, value in cells)
    return csv_of(LONG, *rows)


def test_a_row_names_its_aspect(shaped_source: ShapedSource) -> None:
    raw = judged(
        ("heron", "answer", "7"),
        ("heron", "tone", "1"),
        ("wren", "tone", "5"),
        ("wren", "answer", "2"),
    )

    found = convert(shaped_source({"toy.csv": raw}, PIVOT, quality=GAP, aspects=ASPECTS))

    assert sorted(found.pairs.select("aspect", "candidate_high", "margin").rows()) == [
        ("answer", "A", 5.0),
        ("tone", "B", 4.0),
    ]


def test_a_cell_may_be_called_otherwise_than_the_aspect(shaped_source: ShapedSource) -> None:
    raw = judged(("heron", "Q1", "7"), ("wren", "Q1", "2"))
    table = PIVOT | {"pivot": PIVOT["pivot"] | {"names": {"Q1": "answer"}}}

    found = convert(shaped_source({"toy.csv": raw}, table, quality=GAP, aspects=ASPECTS))

    assert found.pairs["aspect"].to_list() == ["answer"]


def test_labels_may_be_pivoted(shaped_source: ShapedSource) -> None:
    raw = judged(("heron", "answer", "good"), ("wren", "answer", "rude"))
    table = PIVOT | {"pivot": {"aspect": "about", "label": "value"}, "scale": {}}
    table.pop("scale")

    assert convert(shaped_source({"toy.csv": raw}, table)).pairs.height == 1


@pytest.mark.parametrize(
    ("pivot", "code", "where"),
    [
        ({}, "row.wrong-shape", "toy.csv:2: aspect"),
        (
            {"names": {"Q1": "answer", "Q2": "tone"}},
            "cell.unknown-value",
            "toy.csv:2, about",
        ),
        ({"aspect": "question"}, "file.another-kind", "toy.csv:1"),
    ],
)
def test_an_aspect_that_is_not_there(
    shaped_source: ShapedSource, pivot: dict[str, Any], code: str, where: str
) -> None:
    table = PIVOT | {"pivot": PIVOT["pivot"] | pivot}
    raw = judged(("heron", "Q9", "7"))

    refused(shaped_source({"toy.csv": raw}, table, quality=GAP, aspects=ASPECTS), code, where)


def test_a_score_off_the_scale_of_its_aspect(shaped_source: ShapedSource) -> None:
    raw = judged(("heron", "answer", "7"), ("heron", "tone", "7"))

    refused(
        shaped_source({"toy.csv": raw}, PIVOT, quality=GAP, aspects=ASPECTS),
        "cell.out-of-range",
        "toy.csv:3, value",
    )
