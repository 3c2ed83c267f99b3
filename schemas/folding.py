"""Texts as readers see them: in NFC, with single spaces and none at the ends."""

import polars as pl

_FOLDED = r"^([!-~]+( [!-~]+)*)?$"
"""Matches texts that folding does not change: ASCII with single spaces, as most texts are."""


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
