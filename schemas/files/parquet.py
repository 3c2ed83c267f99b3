"""Reading Parquet with Arrow, because polars may abort on a damaged file.

`pyarrow.parquet.read_table` and polars' `use_pyarrow` would treat a file as a dataset: a folder
called `split=test` would add a column, and pandas would be imported.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, cast

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from nnd.schemas.files.process import check_not_forked


def read_parquet(file: Path | BinaryIO, columns: Sequence[str] | None = None) -> pl.DataFrame:
    """Return the rows of a Parquet file, with the columns in the given order; None means all.

    Raises:
        OSError: If the file cannot be read.
        ValueError: If it is not a Parquet file, is damaged, or lacks a column; the message is one
            line without the name of the file.
        NNDError: If this process was forked (`check_not_forked`).
    """
    check_not_forked()
    with _one_line(), pq.ParquetFile(file) as parquet:
        missing = [name for name in columns or () if name not in parquet.schema_arrow.names]
        if missing:
            raise ValueError(f"column {', '.join(missing)} is missing")
        table = parquet.read(None if columns is None else list(columns))
        frame = _frame(table, parquet.metadata.num_rows)
    return frame if columns is None else frame.select(columns)


def parquet_bytes(frame: pl.DataFrame) -> bytes:
    """Return a frame as a Parquet file; polars itself does not say that a disk is full."""
    buffer = BytesIO()
    frame.write_parquet(buffer)
    return buffer.getvalue()


def stored_columns(file: Path | BinaryIO) -> set[str]:
    """Return the names of the columns of a Parquet file (errors as in `read_parquet`)."""
    with _one_line(), pq.ParquetFile(file) as parquet:
        return {*parquet.schema_arrow.names}


def row_group_sizes(file: Path | BinaryIO) -> list[int]:
    """Return the rows in each row group of a Parquet file (errors as in `read_parquet`)."""
    with _one_line(), pq.ParquetFile(file) as parquet:
        groups = range(parquet.metadata.num_row_groups)
        return [parquet.metadata.row_group(number).num_rows for number in groups]


def read_row_group(
    file: Path | BinaryIO, number: int, columns: Sequence[str] | None = None
) -> pl.DataFrame:
    """Return the rows of one row group, numbered from 0 (errors as in `read_parquet`).

    Columns that the file lacks are ignored; None means all.
    """
    with _one_line(), pq.ParquetFile(file) as parquet:
        known = [name for name in columns or () if name in parquet.schema_arrow.names]
        if columns is not None and not known:
            return pl.DataFrame()
        table = parquet.read_row_group(number, None if columns is None else known)
        return _frame(table, parquet.metadata.row_group(number).num_rows)


def _frame(table: pa.Table, rows: int) -> pl.DataFrame:
    if table.num_rows != rows:  # Arrow reads a damaged page as the end of a column
        raise ValueError(f"{rows - table.num_rows} rows are missing, so the file is damaged")
    # Polars panics if metadata is not UTF-8.
    return cast("pl.DataFrame", pl.from_arrow(table.replace_schema_metadata()))


@contextmanager
def _one_line() -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, pl.exceptions.PolarsError) as error:
        raise ValueError(str(error).partition("\n")[0]) from error
