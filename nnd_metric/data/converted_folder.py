"""Read the files of a converted or published folder: pairs, annotations, sets of a suite."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import polars as pl

from nnd.metric.data.remote import File, readable
from nnd.schemas import (
    MANIFEST,
    SETS,
    Instruction,
    ScoringError,
    check_files,
    read_instruction,
    read_manifest,
    read_parquet,
)

SetKind: TypeAlias = Literal["perturbation", "slice", "shift", "negatives"]


@dataclass(frozen=True, slots=True)
class SuiteSet:
    """A set of a suite: some of the human pairs, pairs derived from them, or negatives.

    Attributes:
        name: Its name in the suite.
        kind: The kind of set.
        operation: The operation that made it.
        pairs: Its pairs, with parent_id: the pair_id of the human pair, or null.
    """

    name: str
    kind: SetKind
    operation: str
    pairs: pl.DataFrame


def read_rows(file: File) -> pl.DataFrame:
    """Return the rows of a Parquet file.

    Raises:
        ScoringError: If it cannot be read as Parquet.
    """
    with readable(file) as opened:
        return read_parquet(opened)


def read_stored(folder: Path, name: str) -> pl.DataFrame | None:
    """Read rows from one file, or from the published form, a folder with a file per split.

    Args:
        folder: Folder that `nnd convert` or `nnd publish` made.
        name: `pairs`, `annotations`, `references` or `sets/NAME`.

    Returns:
        The rows, or None if the folder has no such file.

    Raises:
        ScoringError: If they cannot be read.
        SchemaError: If a file was changed since it was written.
    """
    files = stored_files(folder, name)
    try:
        return pl.concat([read_rows(path) for path in files]) if files else None
    except pl.exceptions.PolarsError as error:
        reason = str(error).splitlines()[0]
        raise ScoringError(f"{folder / name}: the files do not fit together: {reason}") from error


def stored_files(folder: Path, name: str) -> list[Path]:
    """Return the files that `read_stored` reads; the list is empty if the folder has none.

    Raises:
        SchemaError: If one of them was changed since it was written.
    """
    whole = folder / f"{name}.parquet"
    files = [whole] if whole.is_file() else sorted((folder / name).glob("*.parquet"))
    check_files(folder, files)
    return files


def instruction_in(folder: Path) -> Instruction | None:
    """Return the instruction of a converted or published folder, or None without one.

    Raises:
        SchemaError: If the manifest cannot be read.
        ScoringError: If the instruction cannot be read.
    """
    manifest = read_manifest(folder) if (folder / MANIFEST).is_file() else {}
    source = manifest.get("source")
    return read_instruction(source) if isinstance(source, Mapping) else None


def has_sets(folder: Path) -> bool:
    """Whether a folder is a suite."""
    return (folder / MANIFEST).is_file() and bool(read_manifest(folder).get("sets"))


def read_sets(folder: Path, parents: pl.DataFrame) -> list[SuiteSet]:
    """Read the sets of a suite; the list is empty for other folders.

    Args:
        folder: Folder that `nnd derive`, `nnd suite build` or `nnd publish` made.
        parents: Its human pairs.

    Raises:
        ScoringError: If a set cannot be read, or has a pair whose human pair is missing.
        SchemaError: If a file was changed since it was written.
    """
    if not has_sets(folder):
        return []
    return [
        SuiteSet(each["name"], each["kind"], each["operation"], _read_set(folder, each, parents))
        for each in read_manifest(folder)["sets"]
    ]


def _read_set(folder: Path, facts: Mapping[str, Any], parents: pl.DataFrame) -> pl.DataFrame:
    name = facts["name"]
    pairs = read_stored(folder, f"{SETS}/{name}")
    if pairs is None:
        raise ScoringError(
            f"{folder}: the manifest lists the set {name}, but sets/ lacks it; "
            "build the suite again"
        )
    if "parent_id" not in pairs.columns:
        pairs = pairs.with_columns(parent_id=pl.lit(None, pl.String))
    is_made = facts["kind"] == "negatives"
    human = pl.col("parent_id") if is_made else pl.coalesce("parent_id", "pair_id")
    lost = pairs.filter(~human.is_in(parents["pair_id"].implode()))
    if lost.height:
        pair, parent = lost.select("pair_id", human.alias("parent")).row(0)
        raise ScoringError(
            f"{folder}: set {name}: pair {pair} was derived from {parent}, which is not among the "
            "pairs of the suite; build the suite again"
        )
    return pairs
