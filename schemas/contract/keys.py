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

_LONGEST_KEY = 64
"""Characters of the longest text that is shown in the key of a cluster."""

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


def cluster_keys(contexts: pl.DataFrame, name: str) -> pl.Series:
    """Return for each context what it shares with others, under a name that a source declares.

    Args:
        contexts: Rows with `inputs` and `metadata`, lists of {key, value}.
        name: The name of an input part or of a fact of the metadata (`cluster` in source.yaml).

    Returns:
        The name, a colon, and the folded text of the part or fact or, if that is long, the first 16
        hexadecimal digits of its SHA-256; null for a context that has neither. With the name, a key
        is no context's id.
    """
    values = (_named(contexts[column], name).fill_null("") for column in ("inputs", "metadata"))
    part, fact = (fold_texts(value).replace("", None) for value in values)
    texts = pl.select(pl.coalesce(part, fact)).to_series()
    keys = {text: f"{name}:{_in_short(text)}" for text in texts.drop_nulls().unique()}
    return texts.replace_strict(keys, default=None, return_dtype=pl.String).alias("cluster")


def _in_short(text: str) -> str:
    is_long = len(text) > _LONGEST_KEY
    return hashlib.sha256(text.encode()).hexdigest()[:16] if is_long else text


def _named(entries: pl.Series, name: str) -> pl.Series:
    """Return the value of a key in lists of {key, value}, null where it is missing."""
    is_named = pl.element().struct.field("key") == name
    values = pl.element().struct.field("value").filter(is_named)
    found = entries.to_frame("of").select(pl.col("of").list.eval(values).list.first())
    return found.to_series()


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
