"""Scorers without references, and what any scorer must answer."""

import math
from collections.abc import Sequence

import pytest
from support.refusals import refusal

from nnd.metric.other_metrics.scorers.scorer import Text, TextScorer, length, overlap, score_texts

CAT = Text("the cat sat", "The cat sat on the mat.")


def test_length_is_in_characters() -> None:
    assert length([CAT, Text("", "x"), Text("ä é", "x")]) == [11, 0, 3]


@pytest.mark.parametrize(
    ("candidate", "share"),
    [
        ("The CAT sat", 1),
        ("the dog sat", 2 / 3),
        ("mat mat mat dog", 3 / 4),  # each occurrence counts
        ("dogs", 0),
        ("", 0),
        ("?!", 0),
    ],
)
def test_overlap_is_the_share_of_words_that_the_context_has(
    candidate: str, share: float | None
) -> None:
    assert overlap([Text(candidate, "The cat sat on the mat.")]) == [share]


def test_any_function_is_a_scorer_and_no_number_is_null() -> None:
    vowels = TextScorer("vowels", lambda texts: [sum(c in "aeiou" for c in t[0]) for t in texts])
    # e, a, a
    assert score_texts(vowels, [CAT]).to_list() == [3.0]
    size = TextScorer("size", lambda texts: [len(text.candidate) or None for text in texts])
    assert score_texts(size, [Text("", "x"), Text("abc", "x")]).to_list() == [None, 3]


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_a_number_that_is_none_is_refused(number: float) -> None:
    odd = TextScorer("odd", lambda texts: [1.0] * (len(texts) - 1) + [number])
    with refusal("scorer.values"):
        score_texts(odd, [Text("fine", "x"), CAT])


@pytest.mark.parametrize("answer", [[], [1.0, 2.0]])
def test_one_number_for_every_text(answer: Sequence[float]) -> None:
    with refusal("scorer.values"):
        score_texts(TextScorer("odd", lambda _: answer), [CAT])


def test_references_that_are_needed_and_nowhere_are_missed() -> None:
    same = TextScorer("same", lambda texts: [None] * len(texts), needs_references=True)
    with refusal("scorer.references"):
        score_texts(same, [CAT])
    assert score_texts(same, [CAT._replace(references=("a",)), CAT]).to_list() == [None, None]
