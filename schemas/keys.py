"""The columns that identify contexts and tests, and a digest that identifies sets of pairs."""

import hashlib
from collections.abc import Iterable

import polars as pl

CONTEXT = ("split", "context_id")

DISTINCT = (*CONTEXT, "high_id", "low_id")
"""Two candidates that differ by several error categories make several pairs but one test."""


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
