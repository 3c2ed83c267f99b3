"""A rule of its own for an aspect: pairs, human scores, checks and card go by it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.refusals import refusal

from nnd.converters.folder.conversion import Conversion, convert
from nnd.converters.folder.validation import validate

Toy = Callable[..., dict[str, Any]]
MakeSource = Callable[..., Path]

QUALITY = {
    "default": {"rule": "no_error", "no_error": "good"},
    "aspects": {"tone": {"rule": "gap", "minimum": 2}, "length": {"rule": "majority", "top": 3}},
}
ASPECTS = {"answer": "Is it right?", "tone": "Is it kind?", "length": "Is it short?"}


@pytest.fixture
def rows(toy: Toy) -> list[dict[str, Any]]:
    """Labels under `answer` (b has two), scores under `tone`, ratings under `length`."""
    return [
        toy("a", "heron", "good", score=1),
        toy("b", "wren", "wrong", score=9),
        toy("b", "wren", "rude", score=9),
        toy("a", "heron", None, aspect="tone", score=3),
        toy("b", "wren", None, aspect="tone", score=5),
        toy("a", "heron", "brief", aspect="length", ratings=[3, 3, 1]),
        toy("b", "wren", "long", aspect="length", ratings=[3, 1, 1], score=2),
        toy("c", "plover", None, aspect="length"),
    ]


@pytest.fixture
def converted(make_source: MakeSource, rows: list[dict[str, Any]], tmp_path: Path) -> Conversion:
    source = make_source(rows, quality=QUALITY, aspects=ASPECTS)
    return convert(source, out=tmp_path / "out")


def test_each_aspect_has_the_pairs_of_its_rule(converted: Conversion) -> None:
    columns = ("aspect", "high_id", "low_id", "error_category", "label_high", "margin")

    assert sorted(converted.pairs[columns].rows()) == [
        ("answer", "a", "b", "rude", "good", -8.0),
        ("answer", "a", "b", "wrong", "good", -8.0),
        ("length", "a", "b", "length", None, None),
        ("tone", "b", "a", "tone", None, 2.0),
    ]
    assert [(each["reason"], each["n"]) for each in converted.manifest["dropped"]] == [
        ("unlabelled", 1)
    ]


def test_contradictory_aspects_are_not_blamed_on_annotators(converted: Conversion) -> None:
    # "answer" has a over b, and "tone" b over a: both hold, but no model passes both.
    assert "Aspects or annotators disagree: 2 of the distinct pairs" in str(converted)


def test_and_its_human_scores(converted: Conversion) -> None:
    scores = converted.human_scores.filter(category="overall")

    assert scores["aspect", "system", "score", "definition"].rows() == [
        (
            "answer",
            "heron",
            1.0,
            'share of the system\'s candidates labelled "good" and nothing else',
        ),
        (
            "answer",
            "wren",
            0.0,
            'share of the system\'s candidates labelled "good" and nothing else',
        ),
        ("length", "heron", pytest.approx(7 / 3), "mean rating of the system's candidates"),
        ("length", "wren", pytest.approx(5 / 3), "mean rating of the system's candidates"),
        ("tone", "heron", 3.0, "mean score of the system's candidates"),
        ("tone", "wren", 5.0, "mean score of the system's candidates"),
    ]


def test_the_folder_is_valid(converted: Conversion, tmp_path: Path) -> None:
    assert converted.manifest["source"]["quality"] == QUALITY
    assert list(validate(tmp_path / "out")) == []


def test_labels_are_checked_where_a_rule_reads_them(
    make_source: MakeSource, rows: list[dict[str, Any]], toy: Toy
) -> None:
    # "brief" under `length` is nothing that its rule reads; "breif" under `answer` is.
    more = [*rows, toy("c", "plover", "breif")]

    with refusal("row.wrong-shape", "toy.jsonl:9: label"):
        convert(make_source(more, quality=QUALITY, aspects=ASPECTS))


def test_several_rows_of_a_candidate_are_for_labels_only(
    make_source: MakeSource, rows: list[dict[str, Any]], toy: Toy
) -> None:
    more = [*rows, toy("a", "heron", "another", aspect="tone", score=4)]

    with refusal("row.wrong-shape", "toy.jsonl:9: candidate_id"):
        convert(make_source(more, quality=QUALITY, aspects=ASPECTS))


def test_a_rule_for_an_aspect_that_there_is_not(make_source: MakeSource) -> None:
    with refusal("source.definition", "source.yaml"):
        convert(make_source(quality=QUALITY))
