"""Reading Parquet with Arrow, because polars may abort on a damaged file.

Rows are read in pieces whose decoded size is known before they are decoded: a file of 1 MB may say
"the same text" ten thousand times. `pyarrow.parquet.read_table` and polars' `use_pyarrow` would
treat a file as a dataset: a folder called `split=test` would add a column, and pandas would be
imported.

Rows of Python values are read without threads. Given a `BytesIO`, Arrow's threads hold Python
buffers and may drop the last reference to one after `read` has returned. If the interpreter is
finalizing by then, as after an error, that thread requests the GIL within a C++ destructor and
Python ends it there: "terminate called without an active exception", exit status 134.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, cast

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from nnd.schemas.reading.limits import COLUMNS, TEXT, UNPACKED
from nnd.schemas.reading.process import check_not_forked
from nnd.schemas.reading.records import check_columns
from nnd.schemas.words.errors import SourceError

_ROWS = 1024
"""Rows of Python values at a time, and of columns whose texts are decoded before they are seen."""

_MANY_ROWS, _MANY_BYTES = 2**18, 2**28
"""Rows of other columns at a time, and their bytes as the file tells them. For each of these pieces
Arrow hashes the whole dictionary of a column again, so many small ones take four times as long."""


def read_parquet(file: Path | BinaryIO, columns: Sequence[str] | None = None) -> pl.DataFrame:
    """Return the rows of a Parquet file, with the columns in the given order; None means all.

    Raises:
        OSError: If the file cannot be read.
        ValueError: If it is not a Parquet file, is damaged, or lacks a column; the message is one
            line without the name of the file.
        SourceError: If it is beyond a limit.
        NNDError: If this process was forked (`check_not_forked`).
    """
    check_not_forked()
    with _one_line(), pq.ParquetFile(file) as parquet:
        missing = [name for name in columns or () if name not in parquet.schema_arrow.names]
        if missing:
            raise ValueError(f"column {', '.join(missing)} is missing")
        frame = _frame(file, parquet, columns)
    return frame if columns is None else frame.select(columns)


def read_parquet_rows(path: Path, columns: Sequence[str] | None = None) -> Iterator[dict[str, Any]]:
    """Yield the rows of a Parquet file, or some `columns` of them, holding a few at a time.

    Raises SourceErrors that name the file.
    """
    try:
        with _one_line(), pq.ParquetFile(path) as parquet:
            check_columns(path.name, parquet.schema_arrow.names, columns or ())
            for batch in _batches(path, parquet, columns, rows=_ROWS):
                yield from batch.to_pylist()
    except (OSError, ValueError) as error:
        reason = str(error).rstrip(".")
        raise SourceError(
            "file.not-parquet", f"cannot be read as Parquet: {reason}", path.name
        ) from error


def parquet_bytes(frame: pl.DataFrame) -> bytes:
    """Return a frame as a Parquet file; polars itself does not say that a disk is full."""
    buffer = BytesIO()
    frame.write_parquet(buffer)
    return buffer.getvalue()


def stored_columns(file: Path | BinaryIO) -> list[str]:
    """Return the names of the columns of a Parquet file (errors as in `read_parquet`)."""
    with _one_line(), pq.ParquetFile(file) as parquet:
        return _names(file, parquet)


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
        return _frame(file, parquet, None if columns is None else known, group=number)


def _frame(
    file: Path | BinaryIO,
    parquet: pq.ParquetFile,
    columns: Sequence[str] | None,
    group: int | None = None,
) -> pl.DataFrame:
    batches = list(_batches(file, parquet, columns, group=group))
    names = parquet.schema_arrow.names if columns is None else columns
    schema = pa.schema([parquet.schema_arrow.field(name) for name in names])
    # Polars panics if metadata is not UTF-8.
    table = pa.Table.from_batches(batches, None if batches else schema).replace_schema_metadata()
    return cast("pl.DataFrame", pl.from_arrow(table))


def _batches(
    file: Path | BinaryIO,
    parquet: pq.ParquetFile,
    columns: Sequence[str] | None,
    *,
    group: int | None = None,
    rows: int | None = None,
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a file or of a row group, within the limits."""
    names = _names(file, parquet)
    wanted = names if columns is None else list(columns)
    kinds = [parquet.schema_arrow.field(name).type for name in wanted]
    # All texts: on a damaged file, asking Arrow which columns have a dictionary may abort.
    texts = [name for name, kind in zip(wanted, kinds, strict=True) if _is_text(kind)]
    metadata = parquet.metadata
    groups = [*range(metadata.num_row_groups)] if group is None else [group]
    missing = metadata.num_rows if group is None else metadata.row_group(group).num_rows
    # Repeated texts are decoded after their sizes are known. Arrow mostly cannot do that in lists.
    if any(map(pa.types.is_nested, kinds)):
        rows = _ROWS
    if rows is None:
        told = sum(metadata.row_group(number).total_byte_size for number in groups)
        rows = min(_MANY_ROWS, max(_ROWS, _MANY_BYTES * missing // max(told, 1)))
    left, longest, where = UNPACKED.most, TEXT.most, getattr(file, "name", "")
    again = {"metadata": metadata, "read_dictionary": texts, "pre_buffer": False}
    with pq.ParquetFile(file, **again) as opened:
        for batch in opened.iter_batches(rows, groups, wanted, use_threads=rows != _ROWS):
            left -= sum(map(_decoded_bytes, batch.columns))
            if left < 0:
                raise UNPACKED.error(where, "its cells have")
            if any(_longest(values) > longest for values in batch.columns):
                raise TEXT.error(where, "a text has")
            plain = [_decoded(values) for values in batch.columns]
            yield pa.RecordBatch.from_arrays(plain, batch.schema.names)
            missing -= batch.num_rows
    if missing:  # Arrow reads a damaged page as the end of a column
        raise ValueError(f"{missing} rows are missing, so the file is damaged")


def _names(file: Path | BinaryIO, parquet: pq.ParquetFile) -> list[str]:
    if parquet.metadata.num_columns > COLUMNS.most:
        raise COLUMNS.error(getattr(file, "name", ""))
    return list(parquet.schema_arrow.names)


def _is_text(kind: pa.DataType) -> bool:
    return kind in (pa.string(), pa.large_string(), pa.binary(), pa.large_binary())


def _decoded(values: pa.Array) -> pa.Array:
    whole = values.dictionary_decode() if pa.types.is_dictionary(values.type) else values
    whole.validate(full=True)  # polars takes texts for UTF-8
    return whole


def _longest(values: pa.Array) -> int:
    """Return the bytes of the longest text in a column of texts."""
    texts = values.dictionary if pa.types.is_dictionary(values.type) else values
    return pc.max(pc.binary_length(texts)).as_py() or 0 if _is_text(texts.type) else 0


def _decoded_bytes(values: pa.Array) -> int:
    """Return the decoded size of values, counting a repeated text in every row."""
    kind = values.type
    if pa.types.is_dictionary(kind) and not pa.types.is_primitive(kind.value_type):
        lengths = pc.binary_length(values.dictionary).take(values.indices)
        return int(values.indices.nbytes) + (pc.sum(lengths).as_py() or 0)
    if pa.types.is_struct(kind):
        return sum(map(_decoded_bytes, values.flatten()))
    if pa.types.is_map(kind):
        return _decoded_bytes(values.keys) + _decoded_bytes(values.items)
    if pa.types.is_nested(kind):  # a list of some kind
        return _decoded_bytes(values.flatten())
    return int(values.nbytes)


@contextmanager
def _one_line() -> Iterator[None]:
    try:
        yield
    except MemoryError as error:
        raise SourceError("file.too-large", "not enough memory to read it") from error
    except (pa.ArrowException, pl.exceptions.PolarsError) as error:
        raise ValueError(str(error).partition("\n")[0]) from error
