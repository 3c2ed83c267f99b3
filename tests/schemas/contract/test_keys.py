"""Texts that readers see as the same."""

import polars as pl

from nnd.schemas.contract.keys import fold, fold_texts, have_equal_texts

TEXTS = ["  a \u2003 b\r\n", "e\u0301", "", " a", "a ", "a  b", "a b", "a\tb"]
FOLDED = ["a b", "\u00e9", "", "a", "a", "a b", "a b", "a b"]


def test_fold() -> None:
    texts = pl.Series("text", TEXTS)
    assert texts.to_frame().select(fold(pl.col("text"))).to_series().to_list() == FOLDED
    assert fold_texts(texts).to_list() == FOLDED
    assert texts.to_list() == TEXTS


def test_pairs_of_equal_texts() -> None:
    pairs = pl.DataFrame(
        {"candidate_high": ["a b", "a", "\u00e9"], "candidate_low": [" a  b", "A", "e\u0301"]}
    )
    assert have_equal_texts(pairs).to_list() == [True, False, True]
