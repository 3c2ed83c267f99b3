"""What else is in the folder of some pairs: the instruction, and the sets of a suite."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import polars as pl

from nnd.metric.data.remote import File, readable
from nnd.schemas import (
    Instruction,
    ScoringError,
    find_manifest,
    read_frame,
    read_instruction,
    read_parquet,
)

SetKind: TypeAlias = Literal["perturbation", "slice", "shift", "negatives"]

NEGATIVES: SetKind = "negatives"
"""The kind of sets that are made of texts; those of other kinds are made of human pairs."""


@dataclass(frozen=True, slots=True)
class SuiteSet:
    """A set of a suite: some of the human pairs, pairs derived from them, or negatives.

    Their parent_id is the pair_id of the human pair, or null.
    """

    name: str
    kind: SetKind
    operation: str
    pairs: pl.DataFrame


def read_rows(file: File) -> pl.DataFrame:
    """Return the rows of a Parquet file."""
    with readable(file) as opened:
        return read_parquet(opened)


def instruction_in(folder: Path) -> Instruction | None:
    """Return the instruction of a converted or published folder, or None without one."""
    source = find_manifest(folder).get("source")
    return read_instruction(source) if isinstance(source, Mapping) else None


def cluster_in(folder: Path) -> str | None:
    """Return what contexts of a converted or published folder may share, or None."""
    source = find_manifest(folder).get("source")
    return source.get("cluster") if isinstance(source, Mapping) else None


def has_sets(folder: Path) -> bool:
    """Whether a folder is a suite."""
    return bool(find_manifest(folder).get("sets"))


def read_sets(folder: Path, parents: pl.DataFrame) -> list[SuiteSet]:
    """Read the sets of a suite; the list is empty for other folders."""
    return [
        SuiteSet(each["name"], each["kind"], each["operation"], _read_set(folder, each, parents))
        for each in find_manifest(folder).get("sets") or ()
    ]


def _read_set(folder: Path, facts: Mapping[str, Any], parents: pl.DataFrame) -> pl.DataFrame:
    name = facts["name"]
    pairs = read_frame(folder, f"sets/{name}")
    if "parent_id" not in pairs.columns:
        pairs = pairs.with_columns(parent_id=pl.lit(None, pl.String))
    is_made = facts["kind"] == NEGATIVES
    human = pl.col("parent_id") if is_made else pl.coalesce("parent_id", "pair_id")
    lost = pairs.filter(~human.is_in(parents["pair_id"].implode()))
    if lost.height:
        pair, parent = lost.select("pair_id", human.alias("parent")).row(0)
        raise ScoringError(
            "data.convert-again",
            f"pair {pair} was derived from {parent}, which is not among the pairs of the suite",
            f"{folder}: set {name}",
            "build the suite again",
        )
    return pairs
