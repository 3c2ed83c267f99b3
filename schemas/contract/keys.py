"""What identifies contexts, tests and sets of pairs; when texts are the same; example pairs."""

import hashlib
from collections.abc import Iterable

import polars as pl

CONTEXT = ("split", "context_id")

DISTINCT = (*CONTEXT, "high_id", "low_id")
"""Two candidates that differ by several error categories make several pairs but one test."""

SLICE_TITLES = {
    "error_category": "error category",
    "error_group": "error group",
    "aspect": "aspect",
    "category": "context category",
    "split": "split",
}
"""Column of the pairs → title of its slices."""

_FOLDED = r"^([!-~]+( [!-~]+)*)?$"
"""Matches texts that folding does not change: ASCII with single spaces, as most texts are."""


def distinct_in_order(pairs: pl.DataFrame) -> pl.DataFrame:
    """Return the first pair of each test; as in a stored frame, the pairs of a test are adjacent.

    The columns of DISTINCT identify tests.
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


def choose_examples(pairs: pl.DataFrame, most: int) -> pl.DataFrame:
    """Return pairs of as many error categories as possible, the most frequent first.

    The pair with the lowest pair_id of each category comes first, then the next of each. A pair_id
    is a digest, so the choice is arbitrary and does not depend on the order of rows.
    """
    ordered = (
        pairs.select("pair_id", "error_category")
        .with_row_index("row")
        .sort("pair_id")
        .with_columns(
            turn=pl.int_range(pl.len()).over("error_category"),
            often=pl.len().over("error_category"),
        )
        .sort("turn", "often", "error_category", descending=[False, True, False], nulls_last=True)
    )
    return pairs[ordered["row"].head(most)]
