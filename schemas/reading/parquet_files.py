"""Reading the rows of a Parquet file in bounded memory.

Files are opened by path and read without threads. Given a `BytesIO`, Arrow's threads hold Python
buffers and may drop the last reference to one after `read` has returned. If the interpreter is
finalizing by then, as after an error, that thread requests the GIL within a C++ destructor and
Python ends it there: "terminate called without an active exception", exit status 134.
"""

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nnd.schemas.words.errors import SourceError

if TYPE_CHECKING:
    import pyarrow as pa

MOST_BYTES = 2**30
"""Most bytes of all cells, decoded: a million rows may refer to a text that a file holds once."""

_ROWS = 1024  # at a time


def parquet_schema(path: Path) -> "pa.Schema":
    """Return the columns of a Parquet file with their types."""
    from pyarrow import parquet  # noqa: PLC0415 - most files need none of it

    with _refusing(path), parquet.ParquetFile(path) as file:
        return file.schema_arrow


def read_parquet_rows(path: Path, columns: Sequence[str] | None = None) -> Iterator[dict[str, Any]]:
    """Yield the rows of a Parquet file, or some `columns` of them, holding a few at a time."""
    import pyarrow as pa  # noqa: PLC0415 - most files need none of it
    from pyarrow import parquet  # noqa: PLC0415

    schema = parquet_schema(path)
    wanted = schema.names if columns is None else list(columns)
    # Repeated texts are decoded after their sizes are known. Arrow mostly cannot do that in lists.
    kinds = (pa.string(), pa.large_string(), pa.binary(), pa.large_binary())
    texts = [name for name in wanted if schema.field(name).type in kinds]
    with (
        _refusing(path),
        parquet.ParquetFile(path, read_dictionary=texts, pre_buffer=False) as file,
    ):
        missing, total = file.metadata.num_rows, 0
        for batch in file.iter_batches(_ROWS, columns=wanted, use_threads=False):
            total += sum(map(_decoded_bytes, batch.columns))
            if total > MOST_BYTES:
                raise SourceError(
                    "file.too-large", f"its cells take more than {MOST_BYTES:,} bytes", path.name
                )
            plain = [
                c.dictionary_decode() if pa.types.is_dictionary(c.type) else c
                for c in batch.columns
            ]
            yield from pa.RecordBatch.from_arrays(plain, batch.schema.names).to_pylist()
            missing -= batch.num_rows
        # Arrow reads a damaged page as the end of a column.
        if missing:
            raise ValueError(f"it is damaged, {missing} rows are missing")


def _decoded_bytes(values: "pa.Array") -> int:
    """Return the decoded size of values, counting a repeated text in every row."""
    from pyarrow import compute, types  # noqa: PLC0415 - most files need none of it

    kind = values.type
    if types.is_dictionary(kind) and not types.is_primitive(kind.value_type):
        lengths = compute.binary_length(values.dictionary).take(values.indices)
        return int(values.indices.nbytes) + (compute.sum(lengths).as_py() or 0)
    if types.is_struct(kind):
        return sum(map(_decoded_bytes, values.flatten()))
    if types.is_map(kind):
        return _decoded_bytes(values.keys) + _decoded_bytes(values.items)
    if types.is_nested(kind):  # a list of some kind
        return _decoded_bytes(values.flatten())
    return int(values.nbytes)


@contextlib.contextmanager
def _refusing(path: Path) -> Iterator[None]:
    from pyarrow import ArrowException  # noqa: PLC0415 - most files need none of it

    try:
        yield
    except MemoryError as error:
        raise SourceError("file.too-large", "not enough memory to read it", path.name) from error
    except (OSError, ValueError, ArrowException) as error:
        reason = str(error).partition("\n")[0].rstrip(".")
        raise SourceError(
            "file.not-parquet", f"cannot be read as Parquet: {reason}", path.name
        ) from error
