"""Pairs that contradict each other, and the highest pass rate that is left."""

import itertools
import random

import polars as pl
import pytest

from nnd.converters.pairs import find_contradictions

Test = tuple[str, str]


def frame_of(tests: list[Test], texts: dict[str, str] | None = None) -> pl.DataFrame:
    """Pairs of one context; candidates have their names as texts where not said otherwise."""
    named = texts or {}
    return pl.DataFrame(
        [
            {
                "split": "test",
                "context_id": "c",
                "high_id": high,
                "low_id": low,
                "candidate_high": named.get(high, high),
                "candidate_low": named.get(low, low),
            }
            for high, low in tests
        ]
    )


@pytest.mark.parametrize(
    ("tests", "both", "highest"),
    [
        ([("a", "b"), ("b", "c"), ("a", "c")], 0, 1.0),
        ([("a", "b"), ("b", "a")], 2, 0.5),
        ([("a", "b"), ("b", "a"), ("a", "c")], 2, 2 / 3),
        # Three in a circle: one of them fails whatever a model says.
        ([("a", "b"), ("b", "c"), ("c", "a")], 0, 2 / 3),
        # Several error categories of the same two candidates are one test.
        ([("a", "b"), ("a", "b"), ("b", "a")], 2, 0.5),
    ],
)
def test_known_cases(tests: list[Test], both: int, highest: float) -> None:
    assert find_contradictions(frame_of(tests)) == (both, pytest.approx(highest))


def test_candidates_of_one_text_have_one_likelihood() -> None:
    tests = [("a", "b"), ("b", "c")]

    found = find_contradictions(frame_of(tests, {"c": "same", "a": "same"}))

    assert found == (0, 0.5)


def test_a_pair_of_equal_texts_is_a_tie_and_fails() -> None:
    found = find_contradictions(frame_of([("a", "b"), ("a", "c")], {"b": "a"}))

    assert found == (0, 0.5)


def test_contexts_do_not_meet() -> None:
    one, other = frame_of([("a", "b")]), frame_of([("b", "a")])

    found = find_contradictions(pl.concat([one, other.with_columns(context_id=pl.lit("d"))]))

    assert found == (0, 1.0)


@pytest.mark.parametrize("seed", range(20))
def test_no_ranking_passes_more(seed: int) -> None:
    rng = random.Random(seed)
    texts = "abcdef"[: rng.randint(3, 6)]
    every = list(itertools.permutations(texts, 2))
    tests = rng.sample(every, rng.randint(1, len(every)))
    best = max(
        sum(order.index(high) < order.index(low) for high, low in tests)
        for order in itertools.permutations(texts)
    )

    assert find_contradictions(frame_of(tests))[1] == best / len(tests)


def test_of_many_texts_the_rate_is_a_bound() -> None:
    texts = [f"{number:02}" for number in range(17)]
    around = list(zip(texts, [*texts[1:], texts[0]], strict=True))

    found = find_contradictions(frame_of([*around, (texts[1], texts[0])]))

    assert found == (2, 17 / 18)


def test_no_pair_has_no_rate() -> None:
    assert find_contradictions(frame_of([("a", "b")]).clear()) == (0, None)
