"""Which of two candidates is better, by each rule."""

import itertools
import random
from collections.abc import Callable

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


# no_error


def test_no_error_beats_every_error_and_errors_are_incomparable(annotated: Annotated) -> None:
    frame = annotated("label", ("a", "good"), ("b", "wrong"), ("c", "rude"))

    assert pairs(compare(frame, NO_ERROR)) == [("a", "b", "wrong"), ("a", "c", "rude")]


def test_two_good_candidates_are_incomparable(annotated: Annotated) -> None:
    frame = annotated("label", ("a", "good"), ("b", "good"))

    assert pairs(compare(frame, NO_ERROR)) == []


def test_several_error_marks_make_several_pairs(annotated: Annotated) -> None:
    frame = annotated("label", ("a", "good"), ("b", "wrong"), ("b", "rude"))

    assert pairs(compare(frame, NO_ERROR)) == [("a", "b", "rude"), ("a", "b", "wrong")]


def test_a_candidate_labelled_good_and_bad_is_neither(annotated: Annotated) -> None:
    frame = annotated("label", ("a", "good"), ("b", "good"), ("b", "wrong"), ("c", "wrong"))

    found = compare(frame, NO_ERROR)

    assert pairs(found) == [("a", "c", "wrong")]
    assert dropped(found) == {"contradictory": 1}


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


def test_the_label_of_the_better_one_is_kept(annotated: Annotated) -> None:
    frame = annotated("label", ("a", "good"), ("b", "wrong"))

    assert compare(frame, NO_ERROR).frame["label_high"].to_list() == ["good"]


# majority


def test_a_strict_majority_at_the_top_beats_none(annotated: Annotated) -> None:
    # a: 2 of 3 gave 5. b: 1 of 3, though its mean (13/3) is no lower than a's (11/3).
    frame = annotated("ratings", ("a", [5.0, 5.0, 1.0]), ("b", [5.0, 4.0, 4.0]))

    assert pairs(compare(frame, Majority(5))) == [("a", "b", "answer")]


def test_two_of_four_are_no_strict_majority(annotated: Annotated) -> None:
    frame = annotated("ratings", ("a", [5.0, 5.0, 4.0, 4.0]), ("b", [1.0, 1.0, 1.0, 1.0]))

    assert pairs(compare(frame, Majority(5))) == []


def test_three_of_four_are_a_strict_majority(annotated: Annotated) -> None:
    frame = annotated("ratings", ("a", [5.0, 5.0, 5.0, 1.0]), ("b", [5.0, 5.0, 4.0, 4.0]))

    assert pairs(compare(frame, Majority(5))) == [("a", "b", "answer")]


def test_ratings_above_the_top_count_too(annotated: Annotated) -> None:
    frame = annotated("ratings", ("a", [6.0, 7.0, 1.0]), ("b", [4.9, 4.9, 4.9]))

    assert pairs(compare(frame, Majority(5))) == [("a", "b", "answer")]


def test_candidates_may_have_different_numbers_of_annotators(annotated: Annotated) -> None:
    frame = annotated("ratings", ("a", [5.0]), ("b", [5.0, 4.0]))

    assert pairs(compare(frame, Majority(5))) == [("a", "b", "answer")]


def test_no_rating_at_all_is_unlabelled_and_not_bad(annotated: Annotated) -> None:
    frame = annotated("ratings", ("a", [5.0]), ("b", []), ("c", None))

    found = compare(frame, Majority(5))

    assert pairs(found) == []
    assert dropped(found) == {"unlabelled": 2}


def test_a_rule_without_labels_has_no_label_and_no_margin(annotated: Annotated) -> None:
    frame = annotated("ratings", ("a", [5.0]), ("b", [4.0]))

    assert compare(frame, Majority(5)).frame.select("label_high", "margin").rows() == [(None, None)]


# credit


def test_high_credit_beats_low_and_what_is_between_is_dropped(annotated: Annotated) -> None:
    frame = annotated("score", ("a", 1.0), ("b", 0.0), ("c", 0.5), ("d", 0.66), ("e", 0.0))

    found = compare(frame, Credit(high=(1,), low=(0,)))

    assert pairs(found) == [("a", "b", "answer"), ("a", "e", "answer")]
    assert dropped(found) == {"between": 2}


def test_several_credits_can_be_high_and_are_equal_then(annotated: Annotated) -> None:
    frame = annotated("score", ("a", 1.0), ("b", 0.66), ("c", 0.2))

    found = compare(frame, Credit(high=(1, 0.66), low=(0, 0.2)))

    assert pairs(found) == [("a", "c", "answer"), ("b", "c", "answer")]


def test_the_margin_is_the_difference_of_the_credits(annotated: Annotated) -> None:
    frame = annotated("score", ("a", 0.75), ("b", 0.25))

    assert compare(frame, Credit((0.75,), (0.25,))).frame["margin"].to_list() == [0.5]


