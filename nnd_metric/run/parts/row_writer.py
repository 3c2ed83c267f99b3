"""Write a Parquet file of many scored pairs piece by piece."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from nnd.metric.data import SLICES

_AT_ONCE = 200_000
"""Smallest number of rows in a row group, except the last."""

_REPEATED = ["model", "split", "origin", *SLICES]
"""Columns of few values. Dictionaries for ids would double the time and gain nothing."""


def write_pieces(path: Path, schema: pl.Schema, pieces: Iterable[pl.DataFrame]) -> None:
    """Write rows as they arrive; those of several pieces form a row group."""
    with pq.ParquetWriter(
        path,
        _arrow(pl.DataFrame(schema=schema)).schema,
        compression="zstd",
        use_dictionary=_REPEATED,
        write_statistics=False,
    ) as file:
        for rows in _row_groups(pieces):
            file.write_table(_arrow(rows))


def _row_groups(pieces: Iterable[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    waiting: list[pl.DataFrame] = []
    for piece in pieces:
        waiting += [piece] if piece.height else []
        if sum(rows.height for rows in waiting) >= _AT_ONCE:
            yield pl.concat(waiting)
            waiting.clear()
    if waiting:
        yield pl.concat(waiting)


def _arrow(rows: pl.DataFrame) -> pa.Table:
    return rows.to_arrow(compat_level=pl.CompatLevel.oldest())
