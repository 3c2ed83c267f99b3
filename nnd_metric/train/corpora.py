"""What a model is trained on: pairs, or contexts with references, which may have negatives."""

from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import polars as pl

from nnd.metric.data import TABLES, PairData, PairSet, load_pairs, to_frame
from nnd.metric.other_metrics import read_reference_table, reference_column, reference_rows
from nnd.schemas import NEGATIVES_FACTS, REFERENCE_ROWS, ScoringError, fold, kind_of

_NEGATIVES = "negatives"
_MADE = "synthetic"
"""Origin of pairs with a negative."""


class Corpus(NamedTuple):
    """What a model is trained on; of references, the worse candidate may be null."""

    pairs: PairSet
    of_references: bool


def load_corpus(data: PairData) -> Corpus:
    """Return pairs, or references as pairs with each of their negatives, or with null.

    References are a table in memory or in a file (.csv, .tsv, .json, .jsonl or .parquet), or a
    folder that `nnd derive` made of one, with the columns context and reference (one text) or
    references (lists of texts); inputs is used if it exists, and blank references are omitted.
    negatives may be a list of wrong texts for each reference.
    """
    where, table = _read_table(data)
    column = None if table is None else reference_column(table)
    if table is None or column is None or "candidate_high" in table.columns:
        return Corpus(load_pairs(data), of_references=False)
    if "context" not in table.columns:
        raise ScoringError(
            "train.no-texts",
            "references need their contexts, but column context is missing",
            where,
            f"the columns are {', '.join(table.columns)}",
        )
    rows = _with_worse(reference_rows(table, column, where), column, where)
    # A blank worse candidate gives the rows ids, and drops those with a blank reference.
    found = load_pairs(rows.with_columns(candidate_high="reference"))
    is_reference = pl.col("candidate_low") == ""
    pairs = found.pairs.with_columns(
        candidate_low=pl.when(~is_reference).then("candidate_low"),
        origin=pl.when(~is_reference).then(pl.lit(_MADE)),
    )
    return Corpus(replace(found, pairs=pairs, name=Path(where).stem, equal=()), of_references=True)


def has_worse(pairs: PairSet) -> bool:
    """Whether pairs have worse candidates, which references may lack."""
    return pairs.pairs["candidate_low"].null_count() < pairs.pairs.height


def _with_worse(rows: pl.DataFrame, column: str, where: str) -> pl.DataFrame:
    """Return a row for each negative of a reference, and one with a blank text without any."""
    blank = pl.lit("").alias("candidate_low")
    if _NEGATIVES not in rows.columns:
        return rows.with_columns(blank)
    if column != "reference":
        raise ScoringError(
            "option.conflict",
            "it is not said which of several references the negatives belong to",
            where,
            "write one row for each reference, in the column reference",
        )
    if rows[_NEGATIVES].dtype not in (pl.List(pl.String), pl.List(pl.Null), pl.Null):
        raise ScoringError(
            "column.wrong-type",
            f"column {_NEGATIVES} is {rows[_NEGATIVES].dtype}",
            where,
            f"it must be {pl.List(pl.String)}",
        )
    filled = rows.filter(pl.col("reference").str.strip_chars() != "").with_row_index("of")
    texts = filled.with_columns(candidate_low=pl.col(_NEGATIVES).cast(pl.List(pl.String)))
    each = texts.explode("candidate_low")
    differs = fold(pl.col("candidate_low")) != fold(pl.col("reference"))
    is_worse = differs & (pl.col("candidate_low").str.strip_chars() != "")
    worse = each.filter(is_worse)
    alone = filled.join(worse, on="of", how="anti").with_columns(blank)
    return pl.concat([worse, alone]).sort("of", maintain_order=True)


def _read_table(data: PairData) -> tuple[str, pl.DataFrame | None]:
    """Return the name and the rows of a table; None for a folder, or data on the Hub."""
    if not isinstance(data, str | Path):
        return "references", to_frame(data)
    path = Path(data)
    if (path / NEGATIVES_FACTS).is_file():
        return str(path), read_reference_table(path / REFERENCE_ROWS, also=[_NEGATIVES])[1]
    if not path.is_file() or kind_of(path) not in TABLES:
        return str(data), None
    return read_reference_table(path, also=[_NEGATIVES])
