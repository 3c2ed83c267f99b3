"""A folder of pairs and human scores: as `nnd convert` writes it, or as the Hub holds it.

Converted: `pairs.parquet`, `annotations.parquet`, `human_scores.parquet`, `manifest.json`.
Published: `pairs/SPLIT-00000-of-00001.parquet`, `annotations/SPLIT-00000-of-00001.parquet`, a
single `human_scores.parquet`, `manifest.json`. Rows and columns are the same. A source that has
references adds `references.parquet`, published as `references/SPLIT-00000-of-00001.parquet`.

A suite is such a folder with `sets/NAME.parquet` for every set that its manifest lists, published
as `sets/NAME/SPLIT-00000-of-00001.parquet`. If it has `validity.json`, its card shows how well its
negatives represent human pairs.
"""

import contextlib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias

from nnd.schemas.files.documents import MANIFEST, VALIDITY, parse_document, read_document, read_with
from nnd.schemas.words.errors import SchemaError

FrameName: TypeAlias = Literal["pairs", "human_scores", "annotations", "references"]

SETS = "sets"
"""Folder of the sets of a suite."""

_SPLIT = re.compile(r"\w+(\.\w+)*")  # as `datasets` has it
_PUBLISHED = re.compile(
    r"human_scores\.parquet|(?:pairs|annotations|references|sets/[a-z0-9][a-z0-9._-]*)"
    rf"/{_SPLIT.pattern}-00000-of-00001\.parquet"
)
_REMEDY = "name a folder that `nnd convert` wrote, or one fetched from the Hub"


def published_path(name: FrameName, split: str) -> str:
    """Return the path of the rows of a split in a published folder, with `/` as separator.

    Human scores are of systems and belong to no split: they are in one file for every `split`.

    Raises:
        SchemaError: If the Hub knows no split of that name.
    """
    if not _SPLIT.fullmatch(split):
        raise SchemaError(
            f'split "{split}": the Hub knows splits of letters, digits, _ and . only; rename it in '
            "the source and convert again"
        )
    return (
        "human_scores.parquet"
        if name == "human_scores"
        else f"{name}/{split}-00000-of-00001.parquet"
    )


def published_set_path(name: str, split: str) -> str:
    """Return the path of the pairs of a set in a published suite (as `published_path`)."""
    return published_path("pairs", split).replace("pairs", f"{SETS}/{name}", 1)


def is_published_path(path: str) -> bool:
    """Say whether `published_path` returns this path for any frame and split."""
    return _PUBLISHED.fullmatch(path) is not None


def set_path(name: str) -> str:
    """Return the path of the pairs of a set in a suite, with `/` as separator."""
    return f"{SETS}/{name}.parquet"


def frame_files(folder: Path, name: FrameName) -> list[Path]:
    """Return the files that hold a frame, in order: `NAME.parquet`, else all of `NAME/*.parquet`.

    Raises:
        SchemaError: If there are none.
    """
    single = folder / f"{name}.parquet"
    found = [single] if single.is_file() else sorted((folder / name).glob("*.parquet"))
    if not found:
        raise SchemaError(f"{folder}: there is neither {name}.parquet nor {name}/; {_REMEDY}")
    return found


def set_files(folder: Path, name: str) -> list[Path]:
    """Return the files of a set, in order: `sets/NAME.parquet`, else all of `sets/NAME/*.parquet`.

    Raises:
        SchemaError: If there are none.
    """
    single = folder / set_path(name)
    found = [single] if single.is_file() else sorted((folder / SETS / name).glob("*.parquet"))
    if not found:
        raise SchemaError(
            f"{folder}: the manifest lists the set {name}, but there is neither {set_path(name)} "
            f"nor {SETS}/{name}/; build the suite again"
        )
    return found


def has_frame(folder: Path, name: FrameName) -> bool:
    """Say whether a folder holds a frame; only some sources have references."""
    return (folder / f"{name}.parquet").is_file() or any((folder / name).glob("*.parquet"))


def read_manifest(folder: Path, *, changed: bool = False) -> dict[str, Any]:
    """Return the manifest of a converted or published folder.

    Args:
        folder: The folder.
        changed: Whether it may have been changed since it was written.

    Raises:
        SchemaError: If it is missing, not a JSON object, or was changed although it may not.
    """
    with contextlib.suppress(OSError):  # no permission, which reading it tells
        if not (folder / MANIFEST).exists():
            raise SchemaError(f"{folder}: there is no {MANIFEST}; {_REMEDY}")
    return _read(folder / MANIFEST, changed=changed)


def check_files(folder: Path, files: Sequence[Path]) -> None:
    """Check files of a folder that are about to be read, if it has a manifest.

    Raises:
        SchemaError: If one of them, or the manifest, was changed since it was written.
    """
    if files and (folder / MANIFEST).exists():
        read_with(folder / MANIFEST, [path.relative_to(folder).as_posix() for path in files])


def read_validity(folder: Path, *, changed: bool = False) -> dict[str, Any] | None:
    """Return how well a suite's negatives represent human pairs; None if there is no such file.

    Arguments and errors are those of `read_manifest`.
    """
    path = folder / VALIDITY
    return _read(path, changed=changed) if path.exists() else None


def _read(path: Path, *, changed: bool) -> dict[str, Any]:
    return parse_document(path) if changed else read_document(path)
