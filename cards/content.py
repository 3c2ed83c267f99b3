"""The data of a card: a folder's manifest and rows, read once."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from nnd.cards.validity import check_validity
from nnd.schemas import (
    CONTEXT,
    DISTINCT,
    MANIFEST,
    VALIDITY,
    Instruction,
    SchemaError,
    ScoringError,
    check_document,
    fold,
    polars_schema,
    read_frame,
    read_instruction,
    read_manifest,
    read_validity,
)

_JUDGED = ("split", "language", "context_id", "candidate_id", "candidate", "system")


@dataclass(frozen=True, slots=True)
class CardContent:
    """A converted or published folder.

    Attributes:
        manifest: Its manifest, by `nnd convert`.
        annotations: Rows of the annotation schema: split, language, context_id, candidate_id,
            candidate and system.
        references: Rows of the reference schema: split and context_id.
        preferences: The split of each preference that is, or will be, published.
        sets: Set of a suite → split and pair_id of its pairs.
        validity: How well negatives represent human pairs; None if they were not compared.
        instruction: What the systems were asked, or None if it is not in words.
    """

    manifest: Mapping[str, Any]
    pairs: pl.DataFrame
    human_scores: pl.DataFrame
    annotations: pl.DataFrame
    references: pl.DataFrame
    preferences: pl.DataFrame
    sets: Mapping[str, pl.DataFrame]
    validity: Mapping[str, Any] | None
    instruction: Instruction | None

    @property
    def source(self) -> Mapping[str, Any]:
        """The facts of source.yaml."""
        return self.manifest["source"]  # type: ignore[no-any-return]

    @property
    def languages(self) -> list[str]:
        """The languages of the candidates in pairs, or of all candidates if there are no pairs."""
        rows = self.annotations if self.pairs.is_empty() else self.pairs
        return rows["language"].unique().sort().to_list()

    @property
    def declared(self) -> bool:
        """Whether every file that was read is the declared one."""
        files = self.manifest["files"]
        return bool(files) and all(file["verified"] for file in files)

    @property
    def contacts(self) -> Mapping[str, Any]:
        """What was done about e-mail and IP addresses, if the manifest states it."""
        return self.manifest.get("contacts") or {}


def read_content(folder: Path) -> CardContent:
    """Read a folder that `nnd convert` wrote, or one in the layout of the Hub."""
    manifest = read_manifest(folder)
    for problem in check_document("manifest", manifest):
        raise problem.error(SchemaError, "contract.broken", folder / MANIFEST)
    try:
        instruction = read_instruction(manifest["source"])
    except ScoringError as error:
        raise error.inside(folder / MANIFEST, SchemaError) from error
    sets = {
        entry["name"]: read_frame(folder, f"sets/{entry['name']}", ["split", "pair_id"])
        for entry in manifest.get("sets", ())
    }
    validity = read_validity(folder)
    for problem in () if validity is None else check_validity(validity, manifest, sets):
        raise problem.error(SchemaError, "contract.broken", folder / VALIDITY)
    pairs = read_frame(folder, "pairs", polars_schema("pair").names())
    if (folder / "pairs.parquet").is_file():  # not yet in the layout of the Hub: publish adds them
        preferences = pairs.select("split")
    else:
        nothing = pl.Schema({"split": pl.String()})
        preferences = read_frame(folder, "preferences", ["split"], empty=nothing)
    return CardContent(
        manifest,
        pairs,
        read_frame(folder, "human_scores", polars_schema("human_score").names()),
        read_frame(folder, "annotations", _JUDGED),
        read_frame(folder, "references", CONTEXT, empty=polars_schema("reference")),
        preferences,
        sets,
        validity,
        instruction,
    )


def counts(content: CardContent) -> dict[str, int]:
    """Count annotations, contexts, candidates, systems and pairs."""
    annotations, pairs = content.annotations, content.pairs
    candidates = annotations.unique(["split", "candidate_id"])
    systems = annotations["system"].str.split("|").explode()
    high, low = (fold(pl.col(f"candidate_{side}")) for side in ("high", "low"))
    same, same_letters = high == low, high.str.to_lowercase() == low.str.to_lowercase()
    return {
        "pairs": pairs.height,
        "distinct pairs of candidates": pairs.select(DISTINCT).n_unique(),
        "pairs of equal texts, kept": pairs.filter(same).height,
        "pairs that differ in letter case only": pairs.filter(same_letters & ~same).height,
        "contexts with a pair": pairs.select(CONTEXT).n_unique(),
        "contexts": annotations.select(CONTEXT).n_unique(),
        "candidates": candidates.height,
        "empty candidates": candidates.filter(pl.col("candidate").str.strip_chars() == "").height,
        "systems": systems.drop_nulls().n_unique(),
        "annotations": annotations.height,
        "references": content.references.height,
    }


def tally(pairs: pl.DataFrame, column: str) -> list[tuple[str, int]]:
    """Count the pairs of each value of a column, the most frequent first; nulls are omitted."""
    counted = pairs.select(column).drop_nulls().group_by(column).len()
    return counted.sort(["len", column], descending=[True, False]).rows()
