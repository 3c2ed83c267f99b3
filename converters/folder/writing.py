"""The files of a converted folder: rows as Parquet, and the manifest that lists them."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from nnd.cards import is_marked
from nnd.schemas import MANIFEST, SourceError, check_document, fingerprint, write_document

ROWS_AT_A_TIME = 50_000
"""Rows of a row group; the Hub loads a dataset by row groups to show it."""


def card_in(folder: Path) -> tuple[str, ...]:
    """Return the name of the card that `nnd card` wrote into a folder, if it did."""
    card = folder / "README.md"
    return (card.name,) if card.is_file() and is_marked(card) else ()


def write_parquet(frame: pl.DataFrame, path: Path) -> None:
    """Write a frame as Parquet; the same frame gives the same bytes.

    Polars' own writer would mark texts as `large_string`, which `datasets` reads as another
    feature. The Hub recommends content-defined chunks with a page index.
    """
    plain = pa.schema([f.with_type(_plain_type(f.type)) for f in frame.head(0).to_arrow().schema])
    try:
        with (
            path.open("wb") as file,
            pq.ParquetWriter(
                file,
                plain,
                compression="zstd",
                use_content_defined_chunking=True,
                write_page_index=True,
            ) as writer,
        ):
            # Arrow copies texts, and pairs share contexts: only some rows are converted at a time.
            # Gathered, because the lists of a slice would refer to the texts of the whole frame.
            for start in range(0, frame.height, ROWS_AT_A_TIME):
                rows = frame[np.arange(start, min(start + ROWS_AT_A_TIME, frame.height))]
                for table in _as_tables(rows, plain):
                    writer.write_table(table)
    except OSError as error:  # Arrow does not know the name
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error


def _as_tables(rows: pl.DataFrame, plain: pa.Schema) -> Iterator[pa.Table]:
    """Yield rows as a table, or as several where the texts of one column are above 2 GiB."""
    try:
        table = rows.to_arrow().cast(plain)
    except pa.ArrowInvalid:
        if rows.height == 1:
            raise
        half = rows.height // 2
        for some in (np.arange(half), np.arange(half, rows.height)):
            yield from _as_tables(rows[some], plain)
    else:
        yield table


def _plain_type(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_large_string(kind):
        return pa.string()
    if pa.types.is_large_list(kind):
        return pa.list_(pa.field("element", _plain_type(kind.value_type)))
    if pa.types.is_struct(kind):
        return pa.struct([pa.field(field.name, _plain_type(field.type)) for field in kind])
    return kind


def write_rows(frame: pl.DataFrame, path: Path) -> dict[str, Any]:
    """Write rows, and return the entry of their file in `outputs` of the manifest."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_parquet(frame, path)
    return {"rows": frame.height, **fingerprint(path)}


def write_manifest(manifest: Mapping[str, Any], folder: Path) -> None:
    """Write a manifest."""
    for problem in check_document("manifest", manifest):
        raise problem.error(SourceError, "data.invalid", MANIFEST)
    write_document(folder, manifest, document=MANIFEST)
