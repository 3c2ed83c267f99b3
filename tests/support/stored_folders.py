"""A converted folder changed behind its manifest's back, or with its manifest told."""

import contextlib
import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from nnd.schemas import seal


def reseal(folder: Path, **changes: Any) -> None:
    """Let the manifest know what its folder holds now, and change what it says."""
    outputs = {
        path.relative_to(folder).as_posix(): {
            "rows": pl.read_parquet(path).height,
            "bytes": path.stat().st_size,
            "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        }
        for path in sorted(folder.rglob("*.parquet"))
    }
    write_manifest(folder, read_manifest(folder) | {"outputs": outputs} | changes)


def store(folder: Path, name: str, frame: pl.DataFrame) -> None:
    """Write a frame of a folder, and let the manifest know."""
    frame.write_parquet(folder / name)
    raw = (folder / name).read_bytes()
    digest = hashlib.sha256(raw).hexdigest()
    manifest = read_manifest(folder)
    manifest["outputs"][name] = {"rows": frame.height, "bytes": len(raw), "sha256": digest}
    write_manifest(folder, manifest)


def rewrite(folder: Path, name: str, *columns: pl.Expr) -> None:
    """Change columns of a stored frame, and let the manifest know."""
    store(folder, name, pl.read_parquet(folder / name).with_columns(columns))


def read_manifest(folder: Path) -> dict[str, Any]:
    manifest: dict[str, Any] = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    return manifest


def write_manifest(folder: Path, manifest: Mapping[str, Any]) -> None:
    write_sealed(folder / "manifest.json", manifest)


def write_sealed(path: Path, facts: Mapping[str, Any]) -> None:
    """Write a document as nnd does, with the digest of its content."""
    path.write_text(json.dumps(seal(facts)), encoding="utf-8")


def write_text(path: Path, text: str) -> None:
    """Write a document that is not what it should be, with its digest if it is a JSON object."""
    with contextlib.suppress(ValueError, TypeError):
        text = json.dumps(seal(json.loads(text)))
    path.write_text(text, encoding="utf-8")


def read_facts(path: Path) -> dict[str, Any]:
    """Read what a document of a result says beside its version, its digest and other files."""
    document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    about = ("nnd_version", "outputs", "digest")
    return {name: value for name, value in document.items() if name not in about}


def in_row(row: int, value: object, column: str, dtype: pl.DataType | None = None) -> pl.Expr:
    """The column with another value in one of its rows."""
    return (
        pl.when(pl.int_range(pl.len()) == row)
        .then(pl.lit(value, dtype))
        .otherwise(pl.col(column))
        .alias(column)
    )


def restated(value: object, *path: str | int) -> Callable[[Path], None]:
    """Return a change of what the manifest of a folder states at a path."""

    def change(folder: Path) -> None:
        whole = part = read_manifest(folder)
        for key in path[:-1]:
            part = part[key]  # type: ignore[index]
        part[path[-1]] = value  # type: ignore[index]
        write_manifest(folder, whole)

    return change
