"""Parquet files with rows and facts that cannot change unnoticed.

A file is written atomically, so it exists completely or not at all. Its metadata holds the facts,
and the SHA-256 of the file with zeros in the place of this digest.
"""

import hashlib
import io
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from nnd.schemas import write_whole

DAMAGE = (
    *(OSError, ValueError, LookupError, TypeError),
    *(pa.ArrowException, pl.exceptions.PolarsError),
)
"""The errors of a file that is missing, or was changed since it was written."""

_FACTS, _DIGEST = b"nnd", b"nnd-sha256"
_ZEROS = b"0" * 64
_DIGITS = re.compile(_DIGEST + rb"[^0-9a-f]{1,9}([0-9a-f]{64})")


def write_sealed(path: Path, rows: pl.DataFrame, facts: Mapping[str, Any]) -> None:
    """Write rows, and facts as JSON has them (errors as in `write_whole`)."""
    metadata = {_FACTS: json.dumps(facts).encode(), _DIGEST: _ZEROS}
    table = rows.to_arrow(compat_level=pl.CompatLevel.oldest())
    buffer = io.BytesIO()
    pq.write_table(table.replace_schema_metadata(metadata), buffer, compression="zstd")
    raw = buffer.getvalue()
    write_whole(path, _with_digest(raw, hashlib.sha256(raw).hexdigest().encode()))


class SealedRows:
    """A file that `write_sealed` wrote; it may raise an error of `DAMAGE`."""

    def __init__(self, path: Path) -> None:
        raw = path.read_bytes()
        digest = hashlib.sha256(_with_digest(raw, _ZEROS)).hexdigest().encode()
        if raw != _with_digest(raw, digest):
            raise ValueError("it was changed since it was written")
        self._file = pq.ParquetFile(pa.BufferReader(raw))

    @property
    def facts(self) -> Any:  # noqa: ANN401 - JSON
        """The facts."""
        return json.loads(self._file.metadata.metadata[_FACTS])

    def read(self) -> pl.DataFrame:
        """Return the rows."""
        return pl.DataFrame(pl.from_arrow(self._file.read()))


def _with_digest(raw: bytes, digest: bytes) -> bytes:
    place = _DIGITS.search(raw)
    if place is None:
        raise ValueError("it has no digest")
    return raw[: place.start(1)] + digest + raw[place.end(1) :]
