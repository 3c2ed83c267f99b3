"""Parts of pairs that are described or measured one by one: by a condition, or by an axis."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from nnd.metric.data import read_table
from nnd.metric.numbers.slices.axes import read_axes
from nnd.metric.numbers.slices.conditions import where_true
from nnd.metric.numbers.slices.named_slices import find_slices
from nnd.schemas import ScoringError, fold

_TEXTS = ("context", "text")
"""Columns of training texts, the first that a table has."""


def pairs_where(
    pairs: pl.DataFrame, condition: str | None, annotations: pl.DataFrame | None
) -> pl.DataFrame:
    """Return the pairs that meet a condition in SQL (`where_true`); all without one."""
    if condition is None:
        return pairs
    found = pairs.filter(pl.Series(where_true(pairs, condition, annotations)))
    if found.is_empty():
        where = f'--where "{condition}"'
        raise ScoringError("slice.empty", "no pair meets the condition", where)
    return found


def pairs_by(
    pairs: pl.DataFrame, by: Sequence[str], annotations: pl.DataFrame | None
) -> dict[str, pl.DataFrame]:
    """Return the name of a slice → its pairs, for the axes `by` (`read_axes`); none is empty."""
    slices = find_slices(pairs, read_axes(by), annotations)
    return {e.name: pairs.filter(pl.Series(e.members)) for e in slices if e.members.any()}


def with_seen(pairs: pl.DataFrame, training_texts: str | Path | None) -> pl.DataFrame:
    """Return pairs with the column `seen`: "seen" if the context is a training text, or "unseen".

    Texts are compared in lower case, in NFC and with white space as one space.

    Args:
        pairs: The pairs, with their contexts.
        training_texts: A text file with a text on each line, or a table (.csv, .jsonl, .parquet)
            with the column context or text; None leaves the pairs as they are.

    Raises:
        ScoringError: If it cannot be read or has no such column, or the pairs have no contexts.
    """
    if training_texts is None:
        return pairs
    if "context" not in pairs.columns:
        raise ScoringError(
            "option.needs-another",
            "a run keeps no texts",
            "--training-texts",
            "name the data that was scored (--data)",
        )
    known = _read_texts(Path(training_texts))
    texts = pairs.select(fold(pl.col("context").str.to_lowercase())).to_series()
    seen = texts.is_in(known.implode())
    return pairs.with_columns(seen=pl.when(seen).then(pl.lit("seen")).otherwise(pl.lit("unseen")))


def _read_texts(path: Path) -> pl.Series:
    if path.suffix.lower() == ".txt":
        try:
            texts = path.read_text(encoding="utf-8-sig").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise ScoringError("file.not-readable", f"cannot be read: {error}", path) from error
    else:
        table = read_table(path, _TEXTS)
        name = next((each for each in _TEXTS if each in table.columns), None)
        if name is None:
            raise ScoringError(
                "column.missing",
                f"column context or text not found; the columns are {', '.join(table.names)}",
                path,
                "name a table of the texts that the model was trained on",
            )
        texts = [str(each) for each in table.columns[name] if each is not None]
    of_texts = pl.Series("text", texts, pl.String).str.to_lowercase().to_frame()
    return of_texts.select(fold(pl.col("text"))).to_series().unique()
