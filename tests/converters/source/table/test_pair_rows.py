"""Rows that are pairs, judged once or by several annotators."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.table_files import csv_of, refused

from nnd.converters.folder.conversion import convert
from nnd.converters.folder.validation import validate

ShapedSource = Callable[..., Path]

BETTER = {"rule": "no_error", "no_error": "better"}
TAXONOMY = {
    label: {"name": label, "group": None, "description": f"{label}."}
    for label in ("worse", "entity", "tense")
}
INPUTS = {"inputs": {"article": "article"}}


def section(**pairs: Any) -> dict[str, Any]:
    return {**INPUTS, "pairs": pairs}


def source_of(shaped: ShapedSource, rows: list[dict[str, Any]], **pairs: Any) -> Path:
    raw = "".join(json.dumps(row) + "\n" for row in rows).encode()
    return shaped({"toy.jsonl": raw}, section(**pairs), quality=BETTER, taxonomy=TAXONOMY)


EDITED = [
    {"n": 1, "article": "A1", "good": "Right.", "bad": "Wrong.", "kind": "entity"},
    {"n": 2, "article": "A1", "good": "Right.", "bad": "Was wrong.", "kind": ["entity", "tense"]},
    {"n": 3, "article": "A2", "good": "Yes.", "bad": "No.", "kind": None},
]


def test_a_row_of_a_better_and_a_worse_text_is_a_pair(shaped_source: ShapedSource) -> None:
    folder = source_of(shaped_source, EDITED, high="good", low="bad", category="kind", id="n")

    found = convert(folder)

    columns = ("context", "group", "high_id", "low_id", "candidate_low", "error_category")
    assert sorted(found.pairs.select(columns).rows()) == [
        ("A1", "1", "1/high", "1/low", "Wrong.", "entity"),
        ("A1", "2", "2/high", "2/low", "Was wrong.", "entity"),
        ("A1", "2", "2/high", "2/low", "Was wrong.", "tense"),
        ("A2", "3", "3/high", "3/low", "No.", "worse"),
    ]
    assert found.pairs["label_high"].unique().to_list() == ["better"]
    assert found.pairs["system_high"].null_count() == found.pairs.height
    assert found.human_scores.is_empty()


def test_the_words_that_differ_of_an_edited_text_are_the_spans_of_its_error(
    shaped_source: ShapedSource,
) -> None:
    rows = [
        row | {"good": "The big dog ran off.", "bad": bad}
        for row, bad in zip(
            EDITED, ["The big cat ran off.", "The dog ran off.", "No."], strict=True
        )
    ]
    folder = source_of(
        shaped_source, rows, high="good", low="bad", category="kind", id="n", edited=True
    )

    spans = (
        convert(folder)
        .annotations.select("candidate_id", "label", "spans")
        .unique(["candidate_id", "label"])
    )

    def span(start: int | None, end: int | None, label: str) -> dict[str, Any]:
        return {"start": start, "end": end, "label": label, "severity": None, "derived": True}

    assert {row[:2]: row[2] for row in spans.iter_rows()} == {
        ("1/high", "better"): [],
        ("2/high", "better"): [],
        ("3/high", "better"): [],
        ("1/low", "entity"): [span(8, 11, "entity")],  # "cat"
        ("2/low", "entity"): [span(None, None, "entity")],  # "big" is missing
        ("2/low", "tense"): [span(None, None, "tense")],
        ("3/low", "worse"): None,  # all words differ
    }


def test_a_pair_without_a_context_is_a_context_of_its_own(shaped_source: ShapedSource) -> None:
    rows = [row | {"article": ""} for row in EDITED]
    pairs = convert(source_of(shaped_source, rows, high="good", low="bad")).pairs
    assert pairs["context_id"].n_unique() == pairs.height == 3


def test_a_pair_with_no_key_is_known_by_its_texts(shaped_source: ShapedSource) -> None:
    pairs = convert(source_of(shaped_source, EDITED, high="good", low="bad")).pairs

    turned = convert(
        source_of(
            lambda *given, **facts: shaped_source(*given, folder="turned", **facts),
            EDITED[::-1],
            high="good",
            low="bad",
        )
    ).pairs
    assert pairs.height == 3
    assert pairs["pair_id"].to_list() == turned["pair_id"].to_list()
    # A1's reference is one candidate, in two groups.
    assert pairs["high_id"].n_unique() == 2
    assert pairs["group"].n_unique() == 3


def test_the_texts_of_a_pair_may_have_systems(shaped_source: ShapedSource) -> None:
    rows = [{"article": "A", "a": "X", "b": "Y", "sa": "heron", "sb": "wren"}]
    high, low = {"candidate": "a", "system": "sa"}, {"candidate": "b", "system": "sb"}

    found = convert(source_of(shaped_source, rows, high=high, low=low))

    assert found.pairs.select("system_high", "system_low").rows() == [("heron", "wren")]
    assert found.human_scores.height > 0


@pytest.mark.parametrize("key", [{}, {"id": "n"}])
def test_rows_with_equal_texts_are_dropped_and_counted_or_kept(
    shaped_source: ShapedSource, key: dict[str, str], tmp_path: Path
) -> None:
    same = {"n": 4, "article": "A1", "good": "Same.", "bad": "Same.", "kind": "tense"}
    spaced = {"n": 5, "article": "A2", "good": "Same.", "bad": " Same.", "kind": None}
    folder = source_of(shaped_source, [*EDITED, same, spaced], high="good", low="bad", **key)

    found = convert(folder)
    dropped = {each["reason"]: each["n"] for each in found.manifest["dropped"]}
    assert (found.pairs.height, dropped["same_text"]) == (3, 2)
    assert sorted(found.pairs["candidate_low"]) == ["No.", "Was wrong.", "Wrong."]

    kept = convert(folder, keep_equal=True, out=tmp_path / "kept")
    assert (kept.pairs.height, kept.manifest["counts"]["equal_pairs"]) == (5, 2)
    assert validate(tmp_path / "kept").findings == ()


VERDICTS = {"first": [1, "A"], "second": 2, "tie": "="}
PREFERENCE: dict[str, Any] = {
    "first": "x",
    "second": "y",
    "better": "verdict",
    "values": VERDICTS,
}


def judged(*verdicts: Any, **cells: Any) -> list[dict[str, Any]]:
    """Rows about different articles, with a verdict each."""
    return [
        {"article": f"A{number}", "x": "X", "y": "Y", "verdict": verdict} | cells
        for number, verdict in enumerate(verdicts)
    ]


def test_a_verdict_says_which_text_is_better(shaped_source: ShapedSource) -> None:
    found = convert(source_of(shaped_source, judged(1, 2, "A", "=", "2"), **PREFERENCE))

    columns = ("context", "candidate_high", "candidate_low", "error_category", "margin")
    assert sorted(found.pairs.select(columns).rows()) == [
        ("A0", "X", "Y", "worse", None),
        ("A1", "Y", "X", "worse", None),
        ("A2", "X", "Y", "worse", None),
        ("A4", "Y", "X", "worse", None),
    ]
    assert sorted(found.manifest["oddities"]) == [
        "toy.jsonl: pairs with equal votes for both sides, left out: 1",
        "toy.jsonl: verdicts first: 2",
        "toy.jsonl: verdicts second: 2",
        "toy.jsonl: verdicts tie: 1",
    ]


def vote(article: str, first: str, second: str, verdict: Any, rater: str) -> dict[str, Any]:
    return {"article": article, "x": first, "y": second, "verdict": verdict, "rater": rater}


BY: dict[str, Any] = PREFERENCE | {"annotator": "rater"}


@pytest.mark.parametrize(
    ("rows", "pairs", "code", "where"),
    [
        *(
            (judged(1, verdict), PREFERENCE, "cell.unknown-value", ":2, verdict")
            for verdict in ("3", "", "first")
        ),
        *(
            (
                judged(1, much=much),
                PREFERENCE | {"strength": "much"},
                "cell.out-of-range",
                ":1, much",
            )
            for much in ("0", "-2")
        ),
        # A key that stands for two texts, and somebody who votes twice.
        (
            [vote("A", "X", text, 1, text) | {"n": 7} for text in ("Y", "Z")],
            *(BY | {"id": "n"}, "row.contradiction", ":2"),
        ),
        (
            [vote("A", "X", "Y", 1, "r1"), vote("A", "Y", "X", 2, "r1")],
            *(BY, "row.twice", ":2, rater"),
        ),
    ],
)
def test_verdicts_that_are_none(
    shaped_source: ShapedSource, rows: list[Any], pairs: dict[str, Any], code: str, where: str
) -> None:
    refused(source_of(shaped_source, rows, **pairs), code, f"toy.jsonl{where}")


def test_three_annotators_vote_on_a_pair(shaped_source: ShapedSource) -> None:
    rows = [
        vote("A1", "X", "Y", 1, "r1"),
        vote("A1", "Y", "X", 1, "r2"),  # Y: the texts are turned round
        vote("A1", "X", "Y", 1, "r3"),
        vote("A2", "X", "Y", 1, "r1"),
        vote("A2", "X", "Y", "=", "r2"),
        vote("A2", "X", "Y", 2, "r3"),
        vote("A3", "X", "Y", "=", "r1"),
        vote("A3", "X", "Y", "=", "r2"),
        vote("A3", "X", "Y", 2, "r3"),
    ]

    found = convert(source_of(shaped_source, rows, **PREFERENCE, annotator="rater"))

    # A1: two votes to one for X, (1 - 1 + 1) / 3. A2: one vote each, no pair. A3: one vote for Y.
    pairs = found.pairs.sort("context")
    assert pairs.select("context", "candidate_high").rows() == [("A1", "X"), ("A3", "Y")]
    assert pairs["margin"].to_list() == pytest.approx([1 / 3, 1 / 3])
    high = found.annotations.filter(label="better", context="A1")
    assert high["ratings"].to_list() == [[1.0, -1.0, 1.0]]
    assert found.annotations["annotators"].to_list() == [["a1", "a2", "a3"]] * 6
    assert (
        "toy.jsonl: pairs with equal votes for both sides, left out: 1"
        in (found.manifest["oddities"])
    )


def test_votes_on_undecided_pairs_tell_how_far_annotators_agree(
    shaped_source: ShapedSource,
) -> None:
    # As above, by pair: 1, -1, 1; 1, 0, -1 (undecided); 0, 0, -1. Their squared deviations are
    # 8/3, 2 and 2/3, for either side, so D_o = 2 · 2 · 3/2 · 16/3 / 18 = 16/9. All 18 have mean 0
    # and squares 12, so D_e = 2 · 12 / 17.
    verdicts = {"A1": (1, 2, 1), "A2": (1, "=", 2), "A3": ("=", "=", 2)}
    rows = [
        vote(article, "X", "Y", verdict, f"r{number}")
        for article, given in verdicts.items()
        for number, verdict in enumerate(given)
    ]

    found = convert(source_of(shaped_source, rows, **PREFERENCE, annotator="rater"))

    assert found.manifest["agreement"]["answer"] == {
        "level": "interval",
        "n_units": 6,
        "n_ratings": 18,
        "alpha": pytest.approx(1 - (16 / 9) / (24 / 17)),
    }
    assert found.manifest["counts"]["pairs"] == 2


def test_a_pair_with_a_key_may_show_its_texts_in_either_order(
    shaped_source: ShapedSource,
) -> None:
    rows = [
        vote("A", "X", "Y", 1, "r1") | {"n": 7},
        vote("A", "Y", "X", 2, "r2") | {"n": 7},  # X again
        vote("A", "Y", "X", 1, "r3") | {"n": 7},
    ]

    pairs = convert(source_of(shaped_source, rows, **PREFERENCE, annotator="rater", id="n")).pairs

    assert pairs.select("high_id", "candidate_high").rows() == [("7/first", "X")]
    assert pairs["margin"].to_list() == pytest.approx([1 / 3])


def test_strengths_make_the_margin_and_not_the_winner(shaped_source: ShapedSource) -> None:
    votes = [(1, "r1", 1), (1, "r2", 1), (2, "r3", 4)]
    rows = [vote("A", "X", "Y", verdict, by) | {"much": much} for verdict, by, much in votes]

    found = convert(
        source_of(shaped_source, rows, **PREFERENCE, annotator="rater", strength="much")
    )

    assert found.pairs["candidate_high"].to_list() == ["X"]
    assert found.pairs["margin"].to_list() == pytest.approx([(1 + 1 - 4) / 3])
    assert "toy.jsonl: verdicts of strength 1: 2" in found.manifest["oddities"]


def test_equal_texts_that_are_tied_make_no_pair(shaped_source: ShapedSource) -> None:
    rows = [{"article": "A", "x": "S", "y": "S", "verdict": "="}, *judged(1)]

    assert convert(source_of(shaped_source, rows, **PREFERENCE)).pairs.height == 1


def test_a_verdict_on_equal_texts_is_dropped_or_kept(shaped_source: ShapedSource) -> None:
    rows = [*judged(1), {"article": "A", "x": "S", "y": "S", "verdict": 2}]
    folder = source_of(shaped_source, rows, **PREFERENCE)

    assert convert(folder).pairs["candidate_high"].to_list() == ["X"]
    assert sorted(convert(folder, keep_equal=True).pairs["candidate_high"]) == ["S", "X"]


@pytest.mark.parametrize(
    ("pairs", "facts"),
    [
        (PREFERENCE, {"quality": {"rule": "no_error", "no_error": "good"}}),
        (PREFERENCE, {"aspects": {"a": "?", "b": "?"}}),
        (
            PREFERENCE | {"values": {"first": "A", "second": ["A"]}},
            {},
        ),
    ],
)
def test_sections_that_make_no_sense(
    shaped_source: ShapedSource, pairs: dict[str, Any], facts: dict[str, Any]
) -> None:
    raw = csv_of(["article", "x", "y", "verdict"], ["A", "X", "Y", "1"])
    facts = {"quality": BETTER, "taxonomy": TAXONOMY} | facts
    folder = shaped_source({"toy.csv": raw}, section(**pairs), **facts)

    refused(folder, "source.definition", "source.yaml: table: pairs")


@pytest.mark.parametrize(
    "pairs",
    [
        {"high": "x"},
        {"first": "x", "second": "y", "better": "verdict"},
        PREFERENCE | {"high": "x", "low": "y"},
        {"high": "x", "low": "y", "annotator": "rater"},
    ],
)
def test_sections_of_half_a_form(shaped_source: ShapedSource, pairs: dict[str, Any]) -> None:
    folder = shaped_source({"toy.csv": b""}, section(**pairs), quality=BETTER, taxonomy=TAXONOMY)

    refused(folder, "source.definition", "source.yaml: table/pairs")
