"""A folder of pairs and human scores: as `nnd convert` writes it, or as the Hub holds it.

Converted: `pairs.parquet`, `annotations.parquet`, `human_scores.parquet`, `manifest.json`.
Published: `pairs/SPLIT-00000-of-00001.parquet`, `annotations/SPLIT-00000-of-00001.parquet`, a
single `human_scores.parquet`, `manifest.json`. Rows and columns are the same. A source that has
references adds `references.parquet`, published as `references/SPLIT-00000-of-00001.parquet`.

A suite is such a folder with `sets/NAME.parquet` for every set that its manifest lists, published
as `sets/NAME/SPLIT-00000-of-00001.parquet`. If it has `validity.json`, its card shows how well its
negatives represent human pairs.

A frame is the rows of one of these names: `pairs`, `annotations`, `human_scores`, `references` or
`sets/NAME`.
"""

import contextlib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias

import polars as pl

from nnd.schemas.files.documents import MANIFEST, VALIDITY, parse_document, read_document, read_with
from nnd.schemas.reading.parquet import read_parquet
from nnd.schemas.words.errors import SchemaError

FrameName: TypeAlias = Literal["pairs", "human_scores", "annotations", "references"]

_SPLIT = re.compile(r"\w+(\.\w+)*")  # as `datasets` has it
_PUBLISHED = re.compile(
    r"human_scores\.parquet|(?:pairs|preferences|annotations|references|sets/[a-z0-9][a-z0-9._-]*)"
    rf"/{_SPLIT.pattern}-00000-of-00001\.parquet"
)
_REMEDY = "name a folder that `nnd convert` wrote, or one fetched from the Hub"


def published_path(name: str, split: str) -> str:
    """Return the path of the rows of a split in a published folder, with `/` as separator.

    Human scores are of systems and belong to no split: they are in one file for every `split`.
    """
    if not _SPLIT.fullmatch(split):
        raise SchemaError(
            "data.split-name",
            "the Hub knows splits of letters, digits, _ and . only",
            f'split "{split}"',
        )
    return (
        "human_scores.parquet"
        if name == "human_scores"
        else f"{name}/{split}-00000-of-00001.parquet"
    )


def is_published_path(path: str) -> bool:
    """Say whether `published_path` returns this path for any frame and split."""
    return _PUBLISHED.fullmatch(path) is not None


def frame_files(folder: Path, name: str, *, changed: bool = False) -> list[Path]:
    """Return the files of a frame, in order; the list is empty if the folder has none.

    Unless they may be `changed`, they are checked against the manifest, if there is one.
    """
    single = folder / f"{name}.parquet"
    files = [single] if single.is_file() else sorted((folder / name).glob("*.parquet"))
    if files and not changed and (folder / MANIFEST).exists():
        read_with(folder / MANIFEST, [path.relative_to(folder).as_posix() for path in files])
    return files


def read_file(path: Path, columns: Sequence[str] | None = None) -> pl.DataFrame:
    """Return the rows of a file of a folder (columns and errors as in `read_frame`)."""
    try:
        return read_parquet(path, columns)
    except (OSError, ValueError) as error:
        raise SchemaError("data.convert-again", f"cannot be read: {error}", path) from error


def find_frame(
    folder: Path, name: str, columns: Sequence[str] | None = None
) -> pl.DataFrame | None:
    """Return the rows of a frame as `read_frame`, or None if the folder has none."""
    parts = [read_file(path, columns) for path in frame_files(folder, name)]
    try:
        return pl.concat(parts) if parts else None
    except pl.exceptions.PolarsError as error:
        reason = str(error).partition("\n")[0]
        raise SchemaError(
            "data.convert-again", f"its files do not fit together: {reason}", folder / name
        ) from error


def read_frame(
    folder: Path,
    name: str,
    columns: Sequence[str] | None = None,
    *,
    empty: pl.Schema | None = None,
) -> pl.DataFrame:
    """Return the rows of a frame of a converted or published folder.

    Columns of None means all. A frame may be missing if the columns of an `empty` one are given.

    Raises:
        SchemaError: If it is missing, was changed since it was written, cannot be read, lacks a
            column, or its files do not have the same columns.
    """
    rows = find_frame(folder, name, columns)
    if rows is None and empty is not None:
        return pl.DataFrame(schema=empty).select(columns or pl.all())
    if rows is None:
        raise missing_frame(folder, name)
    return rows


def missing_frame(folder: Path, name: str) -> SchemaError:
    """Return the error for a folder without a frame."""
    remedy = "build the suite again" if name.startswith("sets/") else _REMEDY
    return SchemaError(
        "data.convert-again", f"there is neither {name}.parquet nor {name}/", folder, f"{remedy}"
    )


def read_manifest(folder: Path, *, changed: bool = False) -> dict[str, Any]:
    """Return the manifest of a converted or published folder."""
    with contextlib.suppress(OSError):  # no permission, which reading it tells
        if not (folder / MANIFEST).exists():
            raise SchemaError("data.convert-again", f"there is no {MANIFEST}", folder, _REMEDY)
    return (parse_document if changed else read_document)(folder / MANIFEST)


def find_manifest(folder: Path) -> dict[str, Any]:
    """Return the manifest of a folder as `read_manifest`; it is empty if the folder has none."""
    return read_manifest(folder) if (folder / MANIFEST).is_file() else {}


def read_validity(folder: Path, *, changed: bool = False) -> dict[str, Any] | None:
    """Return how well a suite's negatives represent human pairs; None if there is no such file.

    Arguments and errors are those of `read_manifest`.
    """
    path = folder / VALIDITY
    return (parse_document if changed else read_document)(path) if path.exists() else None
