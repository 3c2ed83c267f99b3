"""What the options of the rules do with ratings: every number is derived by hand."""

import itertools
import random
from collections.abc import Callable, Mapping
from typing import Any

import polars as pl
import pytest
from support.refusals import refusal

from nnd.converters.pairs import compare
from nnd.converters.pairs.quality.quality_order import KnownOrder
from nnd.schemas import Credit, Gap, Majority, check_rows, read_rules

Annotated = Callable[..., pl.DataFrame]


def pairs(found: KnownOrder) -> list[tuple[str, str]]:
    """High candidate, low candidate: in order."""
    return sorted(found.frame.select("high_id", "low_id").rows())


def margins(found: KnownOrder) -> dict[tuple[str, str], float]:
    return {(high, low): m for high, low, m in found.frame["high_id", "low_id", "margin"].rows()}


def dropped(found: KnownOrder) -> dict[str, int]:
    return {entry.reason: entry.n for entry in found.dropped if entry.n}


@pytest.fixture
def rated(annotated: Annotated) -> Callable[..., pl.DataFrame]:
    """`rated(x={"a1": 5}, y={"a1": 3})`: candidate → annotator → rating."""

    def make(**ratings: Mapping[str, float]) -> pl.DataFrame:
        return pl.concat(
            annotated("ratings", (name, [*map(float, given.values())]), annotators=list(given))
            for name, given in ratings.items()
        )

    return make


# a number of the ratings


def test_the_median_is_another_order_than_the_mean(annotated: Annotated) -> None:
    # a: median 1, mean 7/3. b: median 2, mean 2.
    frame = annotated("ratings", ("a", [5.0, 1.0, 1.0]), ("b", [2.0, 2.0, 2.0]))

    assert margins(compare(frame, Gap(1, ratings="median"))) == {("b", "a"): 1}
    assert margins(compare(frame, Gap(0.3, ratings="mean"))) == {
        ("a", "b"): pytest.approx(7 / 3 - 2)
    }


def test_the_median_of_two_is_their_middle(annotated: Annotated) -> None:
    frame = annotated("ratings", ("a", [4.0, 3.0]), ("b", [2.0]))

    assert margins(compare(frame, Gap(1.5, ratings="median"))) == {("a", "b"): 1.5}
    assert pairs(compare(frame, Gap(1.6, ratings="median"))) == []


def test_ratings_take_the_place_of_the_score(annotated: Annotated) -> None:
    frame = annotated("ratings", ("a", [1.0]), ("b", [2.0]), score=7.0)

    assert margins(compare(frame, Gap(1, ratings="mean"))) == {("b", "a"): 1}
    assert pairs(compare(frame, Gap(1))) == []


def test_a_credit_by_the_median(annotated: Annotated) -> None:
    frame = annotated(
        "ratings", ("a", [1.0, 1.0, 0.0]), ("b", [0.0, 0.0, 1.0]), ("c", [0.0, 1.0]), ("d", [])
    )

    found = compare(frame, Credit((1,), (0,), ratings="median"))

    assert margins(found) == {("a", "b"): 1}
    assert dropped(found) == {"unlabelled": 1, "between": 1}


# unanimity


def test_by_unanimity_all_good_beats_all_bad_and_who_is_disputed_is_not_compared(
    annotated: Annotated,
) -> None:
    frame = annotated(
        "ratings", ("a", [5.0, 5.0]), ("b", [5.0, 4.0]), ("c", [4.0, 4.0]), ("d", [1.0, 3.0, 2.0])
    )

    found = compare(frame, Majority(5, ratings="unanimity"))

    assert pairs(found) == [("a", "c"), ("a", "d")]
    assert dropped(found) == {"divided": 1}
    # By majority b is like c and d.
    assert pairs(compare(frame, Majority(5))) == [("a", "b"), ("a", "c"), ("a", "d")]


# at least


@pytest.mark.parametrize(
    "rule",
    [
        Majority(5, at_least=2),
        Gap(1, ratings="mean", at_least=2),
        Credit((5,), (1,), ratings="median", at_least=2),
    ],
    ids=["majority", "gap", "credit"],
)
def test_who_has_too_few_ratings_is_left_out_and_counted(
    annotated: Annotated, rule: Majority | Gap | Credit
) -> None:
    frame = annotated("ratings", ("a", [5.0, 5.0]), ("b", [1.0, 1.0]), ("c", [5.0]), ("d", []))

    found = compare(frame, rule)

    assert pairs(found) == [("a", "b")]
    assert dropped(found) == {"unlabelled": 1, "few_ratings": 1}


