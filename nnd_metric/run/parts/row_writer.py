"""Write a Parquet file of many scored pairs piece by piece."""

from pathlib import Path
from typing import Self

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from nnd.metric.data import SLICES

_AT_ONCE = 200_000
"""Smallest number of rows in a row group, except the last."""

_REPEATED = ["model", "split", "origin", *SLICES]
"""Columns of few values. Dictionaries for ids would double the time and gain nothing."""


class RowWriter:
    """Writes rows as they arrive; the rows of several calls form a row group."""

    def __init__(self, path: Path, schema: pl.Schema) -> None:
        self._waiting = [pl.DataFrame(schema=schema)]
        self._file = pq.ParquetWriter(
            path,
            _arrow(self._waiting[0]).schema,
            compression="zstd",
            use_dictionary=_REPEATED,
            write_statistics=False,
        )

    def write(self, rows: pl.DataFrame) -> None:
        """Add rows; they are written when there are enough for a row group."""
        self._waiting.append(rows)
        if sum(frame.height for frame in self._waiting) >= _AT_ONCE:
            self._flush()

    def _flush(self) -> None:
        rows = pl.concat(self._waiting)
        if rows.height:
            self._file.write_table(_arrow(rows))
        self._waiting = [rows.clear()]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._flush()
        self._file.close()


def _arrow(rows: pl.DataFrame) -> pa.Table:
    return rows.to_arrow(compat_level=pl.CompatLevel.oldest())
