"""What a model is trained on: pairs, or contexts with references and no worse texts."""

from dataclasses import replace
from pathlib import Path

import polars as pl

from nnd.metric.data import TABLES, PairData, PairSet, load_pairs, to_frame
from nnd.metric.other_metrics import read_reference_table, reference_column, reference_rows
from nnd.schemas import ScoringError, kind_of


def load_corpus(data: PairData) -> PairSet:
    """Return pairs, or references as pairs whose worse candidate is null.

    References are a table in memory or in a file (.csv, .tsv, .json, .jsonl or .parquet) with the
    columns context and reference (one text) or references (lists of texts); inputs is used if it
    exists, and blank references are omitted.
    """
    where, table = _read_table(data)
    column = None if table is None else reference_column(table)
    if table is None or column is None or "candidate_high" in table.columns:
        return load_pairs(data)
    if "context" not in table.columns:
        raise ScoringError(
            "train.no-texts",
            "references need their contexts, but column context is missing",
            where,
            f"the columns are {', '.join(table.columns)}",
        )
    rows = reference_rows(table, column, where)
    # A blank worse candidate gives the rows ids, and drops those with a blank reference.
    found = load_pairs(rows.with_columns(candidate_high="reference", candidate_low=pl.lit("")))
    name = Path(where).stem
    without_worse = found.pairs.with_columns(candidate_low=pl.lit(None, pl.String))
    return replace(found, pairs=without_worse, name=name, equal=())


def has_worse(pairs: PairSet) -> bool:
    """Whether pairs have worse candidates, which references lack."""
    return not pairs.pairs["candidate_low"].has_nulls()


def _read_table(data: PairData) -> tuple[str, pl.DataFrame | None]:
    """Return the name and the rows of a table; None for a folder, or data on the Hub."""
    if not isinstance(data, str | Path):
        return "references", to_frame(data)
    path = Path(data)
    if not path.is_file() or kind_of(path) not in TABLES:
        return str(data), None
    return read_reference_table(path)
