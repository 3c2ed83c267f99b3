"""From comparisons to pairs: ids, texts, groups, and what is dropped."""

import hashlib
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

from nnd.converters.pairs.pairing import Pairs, make_pairs
from nnd.schemas import Credit, NoError

Annotated = Callable[..., pl.DataFrame]

RULE = NoError("good")
TAXONOMY: dict[str, dict[str, Any]] = {
    "wrong": {"name": "Wrong", "group": "content", "description": "It is not so."},
    "rude": {"name": "Rude", "group": None, "description": "Nobody would say that."},
}


def dropped(pairs: Pairs) -> dict[str, int]:
    return {entry.reason: entry.n for entry in pairs.dropped if entry.n}


def two_texts(annotated: Annotated, high: str, low: str) -> pl.DataFrame:
    return pl.concat(
        [
            annotated("label", ("a", "good"), candidate=high),
            annotated("label", ("b", "wrong"), candidate=low),
        ]
    )


def test_a_pair_carries_the_texts_systems_and_context_of_its_candidates(
    annotated: Annotated,
) -> None:
    frame = pl.concat(
        [
            annotated("label", ("a", "good"), system="heron|wren", category="birds"),
            annotated("label", ("b", "wrong"), system="plover", category="birds"),
        ]
    )

    (row,) = make_pairs(frame, RULE, TAXONOMY).frame.rows(named=True)

    assert row | {"pair_id": ""} == {
        "pair_id": "",
        "source": "toy",
        "split": "test",
        "language": "en",
        "context_id": "c1",
        "context": "Who sings?",
        "inputs": [{"key": "question", "value": "Who sings?"}],
        "category": "birds",
        "aspect": "answer",
        "candidate_high": "text of a",
        "candidate_low": "text of b",
        "high_id": "a",
        "low_id": "b",
        "system_high": "heron|wren",
        "system_low": "plover",
        "label_high": "good",
        "error_category": "wrong",
        "error_group": "content",
        "margin": None,
        "origin": "human",
        "parent_id": None,
        "group": None,
        "cluster": None,
        "metadata": [],
    }


def test_a_pair_id_is_the_digest_of_its_fields_by_the_documented_recipe(
    annotated: Annotated,
) -> None:
    # Each field as its length in UTF-8 bytes, a colon, and itself; "Brasília" has 9 bytes.
    frame = two_texts(annotated, "Brasília", "Rio")
    key = "3:toy4:test2:c16:answer5:wrong1:a1:b9:Brasília3:Rio5:human"

    (found,) = make_pairs(frame, RULE, TAXONOMY).frame["pair_id"]

    assert found == hashlib.sha256(key.encode()).hexdigest()[:16]


def test_a_group_is_part_of_a_pair_id(annotated: Annotated) -> None:
    frame = annotated("label", ("a", "good"), ("b", "wrong"), group="rater 1")
    key = "3:toy4:test2:c16:answer5:wrong1:a1:b9:text of a9:text of b5:human7:rater 1"

    (found,) = make_pairs(frame, RULE, TAXONOMY).frame["pair_id"]

    assert found == hashlib.sha256(key.encode()).hexdigest()[:16]


def test_candidates_are_compared_only_within_a_group(annotated: Annotated) -> None:
    frame = pl.concat(
        [
            annotated("label", ("a", "good"), ("b", "wrong"), group="rater 1"),
            annotated("label", ("a", "wrong"), ("b", "good"), ("c", "good"), group="rater 2"),
            annotated("label", ("d", "good"), ("e", "rude")),
        ]
    )

    pairs = make_pairs(frame, RULE, TAXONOMY).frame

    assert pairs.select("group", "high_id", "low_id").sort(pl.all()).rows() == [
        (None, "d", "e"),
        ("rater 1", "a", "b"),
        ("rater 2", "b", "a"),
        ("rater 2", "c", "a"),
    ]


def test_an_error_made_on_purpose_is_named_in_the_origin(annotated: Annotated) -> None:
    frame = annotated("label", ("a", "good"), ("b", "Entity Error (intrinsic)"))

    (origin,) = make_pairs(frame, RULE, {}, constructed=True).frame["origin"]

    assert origin == "constructed:entity_error_intrinsic_"


