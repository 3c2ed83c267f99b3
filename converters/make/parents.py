"""The converted folder that a suite is made from; its human pairs are the parents."""

from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from nnd.schemas import MANIFEST, SchemaError, polars_schema, read_frame, read_manifest, read_with


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
    read_with(folder / MANIFEST, manifest.get("outputs", {}))
    pairs = read_frame(folder, "pairs", polars_schema("pair").names())
    if pairs.is_empty():
        raise SchemaError(f"{folder}: holds no pairs, so nothing can be derived from it")
    return Parents(folder, manifest, pairs)
