"""Parquet bytes that every reader takes for what they are: plain strings and lists."""

import io

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq


def parquet_bytes(frame: pl.DataFrame) -> bytes:
    """Return a frame as Parquet; the same frame gives the same bytes.

    Written to memory first, so that a full disk is a plain OSError with the file's name. Polars'
    own writer would mark texts as `large_string`, which `datasets` takes for another feature; and
    content-defined chunks with a page index are what the Hub stores and shows best.
    """
    table = frame.to_arrow()
    plain = pa.schema([field.with_type(_plain(field.type)) for field in table.schema])
    buffer = io.BytesIO()
    pq.write_table(
        table.cast(plain),
        buffer,
        compression="zstd",
        use_content_defined_chunking=True,
        write_page_index=True,
    )
    return buffer.getvalue()


def _plain(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_large_string(kind):
        return pa.string()
    if pa.types.is_large_list(kind):
        return pa.list_(pa.field("element", _plain(kind.value_type)))
    if pa.types.is_struct(kind):
        return pa.struct([pa.field(field.name, _plain(field.type)) for field in kind])
    return kind
