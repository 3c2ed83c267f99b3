"""Human scores by the definitions that give the paper's Table 1."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from nnd.converters.folder.conversion import convert
from nnd.converters.source.source import Source
from nnd.schemas import check_frame, make_human_scores

Annotated = Callable[..., pl.DataFrame]

SYSTEMS = {"heron": "birds/heron", "wren": None, "plover": None}


def source(**quality: Any) -> Source:
    return Source(Path(), {"name": "toy", "quality": quality, "systems": SYSTEMS, "taxonomy": {}})


NO_ERROR = source(rule="no_error", no_error="good")
CREDIT = source(rule="credit", high=[1], low=[0])
SEVERITY = source(rule="order", better=[["none", "minor"], ["minor", "major"]])


def scores(frame: pl.DataFrame, of: Source) -> dict[tuple[str, str], tuple[float, int]]:
    """System and category → score and n."""
    rows = make_human_scores(frame, of.facts).select("system", "category", "score", "n").rows()
    return {(system, category): (score, n) for system, category, score, n in rows}


ALL = ("overall", "wrong", "rude")
Scores = dict[str, tuple[int, dict[str, float]]]
"""System → how many of its candidates were judged, and its score under each category."""

LABELLED: dict[str, tuple[Source, dict[str, str], Scores]] = {
    # heron: 2 of 4 good, 3 of 4 not wrong, 3 of 4 not rude. wren: 0 of 1, 0 of 1, 1 of 1.
    "shares of all candidates": (
        NO_ERROR,
        {"heron": "a good, b good, c wrong, d rude", "wren": "e wrong"},
        {
            "heron": (4, {"overall": 0.5, "wrong": 0.75, "rude": 0.75}),
            "wren": (1, {"overall": 0.0, "wrong": 0.0, "rude": 1.0}),
        },
    ),
    # heron: a good, b wrong. wren: a good. plover: b wrong.
    "a text counts for each of its systems": (
        NO_ERROR,
        {"heron|wren": "a good", "plover|heron": "b wrong"},
        {
            "heron": (2, {"overall": 0.5, "wrong": 0.5}),
            "wren": (1, {"overall": 1.0, "wrong": 1.0}),
            "plover": (1, {"overall": 0.0, "wrong": 0.0}),
        },
    ),
    # a has both errors, b none: 1 of 2 good, 1 of 2 not wrong, 1 of 2 not rude.
    "one candidate with two errors": (
        *(NO_ERROR, {"heron": "a wrong, a rude, b good"}),
        {"heron": (2, dict.fromkeys(ALL, 0.5))},
    ),
    "good and bad is not good": (
        *(NO_ERROR, {"heron": "a good, a wrong, b good"}),
        {"heron": (2, {"overall": 0.5, "wrong": 0.5})},
    ),
    "an order: shares without any error": (
        *(SEVERITY, {"heron": "a none, b minor, c major, d none"}),
        {"heron": (4, {"overall": 0.5, "minor": 0.75, "major": 0.75})},
    ),
}


@pytest.mark.parametrize(("rule", "labels", "expected"), LABELLED.values(), ids=LABELLED)
def test_shares(
    annotated: Annotated, rule: Source, labels: dict[str, str], expected: Scores
) -> None:
    frame = pl.concat(
        annotated("label", *((one[0], one[2:]) for one in some.split(", ")), system=system)
        for system, some in labels.items()
    )

    assert scores(frame, rule) == {
        (system, category): (score, n)
        for system, (n, shares) in expected.items()
        for category, score in shares.items()
    }


def test_a_system_that_is_named_twice_counts_once(annotated: Annotated) -> None:
    frame = pl.concat(
        [
            annotated("score", ("a", 1.0), system="heron|heron"),
            annotated("score", ("b", 0.0), system="heron"),
        ]
    )

    assert scores(frame, CREDIT)["heron", "overall"] == (0.5, 2)


def test_unlabelled_candidates_are_not_judged(annotated: Annotated) -> None:
    frame = annotated("label", ("a", "good"), ("b", None), ("c", "wrong"))

    assert scores(frame, NO_ERROR)["heron", "overall"] == (0.5, 2)


def test_an_aspect_has_the_categories_that_were_found_under_it(annotated: Annotated) -> None:
    frame = pl.concat(
        [
            annotated("label", ("a", "good"), ("b", "wrong"), aspect="answer"),
            annotated("label", ("a", "good"), ("b", "rude"), aspect="tone"),
        ]
    )

    found = make_human_scores(frame, NO_ERROR.facts).select("aspect", "category", "score").rows()

    assert found == [
        ("answer", "overall", 0.5),
        ("answer", "wrong", 0.5),
        ("tone", "overall", 0.5),
        ("tone", "rude", 0.5),
    ]


def test_credit_scores_are_means_overall_and_by_category_of_context(annotated: Annotated) -> None:
    # 0.5 is neither high nor low for the pairs, and counts in the mean: (1 + 0.5 + 0) / 3 = 0.5.
    frame = pl.concat(
        [
            annotated("score", ("a", 1.0), ("b", 0.5), category="birds"),
            annotated("score", ("c", 0.0), ("d", None), context_id="c2", category="bees"),
        ]
    )

    assert scores(frame, CREDIT) == {
        ("heron", "overall"): (0.5, 3),
        ("heron", "birds"): (0.75, 2),
        ("heron", "bees"): (0.0, 1),
    }


def test_gap_scores_are_means(annotated: Annotated) -> None:
    frame = annotated("score", ("a", 4.0), ("b", 1.0))

    assert scores(frame, source(rule="gap", minimum=1)) == {("heron", "overall"): (2.5, 2)}


def test_majority_scores_are_the_mean_of_the_mean_ratings(annotated: Annotated) -> None:
    # (5 + 5 + 2) / 3 = 4 and (1 + 2) / 2 = 1.5: their mean is 2.75. No rating is no judgement.
    frame = annotated("ratings", ("a", [5.0, 5.0, 2.0]), ("b", [1.0, 2.0]), ("c", []), ("d", None))

    assert scores(frame, source(rule="majority", top=5)) == {("heron", "overall"): (2.75, 2)}


@pytest.mark.parametrize(
    ("quality", "score", "what"),
    [
        # a has 5, 1, 1: mean 7/3, median 1. b has 2, 4: mean and median 3.
        ({"rule": "gap", "minimum": 1, "ratings": "median"}, (1 + 3) / 2, "median rating"),
        ({"rule": "gap", "minimum": 1, "ratings": "mean"}, (7 / 3 + 3) / 2, "rating"),
        (
            {"rule": "gap", "minimum": 1, "ratings": "majority", "within": "annotator"},
            (7 / 3 + 3) / 2,
            "rating",
        ),
        ({"rule": "credit", "high": [1], "low": [3], "ratings": "median"}, 2, "median rating"),
        ({"rule": "majority", "top": 5, "at_least": 3}, 7 / 3, "rating"),
    ],
)
def test_scores_are_of_the_number_that_the_rule_takes_of_ratings(
    annotated: Annotated, quality: dict[str, Any], score: float, what: str
) -> None:
    frame = pl.concat(
        [
            annotated("ratings", ("a", [5.0, 1.0, 1.0]), annotators=["a1", "a2", "a3"]),
            annotated("ratings", ("b", [2.0, 4.0]), annotators=["a1", "a2"]),
        ]
    )

    (row,) = make_human_scores(frame, source(**quality).facts).rows(named=True)

    assert row["score"] == pytest.approx(score)
    assert row["definition"] == f"mean {what} of the system's candidates"


def test_z_scores_are_of_all_candidates_those_without_a_system_too(annotated: Annotated) -> None:
    # 1, 2, 3 have z -1, 0, 1; heron's are -1 and 0. Without the last they would be ∓1/√2.
    marks = [("a", [1.0]), ("b", [2.0]), ("c", [3.0])]
    frame = annotated("ratings", *marks, annotators=["a1"]).with_columns(
        system=pl.when(candidate_id="c").then(None).otherwise("system")
    )
    quality = {"rule": "gap", "minimum": 1, "ratings": "mean", "standardise": "annotator"}

    (row,) = make_human_scores(frame, source(**quality).facts).rows(named=True)

    assert row["score"] == -0.5
    assert row["definition"] == "mean standardised rating of the system's candidates"


@pytest.mark.parametrize(
    ("system", "model_id"), [("heron", "birds/heron"), ("wren", None)], ids=["public", "not"]
)
def test_a_score_names_the_model_where_it_is_public(
    annotated: Annotated, system: str, model_id: str | None
) -> None:
    frame = annotated("label", ("a", "good"), system=system)

    assert make_human_scores(frame, NO_ERROR.facts)["model_id"].to_list() == [model_id]


def test_a_score_says_what_it_is(annotated: Annotated) -> None:
    frame = annotated("label", ("a", "good"), ("b", "wrong"))

    assert make_human_scores(frame, NO_ERROR.facts)["definition"].to_list() == [
        'share of the system\'s candidates labelled "good" and nothing else',
        '1 - share of the system\'s candidates labelled "wrong"',
    ]


def test_scores_keep_the_contract_and_an_order(annotated: Annotated) -> None:
    frame = pl.concat(
        annotated("label", ("a" + name, "wrong"), ("b" + name, "good"), system=name)
        for name in ("wren", "heron")
    )

    found = make_human_scores(frame, NO_ERROR.facts)

    assert list(check_frame("human_score", found)) == []
    assert found.equals(found.sort("aspect", "system", "category"))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_means_do_not_depend_on_the_order_of_the_rows_of_the_file(
    make_source: Callable[..., Path], toy: Callable[..., dict[str, Any]], seed: int
) -> None:
    # In floating point 1e16 + 1 - 1e16 is 0 and 1e16 - 1e16 + 1 is 1, so rows are put in order.
    rows = [toy(f"{i:03}", "heron", None, score=(1e16, 1, -1e16)[i % 3]) for i in range(60)]
    shuffled = random.Random(seed).sample(rows, len(rows))
    quality = {"rule": "gap", "minimum": 1}
    first = convert(make_source(rows, quality=quality))
    second = convert(make_source(shuffled, folder="shuffled", quality=quality))

    assert first.human_scores.equals(second.human_scores)


def test_where_no_system_is_named_there_are_none(annotated: Annotated) -> None:
    frame = annotated("label", ("a", "good"), ("b", "wrong"), system=None)

    assert scores(frame, NO_ERROR) == {}


def test_errors_made_on_purpose_say_nothing_of_systems(annotated: Annotated) -> None:
    made = Source(Path(), {**NO_ERROR.facts, "origin": "constructed"})

    assert scores(annotated("label", ("a", "good"), ("b", "wrong")), made) == {}
