"""Which of two candidates is better, by each rule."""

import itertools
import random
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest
from support.refusals import refusal

from nnd.converters.pairs import DropReason, compare
from nnd.converters.pairs.quality.quality_order import KnownOrder
from nnd.schemas import (
    Credit,
    Gap,
    Majority,
    NoError,
    Order,
    Rule,
    close_order,
    read_rules,
)

Annotated = Callable[..., pl.DataFrame]

NO_ERROR = NoError("good")
SEVERITY = Order((("none", "minor"), ("minor", "major")))
# none is better than both, and nobody can say which of the two is worse.
FORK = Order((("none", "style"), ("none", "grammar"), ("style", "wreck"), ("grammar", "wreck")))


def pairs(found: KnownOrder) -> list[tuple[str, str, str]]:
    """High candidate, low candidate, error category: in order."""
    return sorted(found.frame.select("high_id", "low_id", "error_category").rows())


def dropped(found: KnownOrder) -> dict[str, int]:
    return {entry.reason: entry.n for entry in found.dropped if entry.n}


# Labels. Of a candidate with several each is a row, and each error category makes a pair.

LABELS: dict[str, tuple[Rule, str, str, dict[str, int]]] = {
    "errors are incomparable": (
        *(NO_ERROR, "a good, b wrong, c rude"),
        *("a b wrong, a c rude", {}),
    ),
    "good ones are incomparable": (NO_ERROR, "a good, b good", "", {}),
    "several errors": (NO_ERROR, "a good, b wrong, b rude", "a b rude, a b wrong", {}),
    "good and bad is neither": (
        *(NO_ERROR, "a good, b good, b wrong, c wrong"),
        *("a c wrong", {"contradictory": 1}),
    ),
    "the order is transitive": (
        *(SEVERITY, "a none, b minor, c major"),
        *("a b minor, a c major, b c major", {}),
    ),
    "labels that it does not connect": (
        *(FORK, "a none, b style, c grammar, d else"),
        *("a b style, a c grammar", {}),
    ),
    # b counts as major: c (minor) beats it, and it beats nothing.
    "the worst label counts": (
        *(SEVERITY, "a none, b minor, b major, c minor"),
        *("a b major, a c minor, c b major", {}),
    ),
    # b is below a twice. It is above c by either label, but which one it counts by is not known.
    "several worst labels": (
        *(FORK, "a none, b style, b grammar, c wreck"),
        *("a b grammar, a b style, a c wreck", {"ambiguous": 1}),
    ),
}


@pytest.mark.parametrize(("rule", "labels", "better", "left_out"), LABELS.values(), ids=LABELS)
def test_labels(
    annotated: Annotated, rule: Rule, labels: str, better: str, left_out: dict[str, int]
) -> None:
    marks = [(name, label) for name, label in map(str.split, labels.split(", "))]

    found = compare(annotated("label", *marks), rule)

    assert ", ".join(map(" ".join, pairs(found))) == better
    assert dropped(found) == left_out


def test_a_candidate_may_be_good_under_one_aspect_and_bad_under_another(
    annotated: Annotated,
) -> None:
    frame = pl.concat(
        [
            annotated("label", ("a", "good"), ("b", "wrong"), aspect="answer"),
            annotated("label", ("a", "rude"), ("b", "good"), aspect="tone"),
        ]
    )

    found = compare(frame, NO_ERROR)

    assert pairs(found) == [("a", "b", "wrong"), ("b", "a", "rude")]
    assert dropped(found) == {}


def test_unlabelled_rows_are_counted_and_make_no_pair(annotated: Annotated) -> None:
    frame = annotated("label", ("a", "good"), ("b", None), ("c", None), ("d", "wrong"))

    found = compare(frame, NO_ERROR)

    assert pairs(found) == [("a", "d", "wrong")]
    assert found.frame["label_high"].to_list() == ["good"]
    assert found.dropped[0] == DropReason(
        "unlabelled", "annotations", 2, "the rule reads the label, which is missing"
    )


@pytest.mark.parametrize("key", ["context_id", "split", "aspect"])
def test_candidates_are_compared_within_context_split_and_aspect(
    annotated: Annotated, key: str
) -> None:
    frame = pl.concat(
        [annotated("label", ("a", "good")), annotated("label", ("b", "wrong"), **{key: "other"})]
    )

    assert pairs(compare(frame, NO_ERROR)) == []


