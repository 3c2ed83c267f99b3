"""The rows of a converted or published folder."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from nnd.schemas.contract.schemas import polars_schema
from nnd.schemas.files.folder import FrameName, check_files, frame_files, has_frame, set_files
from nnd.schemas.files.parquet import read_parquet
from nnd.schemas.words.errors import SchemaError


def read_frame(folder: Path, name: FrameName, columns: Sequence[str] | None = None) -> pl.DataFrame:
    """Return the rows of a frame of a converted or published folder.

    Args:
        folder: The folder.
        name: Which frame.
        columns: The columns to read; None: all.

    Raises:
        SchemaError: If it is missing, was changed since it was written, cannot be read, lacks a
            column, or its files do not have the same columns. Missing references, which few sources
            have, are an empty frame.
    """
    if name == "references" and not has_frame(folder, name):
        return pl.DataFrame(schema=polars_schema("reference")).select(columns or pl.all())
    files = frame_files(folder, name)
    check_files(folder, files)
    return _together([_read(path, columns) for path in files], folder / name)


def read_set(folder: Path, name: str, columns: Sequence[str] | None = None) -> pl.DataFrame:
    """Return the pairs of a set of a suite (as `read_frame`)."""
    files = set_files(folder, name)
    check_files(folder, files)
    return _together([_read(path, columns) for path in files], folder / name)


def _together(parts: list[pl.DataFrame], where: Path) -> pl.DataFrame:
    try:
        return pl.concat(parts)
    except pl.exceptions.PolarsError as error:
        raise SchemaError(f"{where}: its files do not fit together: {error}") from error


def _read(path: Path, columns: Sequence[str] | None) -> pl.DataFrame:
    try:
        return read_parquet(path, columns)
    except (OSError, ValueError) as error:
        raise SchemaError(f"{path}: cannot be read: {error}; convert the source again") from error
