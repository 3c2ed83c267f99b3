"""The files of a converted folder: rows, and the manifest that lists them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from nnd.converters.folder.parquet_writing import write_parquet
from nnd.schemas import MANIFEST, SourceError, check_document, fingerprint, write_document


def write_rows(frame: pl.DataFrame, path: Path) -> dict[str, Any]:
    """Write rows, and return the entry of their file in `outputs` of the manifest."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_parquet(frame, path)
    return {"rows": frame.height, **fingerprint(path)}


def write_manifest(manifest: Mapping[str, Any], folder: Path) -> None:
    """Write a manifest.

    Raises:
        SourceError: If it does not keep the contract.
    """
    for problem in check_document("manifest", manifest):
        raise SourceError(f"{MANIFEST}: {problem}")
    write_document(folder, manifest, document=MANIFEST)