# z-scores


def test_z_scores_take_out_how_high_and_how_wide_an_annotator_rates(
    rated: Callable[..., pl.DataFrame],
) -> None:
    # a1: 1, 2, 3, so mean 2 and s 1; a2: 2, 4, 6, so mean 4 and s 2. Both give z -1, 0, 1.
    frame = rated(x={"a1": 1, "a2": 2}, y={"a1": 2, "a2": 4}, z={"a1": 3, "a2": 6})

    assert margins(compare(frame, Gap(0.5, ratings="mean", standardise="annotator"))) == {
        ("y", "x"): 1,
        ("z", "y"): 1,
        ("z", "x"): 2,
    }
    assert margins(compare(frame, Gap(0.5, ratings="mean"))) == {
        ("y", "x"): 1.5,
        ("z", "y"): 1.5,
        ("z", "x"): 3,
    }


def test_z_scores_are_of_all_contexts_but_of_one_aspect(
    rated: Callable[..., pl.DataFrame],
) -> None:
    # Of 1 and 3 (mean 2, s √2) z is ∓1/√2; with 5 of another context (mean 3, s 2) -1 and 0.
    frame = rated(x={"a1": 1}, y={"a1": 3})
    other = rated(w={"a1": 5})
    rule = Gap(0.5, ratings="mean", standardise="annotator")

    elsewhere = pl.concat([frame, other.with_columns(context_id=pl.lit("c2"))])
    otherwise = pl.concat([frame, other.with_columns(aspect=pl.lit("tone"))])

    assert margins(compare(elsewhere, rule)) == {("y", "x"): 1}
    assert margins(compare(otherwise, rule)) == {("y", "x"): pytest.approx(2**0.5)}


def test_who_rates_all_alike_has_no_z_score(rated: Callable[..., pl.DataFrame]) -> None:
    # Nothing is left of a2 (0.1 three times) and a3 (one rating), so w has no rating at all.
    frame = rated(
        x={"a1": 1, "a2": 0.1}, y={"a1": 2, "a2": 0.1}, z={"a1": 3, "a2": 0.1}, w={"a3": 5}
    )
    rule = Majority(1, standardise="annotator")

    found = compare(frame, rule)

    assert pairs(found) == [("z", "x"), ("z", "y")]
    assert dropped(found) == {"few_ratings": 1}
    assert pairs(compare(frame, Majority(1, standardise="annotator", at_least=2))) == []


# within annotators


@pytest.mark.parametrize(
    ("ratings", "minimum", "expected"),
    [
        # x - y is 1, 1, -4 by annotator: mean -2/3, median 1.
        ("mean", 0.5, {("y", "x"): pytest.approx(2 / 3)}),
        ("mean", 1, {}),
        ("median", 1, {("x", "y"): 1}),
        ("majority", 1, {("x", "y"): pytest.approx(-2 / 3)}),
        ("majority", 2, {}),
        ("unanimity", 1, {}),
    ],
)
def test_differences_within_annotators(
    rated: Callable[..., pl.DataFrame],
    ratings: Any,
    minimum: float,
    expected: dict[tuple[str, str], float],
) -> None:
    frame = rated(x={"a1": 4, "a2": 4, "a3": 1}, y={"a1": 3, "a2": 3, "a3": 5})

    found = compare(frame, Gap(minimum, ratings=ratings, within="annotator"))

    assert margins(found) == expected


def test_two_of_four_annotators_are_no_majority(rated: Callable[..., pl.DataFrame]) -> None:
    four = rated(
        x=dict.fromkeys(("a1", "a2", "a3", "a4"), 3), y={"a1": 1, "a2": 1, "a3": 3, "a4": 3}
    )
    three = rated(x=dict.fromkeys(("a1", "a2", "a3"), 3), y={"a1": 1, "a2": 1, "a3": 3})
    rule = Gap(1, ratings="majority", within="annotator")

    assert pairs(compare(four, rule)) == []
    assert pairs(compare(three, rule)) == [("x", "y")]


def test_only_annotators_of_both_count(rated: Callable[..., pl.DataFrame]) -> None:
    # Between annotators x (5) beats y (mean 2.5); the one who rated both has it the other way.
    frame = rated(x={"a1": 5, "a2": 1}, y={"a2": 3, "a3": 2}, z={"a4": 1})

    assert margins(compare(frame, Gap(1, ratings="mean", within="annotator"))) == {("y", "x"): 2}
    assert pairs(compare(frame, Gap(1, ratings="mean", within="annotator", at_least=2))) == []


