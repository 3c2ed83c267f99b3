"""The converted folder that a suite is made from; its human pairs are the parents."""

from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from nnd.schemas import (
    MANIFEST,
    SchemaError,
    fingerprint,
    polars_schema,
    read_frame,
    read_manifest,
)


class Parents(NamedTuple):
    """A converted folder that did not change since it was written.

    Attributes:
        folder: The folder.
        manifest: Its manifest.
        pairs: Rows of the pair schema.
    """

    folder: Path
    manifest: dict[str, Any]
    pairs: pl.DataFrame


def read_parents(data: str | Path) -> Parents:
    """Return the content of a converted folder from which a suite can be made.

    Args:
        data: A folder that `convert` wrote.

    Raises:
        SchemaError: If it is not such a folder, is a suite itself, has no pairs, or a file differs
            from the manifest.
    """
    folder = Path(data)
    manifest = read_manifest(folder)
    if "sets" in manifest:
        raise SchemaError(
            f"{folder}: is a suite; make the new one from the converted folder that it was made "
            "from, with all sets at once"
        )
    for name, recorded in manifest.get("outputs", {}).items():
        _check_unchanged(folder / name, recorded)
    pairs = read_frame(folder, "pairs", polars_schema("pair").names())
    if pairs.is_empty():
        raise SchemaError(f"{folder}: holds no pairs, so nothing can be derived from it")
    return Parents(folder, manifest, pairs)


def _check_unchanged(path: Path, recorded: dict[str, Any]) -> None:
    try:
        found = fingerprint(path)
    except OSError as error:
        raise SchemaError(f"{path}: {error.strerror}; convert the source again") from error
    if any(recorded.get(name) != value for name, value in found.items()):
        raise SchemaError(
            f"{path}: is not the file that {MANIFEST} lists; convert the source again"
        )