# Ratings: more than half of them have to be at the top.

RATINGS: dict[str, tuple[dict[str, list[float] | None], list[str], dict[str, int]]] = {
    # b's mean (13/3) is above a's (11/3).
    "two of three": ({"a": [5, 5, 1], "b": [5, 4, 4]}, ["ab"], {}),
    "two of four are no majority": ({"a": [5, 5, 4, 4], "b": [1, 1, 1, 1]}, [], {}),
    "three of four": ({"a": [5, 5, 5, 1], "b": [5, 5, 4, 4]}, ["ab"], {}),
    "above the top": ({"a": [6, 7, 1], "b": [4.9, 4.9, 4.9]}, ["ab"], {}),
    "different numbers of annotators": ({"a": [5], "b": [5, 4]}, ["ab"], {}),
    "none is not bad": ({"a": [5], "b": [], "c": None}, [], {"unlabelled": 2}),
}


@pytest.mark.parametrize(("ratings", "better", "left_out"), RATINGS.values(), ids=RATINGS)
def test_majorities(
    annotated: Annotated,
    ratings: dict[str, list[float] | None],
    better: list[str],
    left_out: dict[str, int],
) -> None:
    marks = [(name, given and [*map(float, given)]) for name, given in ratings.items()]

    found = compare(annotated("ratings", *marks), Majority(5))

    assert pairs(found) == [(high, low, "answer") for high, low in better]
    assert found.frame.select("label_high", "margin").null_count().row(0) == (len(better),) * 2
    assert dropped(found) == left_out


# Scores, as credits or by a gap.

ONE = Credit(high=(1,), low=(0,))
SCORES: dict[str, tuple[Rule, dict[str, float | None], list[str], dict[str, int]]] = {
    "what is between is dropped": (
        *(ONE, {"a": 1, "b": 0, "c": 0.5, "d": 0.66, "e": 0}),
        *(["ab", "ae"], {"between": 2}),
    ),
    "several credits are high, and equal then": (
        *(Credit((1, 0.66), (0, 0.2)), {"a": 1, "b": 0.66, "c": 0.2}),
        *(["ac", "bc"], {}),
    ),
    "without a credit": (ONE, {"a": 1, "b": None}, [], {"unlabelled": 1}),
    # 5 - 3 = 2, 5 - 4 = 1, 4 - 3 = 1
    "a gap of the minimum": (Gap(1), {"a": 5, "b": 4, "c": 3}, ["ab", "ac", "bc"], {}),
    "a greater minimum": (Gap(2), {"a": 5, "b": 4, "c": 3}, ["ac"], {}),
    # 14/3 and 11/3 are 1 apart; as 4.666666666 and 3.666666667 only 0.999999999.
    "means stored as decimals": (Gap(1), {"a": 4.666666666, "b": 3.666666667}, ["ab"], {}),
    "without a tolerance": (Gap(1, tolerance=0), {"a": 4.666666666, "b": 3.666666667}, [], {}),
    "rounded alike": (Gap(1), {"a": 4.666666667, "b": 3.666666667}, ["ab"], {}),
    "what the tolerance does not cover": (Gap(1), {"a": 4.99999, "b": 4}, [], {}),
    "equal scores": (Gap(0.001), {"a": 4, "b": 4}, [], {}),
}


@pytest.mark.parametrize(("rule", "scores", "better", "left_out"), SCORES.values(), ids=SCORES)
def test_scores(
    annotated: Annotated,
    rule: Rule,
    scores: dict[str, float | None],
    better: list[str],
    left_out: dict[str, int],
) -> None:
    marks = [(name, score if score is None else float(score)) for name, score in scores.items()]

    found = compare(annotated("score", *marks), rule)

    assert pairs(found) == [(high, low, "answer") for high, low in better]
    assert dropped(found) == left_out


@pytest.mark.parametrize(
    ("rule", "high", "low", "margin"),
    [(Credit((0.75,), (0.25,)), 0.75, 0.25, 0.5), (Gap(1), -1.0, -2.5, 1.5)],
)
def test_the_margin_is_the_difference_of_the_scores(
    annotated: Annotated, rule: Rule, high: float, low: float, margin: float
) -> None:
    found = compare(annotated("score", ("a", high), ("b", low)), rule).frame

    assert found.select("high_id", "margin").rows() == [("a", margin)]