def test_an_annotator_who_rated_twice_counts_once(rated: Callable[..., pl.DataFrame]) -> None:
    # a1 gave x 1 and 4, on average 2.5, which is 0.5 above y. So it is 1 against 1, no majority.
    frame = rated(x={"a1": 1, "a2": 3}, y={"a1": 2, "a2": 2})
    twice = frame.with_columns(
        ratings=pl.when(candidate_id="x").then(pl.lit([1.0, 3.0, 4.0])).otherwise("ratings"),
        annotators=pl.when(candidate_id="x")
        .then(pl.lit(["a1", "a2", "a1"]))
        .otherwise("annotators"),
    )
    rule = Gap(1, ratings="majority", within="annotator")

    assert pairs(compare(twice, rule)) == []
    assert margins(compare(twice, Gap(0.5, ratings="unanimity", within="annotator"))) == {
        ("x", "y"): 0.75
    }


def test_within_annotators_and_groups_as_in_a_plain_loop(annotated: Annotated) -> None:
    chance = random.Random(0)
    given = {
        (context, group, name): {
            who: float(chance.randint(1, 5))
            for who in chance.sample(["a1", "a2", "a3", "a4"], chance.randint(1, 4))
        }
        for context in "ABCDEFGHIJKLMNOPQRST"
        for group in (None, "g")
        for name in "abcd"
    }
    frame = pl.concat(
        annotated(
            "ratings",
            (context + name, list(some.values())),
            annotators=list(some),
            context_id=context,
            group=group,
        )
        for (context, group, name), some in given.items()
    )
    expected = []
    for context, group in itertools.product("ABCDEFGHIJKLMNOPQRST", (None, "g")):
        for high, low in itertools.permutations("abcd", 2):
            one, other = given[context, group, high], given[context, group, low]
            wins = [one[who] - other[who] >= 1 for who in one if who in other]
            if len(wins) >= 2 and sum(wins) * 2 > len(wins):
                expected.append((context + high, context + low, group))

    found = compare(frame, Gap(1, ratings="majority", within="annotator", at_least=2)).frame

    assert len(expected) > 30
    assert sorted(found["high_id", "low_id", "group"].rows(), key=str) == sorted(expected, key=str)


# what contradicts itself


def test_votes_between_two_candidates_need_annotators_of_both() -> None:
    with refusal("source.quality-rule", "quality"):
        read_rules({"rule": "gap", "minimum": 1, "ratings": "majority"})


@pytest.mark.parametrize(
    "quality",
    [
        {"rule": "gap", "minimum": 1, "at_least": 2},
        {"rule": "gap", "minimum": 1, "within": "annotator"},
        {"rule": "gap", "minimum": 1, "standardise": "annotator"},
        {"rule": "credit", "high": [1], "low": [0], "at_least": 2},
        {"rule": "credit", "high": [1], "low": [0], "ratings": "unanimity"},
        {"rule": "majority", "top": 5, "ratings": "median"},
        {"rule": "majority", "top": 5, "at_least": 0},
        {"rule": "no_error", "no_error": "good", "at_least": 2},
        {"default": {"rule": "majority", "top": 5}},
        {"default": {"rule": "majority"}, "aspects": {"tone": {"rule": "majority", "top": 5}}},
        {"default": {"rule": "majority", "top": 5}, "aspects": {}},
    ],
)
def test_options_that_a_rule_does_not_have(quality: dict[str, Any]) -> None:
    assert problems(quality)


@pytest.mark.parametrize(
    "quality",
    [
        {"rule": "gap", "minimum": 1, "ratings": "median", "at_least": 3},
        {"rule": "gap", "minimum": 1, "ratings": "majority", "within": "annotator"},
        {"rule": "majority", "top": 0.5, "ratings": "unanimity", "standardise": "annotator"},
        {
            "default": {"rule": "no_error", "no_error": "good"},
            "aspects": {"tone": {"rule": "credit", "high": [1], "low": [0], "ratings": "mean"}},
        },
    ],
)
def test_options_that_a_rule_has(quality: dict[str, Any]) -> None:
    assert problems(quality) == []


def problems(quality: dict[str, Any]) -> list[str]:
    found = check_rows("source", [{"quality": quality}])
    return [str(problem) for problem in found if problem.path.startswith("quality")]
