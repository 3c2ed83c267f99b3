"""What identifies contexts, tests and sets of pairs, and when two texts are the same."""

import hashlib
from collections.abc import Iterable

import polars as pl

CONTEXT = ("split", "context_id")

DISTINCT = (*CONTEXT, "high_id", "low_id")
"""Two candidates that differ by several error categories make several pairs but one test."""

_FOLDED = r"^([!-~]+( [!-~]+)*)?$"
"""Matches texts that folding does not change: ASCII with single spaces, as most texts are."""


def distinct_in_order(pairs: pl.DataFrame) -> pl.DataFrame:
    """Return the first pair of each test.

    Args:
        pairs: With the columns of DISTINCT, in the order of a stored frame, in which the pairs of a
            test are adjacent.
    """
    return pairs.filter(
        pl.any_horizontal(pl.col(name).ne_missing(pl.col(name).shift()) for name in DISTINCT)
    )


def pairs_digest(pair_ids: Iterable[str]) -> str:
    """Return a digest of a set of pair ids; order and repetitions do not matter."""
    ids = "\n".join(sorted({*pair_ids}))
    return hashlib.sha256(ids.encode()).hexdigest()[:16]


def fold(text: pl.Expr) -> pl.Expr:
    """Return text in NFC, with runs of white space as one space and none at the ends."""
    return text.str.normalize("NFC").str.replace_all(r"\s+", " ").str.strip_chars()


def fold_texts(texts: pl.Series) -> pl.Series:
    """Return texts as `fold` does, in less time if most of them do not change."""
    rows = (~texts.str.contains(_FOLDED)).arg_true()
    folded = texts.gather(rows).to_frame("text").select(fold(pl.col("text")))
    return texts.clone().scatter(rows, folded["text"])


def have_equal_texts(pairs: pl.DataFrame) -> pl.Series:
    """Return for each pair whether both candidates are the same text after folding."""
    high, low = (fold_texts(pairs[f"candidate_{side}"]) for side in ("high", "low"))
    return (high == low).rename("equal")