# Rules that contradict themselves.


@pytest.mark.parametrize(
    "quality",
    [
        {"rule": "credit", "high": [1, 0.5], "low": [0, 0.5]},
        # Else equal scores would be a gap: 0 >= 1e-7 - 1e-6.
        {"rule": "gap", "minimum": 1e-7},
    ],
)
def test_numbers_that_contradict_each_other_are_refused(quality: dict[str, Any]) -> None:
    with refusal("source.quality-rule", "quality"):
        read_rules(quality)


def test_the_closure_of_a_chain() -> None:
    assert close_order([("a", "b"), ("b", "c"), ("c", "d")]) == {
        *(("a", "b"), ("b", "c"), ("c", "d"), ("a", "c"), ("b", "d"), ("a", "d"))
    }


@pytest.mark.parametrize(
    ("better", "through"),
    [
        ([["a", "a"]], "a"),
        ([["a", "b"], ["b", "a"]], "a, b"),
        ([["a", "b"], ["b", "c"], ["c", "b"]], "b, c"),
    ],
)
def test_a_circle_is_refused(better: list[list[str]], through: str) -> None:
    with refusal("source.quality-rule", "quality") as caught:
        read_rules({"rule": "order", "better": better})
    assert caught.value.what.endswith(f" {through}")


# all rules, against a plain loop written from the definitions


def worst(labels: set[str], below: set[tuple[str, str]]) -> set[str]:
    return {label for label in labels if not any((label, other) in below for other in labels)}


def loop_no_error(high: set[str], low: set[str]) -> set[str]:
    return low if high == {"none"} and "none" not in low else set()


def loop_fork(high: set[str], low: set[str]) -> set[str]:
    below = {("none", "style"), ("none", "grammar"), ("none", "wreck")}
    below |= {("style", "wreck"), ("grammar", "wreck")}
    best = worst(high, below)
    return {bad for bad in worst(low, below) if len(best) == 1 and (*best, bad) in below}


@pytest.mark.parametrize(
    ("rule", "loop"),
    [(NoError("none"), loop_no_error), (FORK, loop_fork)],
    ids=["no_error", "order"],
)
def test_labels_compare_as_in_a_plain_loop(
    annotated: Annotated, rule: Rule, loop: Callable[[set[str], set[str]], set[str]]
) -> None:
    chance = random.Random(0)
    marks = {
        (context, name): set(
            chance.sample(["none", "style", "grammar", "wreck"], chance.choice([1, 1, 2, 3]))
        )
        for context in range(60)
        for name in "abcde"
    }
    frame = pl.concat(
        annotated(
            "label",
            *((f"{context}{name}", label) for label in sorted(labels)),
            context_id=str(context),
        )
        for (context, name), labels in marks.items()
    ).sample(fraction=1, shuffle=True, seed=1)
    expected = {
        (f"{context}{high}", f"{context}{low}", category)
        for context in range(60)
        for high, low in itertools.permutations("abcde", 2)
        for category in loop(marks[context, high], marks[context, low])
    }

    assert len(expected) > 100
    assert pairs(compare(frame, rule)) == sorted(expected)


@pytest.mark.parametrize(
    ("rule", "is_better"),
    [
        (Credit((1,), (0,)), lambda high, low: (high, low) == (1, 0)),
        (Gap(0.5), lambda high, low: high - low >= 0.5),
    ],
    ids=["credit", "gap"],
)
def test_scores_compare_as_in_a_plain_loop(
    annotated: Annotated, rule: Rule, is_better: Callable[[float, float], bool]
) -> None:
    chance = random.Random(0)
    scores = {
        (context, name): chance.choice([0.0, 0.25, 0.5, 0.75, 1.0])
        for context in range(60)
        for name in "abcde"
    }
    frame = pl.concat(
        annotated("score", (f"{context}{name}", score), context_id=str(context))
        for (context, name), score in scores.items()
    )
    expected = {
        (f"{context}{high}", f"{context}{low}", "answer")
        for context in range(60)
        for high, low in itertools.permutations("abcde", 2)
        if is_better(scores[context, high], scores[context, low])
    }

    assert len(expected) > 20
    assert pairs(compare(frame, rule)) == sorted(expected)
