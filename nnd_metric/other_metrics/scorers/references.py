"""References: texts that people wrote for a context, for scorers that compare.

They come in references.parquet, as parts of the context called reference, reference_1, …, or in a
table of their own.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from nnd.metric.data import TABLES, Table, columns_read, read_table, to_frame
from nnd.schemas import CONTEXT, ScoringError, excerpt, kind_of

REFERENCE_PART = re.compile(r"reference(_\d+)?")
"""Pattern of the parts of a context that are references, which models do not read."""

_KEYS = (CONTEXT, ("context_id",), ("context",))


_REFERENCES = ("references", "reference")
"""Columns of references, the first that a table has."""


def references_in(parts: Mapping[str, str] | None) -> tuple[str, ...]:
    """Return the references among the parts of a context, blank ones left out."""
    named = [text for name, text in (parts or {}).items() if REFERENCE_PART.fullmatch(name)]
    return _filled(named)


def read_references(source: str | Path | Table) -> pl.DataFrame:
    """Read a table of references: .csv, .tsv, .json, .jsonl or .parquet, or one in memory.

    Args:
        source: A table with a column `reference` (one text; a context may have several rows) or
            `references` (lists of texts), and with `context_id`, `split` and `context_id`, or
            `context` (its whole text) to identify their context; empty columns are ignored.

    Returns:
        The columns that identify the context, and `references`, list of text; one row per context.
    """
    where, table = read_reference_table(source)
    filled = {each.name for each in table if each.is_empty() or each.null_count() < len(each)}
    key = next((each for each in _KEYS if set(each) <= filled), None)
    name = reference_column(table)
    if key is None or name is None:
        columns = [each if each in filled else f"{each} (empty)" for each in table.columns]
        raise ScoringError(
            "column.missing",
            "a table of references needs a column reference or references, and context_id "
            "or context",
            where,
            f"its columns are {', '.join(columns)}",
        )
    whose = [pl.col(column).cast(pl.String).str.replace_all("\r\n", "\n") for column in key]
    rows = reference_rows(table, name, where).select(*whose, references="reference")
    if sum(rows.select(key).null_count().row(0)):
        raise ScoringError("cell.empty", f"a reference without {' and '.join(key)}", where)
    return rows.group_by(key, maintain_order=True).agg("references")


def read_reference_table(
    source: str | Path | Table, *, also: Sequence[str] = ()
) -> tuple[str, pl.DataFrame]:
    """Return the name in errors, and the rows, of a table that `read_references` may read.

    Of a file, only the columns of pairs and of references, and those that are `also` named.
    """
    if not isinstance(source, str | Path):
        return "references", to_frame(source)
    path = Path(source)
    if kind_of(path) not in TABLES:
        raise ScoringError(
            "file.not-a-table",
            where=path,
            remedy=f"name a table of references: {', '.join(TABLES)}",
        )
    return str(source), read_table(path, {*columns_read(), *_REFERENCES, *also}).frame()


def reference_column(table: pl.DataFrame) -> str | None:
    """Return the column with references, or None without one."""
    return next((name for name in _REFERENCES if name in table.columns), None)


def reference_rows(table: pl.DataFrame, name: str, where: str) -> pl.DataFrame:
    """Return a row for each reference of a table, in the column `reference`."""
    dtype = pl.List(pl.String) if name == "references" else pl.String
    if table[name].dtype != dtype:
        raise ScoringError(
            "column.wrong-type",
            f"column {name} is {table[name].dtype}",
            where,
            f"it must be {dtype}",
        )
    rows = table.with_columns(reference=name)
    return (rows.explode("reference") if name == "references" else rows).drop_nulls("reference")


def match_references(contexts: pl.DataFrame, table: pl.DataFrame) -> list[tuple[str, ...]]:
    """Return the references of every context; blank ones are omitted.

    The contexts have split, context_id and context. It is an error if none has any reference,
    because the table (`read_references`) belongs to other data.
    """
    key = [name for name in table.columns if name != "references"]
    found = contexts.join(table, on=key, how="left", maintain_order="left")["references"]
    if len(found) and found.null_count() == len(found):
        ours, theirs = contexts[key[-1]][0], table[key[-1]][0] if len(table) else "nothing"
        raise ScoringError(
            "scorer.references",
            f'the references belong to other data: {key[-1]} is e.g. "{excerpt(ours)}" here '
            f'and "{excerpt(theirs)}" there',
        )
    return [_filled(texts or ()) for texts in found.to_list()]


def _filled(texts: Sequence[str]) -> tuple[str, ...]:
    return tuple(text for text in texts if text.strip())
