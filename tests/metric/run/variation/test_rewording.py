"""Texts written in another way: which texts change, and that ids stay."""

import polars as pl
import pytest

from nnd.metric.data import load_pairs, parts_of
from nnd.metric.run.variation.rewording import REWORDINGS, reword

ROWS = pl.DataFrame(
    {
        "context": ["The Cat  sat , e\u0301."],
        "candidate_high": ["It 's a Cat"],
        "candidate_low": ["a  dog ."],
        "inputs": [{"article": "The Cat  sat , e\u0301."}],
    }
)


@pytest.mark.parametrize(
    ("name", "context", "high", "low"),
    [
        ("raw", "The Cat  sat , e\u0301.", "It 's a Cat", "a  dog ."),
        ("nfc", "The Cat  sat , \u00e9.", "It 's a Cat", "a  dog ."),
        ("whitespace", "The Cat sat , e\u0301.", "It 's a Cat", "a dog ."),
        ("detokenised", "The Cat  sat, e\u0301.", "It's a Cat", "a  dog."),
        ("lower", "the cat  sat , e\u0301.", "it 's a cat", "a  dog ."),
        ("full-stop", "The Cat  sat , e\u0301.", "It 's a Cat.", "a  dog ."),
        ("no-full-stop", "The Cat  sat , e\u0301.", "It 's a Cat", "a  dog "),
    ],
)
def test_texts_and_parts_change_and_ids_stay(name: str, context: str, high: str, low: str) -> None:
    pairs = load_pairs(ROWS)
    found = reword(pairs, name)
    (row,) = found.pairs.to_dicts()
    assert (row["context"], row["candidate_high"], row["candidate_low"]) == (context, high, low)
    assert parts_of(found.pairs) == [{"article": context}]
    ids = ["pair_id", "context_id", "high_id", "low_id"]
    assert found.pairs.select(ids).equals(pairs.pairs.select(ids))
    assert found.version == pairs.version
    assert dict(found.part) == ({} if name == "raw" else {"normalise": name})


@pytest.mark.parametrize("text", ["He went ...", "who?", "", "so."])
def test_full_stops_are_added_to_words_only_and_taken_once(text: str) -> None:
    added, removed = (REWORDINGS[name].change for name in ("full-stop", "no-full-stop"))
    assert added(text) == text
    assert removed(text) == {"so.": "so"}.get(text, text)