def test_ids_do_not_depend_on_what_stands_between_the_fields(annotated: Annotated) -> None:
    # "ab" + "c" and "a" + "bc" are the same letters in a row.
    first = make_pairs(two_texts(annotated, "ab", "c"), RULE, TAXONOMY).frame
    second = make_pairs(two_texts(annotated, "a", "bc"), RULE, TAXONOMY).frame

    assert first["pair_id"].to_list() != second["pair_id"].to_list()


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_pairs_do_not_depend_on_the_order_of_the_rows(annotated: Annotated, seed: int) -> None:
    marks = [
        (f"{letter}{i}", label)
        for i in range(9)
        for letter, label in zip("ab", ("good", "wrong"), strict=True)
    ]
    frame = annotated("label", *marks)
    shuffled = frame.sample(fraction=1, shuffle=True, seed=seed)

    assert not shuffled.equals(frame)
    assert make_pairs(shuffled, RULE, TAXONOMY).frame.equals(
        make_pairs(frame, RULE, TAXONOMY).frame
    )


def test_several_error_categories_make_several_pairs_of_one_test(annotated: Annotated) -> None:
    frame = annotated("label", ("a", "good"), ("b", "wrong"), ("b", "rude"))

    pairs = make_pairs(frame, RULE, TAXONOMY).frame

    assert pairs.select("high_id", "low_id", "error_category", "error_group").rows() == [
        ("a", "b", "rude", None),
        ("a", "b", "wrong", "content"),
    ]
    assert pairs["pair_id"].n_unique() == 2


def test_a_category_that_the_taxonomy_does_not_have_has_no_group(annotated: Annotated) -> None:
    frame = annotated("score", ("a", 1.0), ("b", 0.0))

    pairs = make_pairs(frame, Credit((1,), (0,)), {}).frame

    assert pairs.select("error_category", "error_group").rows() == [("answer", None)]


@pytest.mark.parametrize(
    ("high", "low"),
    [
        ("Who sings?", "Who sings?"),
        ("Who sings?", "  Who \t sings?\n"),
        ("Who\u00a0sings?", "Who sings?"),  # a no-break space is a space
        ("caf\u00e9", "cafe\u0301"),  # one letter, or a letter and its accent
        ("", " \n"),
    ],
)
def test_two_candidates_with_one_text_are_dropped_and_counted(
    annotated: Annotated, high: str, low: str
) -> None:
    pairs = make_pairs(two_texts(annotated, high, low), RULE, TAXONOMY)

    assert pairs.frame.is_empty()
    assert dropped(pairs) == {"same_text": 1}
    kept = make_pairs(two_texts(annotated, high, low), RULE, TAXONOMY, keep_equal=True)
    assert kept.frame.select("candidate_high", "candidate_low").rows() == [(high, low)]
    assert dropped(kept) == {}


@pytest.mark.parametrize(("high", "low"), [("Who sings?", "who sings?"), ("a b", "ab"), ("", "a")])
def test_two_candidates_with_two_texts_are_kept(annotated: Annotated, high: str, low: str) -> None:
    pairs = make_pairs(two_texts(annotated, high, low), RULE, TAXONOMY)

    assert pairs.frame.select("candidate_high", "candidate_low").rows() == [(high, low)]


def test_the_texts_of_a_pair_are_not_folded(annotated: Annotated) -> None:
    pairs = make_pairs(two_texts(annotated, " cafe\u0301  ", "tea"), RULE, TAXONOMY)

    assert pairs.frame["candidate_high"].to_list() == [" cafe\u0301  "]


def test_contexts_with_one_candidate_are_counted(annotated: Annotated) -> None:
    frame = pl.concat(
        [
            annotated("label", ("a", "good"), ("b", "wrong"), context_id="c1"),
            annotated("label", ("c", "good"), context_id="c2"),
            # Two rows, and yet one candidate.
            annotated("label", ("d", "wrong"), ("d", "rude"), context_id="c3"),
            # The same context in another split is another context.
            annotated("label", ("e", "good"), context_id="c1", split="train"),
        ]
    )

    pairs = make_pairs(frame, RULE, TAXONOMY)

    assert pairs.frame.height == 1
    assert dropped(pairs) == {"one_candidate": 3}


def test_what_the_rule_dropped_is_passed_on(annotated: Annotated) -> None:
    frame = annotated("label", ("a", "good"), ("b", None), ("c", "good"), ("c", "wrong"))

    assert dropped(make_pairs(frame, RULE, TAXONOMY)) == {"unlabelled": 1, "contradictory": 1}


def test_candidates_of_two_splits_may_share_their_ids(annotated: Annotated) -> None:
    frame = pl.concat(
        annotated(
            "label", ("a", "good"), ("b", "wrong"), split=split, candidate=f"{split} text"
        ).with_columns(candidate=pl.col("candidate") + pl.col("candidate_id"))
        for split in ("test", "train")
    )

    pairs = make_pairs(frame, RULE, TAXONOMY).frame

    assert pairs.select("split", "candidate_high", "candidate_low").rows() == [
        ("test", "test texta", "test textb"),
        ("train", "train texta", "train textb"),
    ]