def test_a_candidate_without_credit_is_unlabelled(annotated: Annotated) -> None:
    frame = annotated("score", ("a", 1.0), ("b", None))

    assert dropped(compare(frame, Credit((1,), (0,)))) == {"unlabelled": 1}


def test_a_credit_cannot_be_high_and_low() -> None:
    with refusal("source.quality-rule", "quality"):
        read_rules({"rule": "credit", "high": [1, 0.5], "low": [0, 0.5]})


# gap


def test_a_gap_of_the_minimum_is_enough(annotated: Annotated) -> None:
    # 5 - 3 = 2, 5 - 4 = 1, 4 - 3 = 1
    frame = annotated("score", ("a", 5.0), ("b", 4.0), ("c", 3.0))

    assert pairs(compare(frame, Gap(1))) == [
        ("a", "b", "answer"),
        ("a", "c", "answer"),
        ("b", "c", "answer"),
    ]
    assert pairs(compare(frame, Gap(2))) == [("a", "c", "answer")]


def test_means_that_were_stored_as_decimals_keep_their_gap(annotated: Annotated) -> None:
    # 14/3 and 11/3 are 1 apart; as 4.666666666 and 3.666666667 only 0.999999999.
    frame = annotated("score", ("a", 4.666666666), ("b", 3.666666667))

    assert pairs(compare(frame, Gap(1))) == [("a", "b", "answer")]
    assert pairs(compare(frame, Gap(1, tolerance=0))) == []


def test_a_mean_of_4_666666667_is_one_above_3_666666667(annotated: Annotated) -> None:
    frame = annotated("score", ("a", 4.666666667), ("b", 3.666666667))

    assert pairs(compare(frame, Gap(1))) == [("a", "b", "answer")]


def test_what_the_tolerance_does_not_cover_is_no_gap(annotated: Annotated) -> None:
    frame = annotated("score", ("a", 4.99999), ("b", 4.0))

    assert pairs(compare(frame, Gap(1))) == []


def test_equal_scores_make_no_pair(annotated: Annotated) -> None:
    frame = annotated("score", ("a", 4.0), ("b", 4.0))

    assert pairs(compare(frame, Gap(0.001))) == []


def test_negative_scores_are_scores(annotated: Annotated) -> None:
    frame = annotated("score", ("a", -1.0), ("b", -2.5))

    assert compare(frame, Gap(1)).frame.select("high_id", "margin").rows() == [("a", 1.5)]


def test_a_tolerance_that_swallows_the_minimum_is_refused() -> None:
    # Else equal scores would be a gap: 0 >= 1e-7 - 1e-6.
    with refusal("source.quality-rule", "quality"):
        read_rules({"rule": "gap", "minimum": 1e-7})


# order


def test_the_order_is_transitive(annotated: Annotated) -> None:
    frame = annotated("label", ("a", "none"), ("b", "minor"), ("c", "major"))

    assert pairs(compare(frame, SEVERITY)) == [
        ("a", "b", "minor"),
        ("a", "c", "major"),
        ("b", "c", "major"),
    ]


def test_labels_that_the_order_does_not_connect_are_incomparable(annotated: Annotated) -> None:
    frame = annotated("label", ("a", "none"), ("b", "style"), ("c", "grammar"), ("d", "else"))

    assert pairs(compare(frame, FORK)) == [("a", "b", "style"), ("a", "c", "grammar")]


def test_a_candidate_counts_by_its_worst_label(annotated: Annotated) -> None:
    # b has minor and major, so it counts as major: c (minor) beats it, and it beats nothing.
    frame = annotated("label", ("a", "none"), ("b", "minor"), ("b", "major"), ("c", "minor"))

    assert pairs(compare(frame, SEVERITY)) == [
        ("a", "b", "major"),
        ("a", "c", "minor"),
        ("c", "b", "major"),
    ]


def test_several_worst_labels_make_several_pairs_below_and_none_above(
    annotated: Annotated,
) -> None:
    # b is below a twice. It is above c by either label, but which one it counts by is not known.
    frame = annotated("label", ("a", "none"), ("b", "style"), ("b", "grammar"), ("c", "wreck"))

    found = compare(frame, FORK)

    assert pairs(found) == [("a", "b", "grammar"), ("a", "b", "style"), ("a", "c", "wreck")]
    assert dropped(found) == {"ambiguous": 1}


def test_the_closure_of_a_chain() -> None:
    assert close_order([("a", "b"), ("b", "c"), ("c", "d")]) == {
        ("a", "b"),
        ("b", "c"),
        ("c", "d"),
        ("a", "c"),
        ("b", "d"),
        ("a", "d"),
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
