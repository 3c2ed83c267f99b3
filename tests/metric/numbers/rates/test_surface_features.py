"""What is measured of texts: characters, and shares copied from the context."""

import polars as pl
import pytest

from nnd.metric.data.scored_schema import SURFACE_SCHEMA
from nnd.metric.numbers.rates.surface_features import measure

CONTEXT = "The cat sat on the mat. It was happy, the cat."


def copied_share(candidate: str, context: str) -> float | None:
    texts = {"context": context, "candidate_high": candidate, "candidate_low": "another"}
    share: float | None = measure(pl.DataFrame([texts]))["copied_high"][0]
    return share


@pytest.mark.parametrize(
    ("candidate", "share"),
    [
        ("the cat sat", 1),  # the cat, cat sat
        ("The CAT, sat!", 1),  # letter case and punctuation aside
        ("the cat ran away", 1 / 3),  # the cat; cat ran, ran away
        ("the cat the cat", 2 / 3),  # the cat, twice; cat the
        ("mat it", 1),  # also over the end of a sentence
        ("a dog ran", 0),
        ("sat the mat", 1 / 2),  # the mat; single words do not count
        ("cat", None),
        ("", None),
        ("!?", None),
    ],
)
def test_copied_shares_by_hand(candidate: str, share: float | None) -> None:
    assert copied_share(candidate, CONTEXT) == share


def test_words_are_whole() -> None:
    assert copied_share("he cat", CONTEXT) == 0


def test_each_character_of_a_script_without_spaces_is_a_word() -> None:
    assert copied_share("日本の首都", "日本の首都は東京です") == 1
    assert copied_share("日本の都", "日本の首都は東京です") == 2 / 3
    assert copied_share("ยุง", "ยุง") == 1  # its vowel sign included
    assert copied_share("서울 시", "서울 시에") == 0  # Korean has spaces


def test_an_empty_context_gives_nothing_to_copy() -> None:
    assert copied_share("the cat", "") == 0


def test_both_candidates_of_every_pair() -> None:
    pairs = pl.DataFrame(
        {
            "context": [CONTEXT, "a dog ran", CONTEXT],
            "candidate_high": ["the cat sat", "the cat sat", "日本 🍰"],
            "candidate_low": ["a dog", "a dog", ""],
        }
    )
    found = measure(pairs)
    assert found.schema == SURFACE_SCHEMA
    assert found["characters_high"].to_list() == [11, 11, 4]  # code points, not bytes
    assert found["characters_low"].to_list() == [5, 5, 0]
    assert found["copied_high"].to_list() == [1, 0, 0]  # 🍰 is no word
    assert found["copied_low"].to_list() == [0, 1, None]


def test_no_pairs() -> None:
    texts = ("context", "candidate_high", "candidate_low")
    found = measure(pl.DataFrame(schema=dict.fromkeys(texts, pl.String)))
    assert (found.height, found.schema) == (0, SURFACE_SCHEMA)
