"""Pairs for other tools: TRL, lm-evaluation-harness, JSON Lines, CSV."""

from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Literal, get_args

import polars as pl

from nnd.converters.export.flat import write_csv, write_jsonl
from nnd.converters.export.lm_eval import write_lm_eval
from nnd.converters.export.rendering import STORED, Rendering, Written
from nnd.converters.export.trl import write_trl
from nnd.schemas import (
    NNDError,
    SchemaError,
    Shown,
    check_frame,
    check_rows,
    counted,
    cut_by_context,
    make_new,
    polars_schema,
    read_frame,
    read_manifest,
)

Target = Literal["trl", "lm-eval", "jsonl", "csv"]


@dataclass(frozen=True, slots=True, repr=False)
class Exported(Shown):
    """What was written for another tool.

    Attributes:
        out: Where.
        rows: Pairs, or examples where the same texts are one.
        notes: What to know before using it.
    """

    out: Path
    rows: int
    notes: tuple[str, ...] = ()

    def headline(self) -> str:
        """Return how many rows were written, and where."""
        return f"{counted(self.rows, 'row')} written to {self.out}."

    def table(self) -> None:
        """Return None: there is nothing to count."""

    def remarks(self) -> tuple[str, ...]:
        """Return what to know before using it."""
        return self.notes

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain Python values."""
        return {"out": str(self.out), "rows": self.rows, "notes": list(self.notes)}


def export(
    folder: str | Path,
    out: str | Path,
    *,
    to: Target,
    rendering: Rendering = STORED,
    for_excel: bool = False,
    split: float | None = None,
    split_seed: int = 0,
) -> Exported:
    """Write the pairs of a converted folder in the form that another tool takes.

    Args:
        folder: What `convert` wrote, or the same as it lies on the Hub (pairs/*.parquet).
        out: File (jsonl, csv) or folder (trl, lm-eval) to make; nothing may be there yet. The same
            pairs give the same bytes.
        to: `trl`: a preference dataset (see `export_trl`); `lm-eval`: tasks for
            lm-evaluation-harness (see `export_lm_eval`); `jsonl`, `csv`: the pairs as they are.
        rendering: How contexts become prompts (trl, lm-eval).
        for_excel: Put `'` before texts that a spreadsheet would compute as formulas (csv).
        split: The pairs of about this share of the contexts get the split `train`, the others
            `test` (`cut_by_context`); None leaves the splits of the source.
        split_seed: Another seed makes another cut.

    Raises:
        NNDError: If the target is unknown, it takes no rendering, the split leaves a side empty,
            or `out` is there already or cannot be written.
        SchemaError: If `folder` holds no pairs, or not as the contract has them.
    """
    if to not in get_args(Target):
        raise NNDError(f'there is no target "{to}"; choose one of {", ".join(get_args(Target))}')
    if to in ("jsonl", "csv") and rendering.name != STORED.name:
        raise NNDError(
            f'"{to}" keeps contexts and their parts as they are; --template is for trl and lm-eval'
        )
    if for_excel and to != "csv":
        raise NNDError(f'"{to}" is not a table for a spreadsheet; --for-excel is for csv')
    pairs, manifest = _read(Path(folder))
    if split is not None:
        pairs = _cut(pairs, split, split_seed)
    with make_new(Path(out)) as place:
        written = Written(pairs.height)
        match to:
            case "jsonl":
                write_jsonl(pairs, place)
            case "csv":
                written = write_csv(pairs, place, for_excel=for_excel)
            case "trl":
                written = write_trl(pairs, place, manifest=manifest, rendering=rendering)
            case "lm-eval":
                name = Path(folder).resolve().name
                written = write_lm_eval(
                    pairs, place, manifest=manifest, rendering=rendering, data_name=name
                )
    return Exported(Path(out), written.rows, written.notes)


def _cut(pairs: pl.DataFrame, share: float, seed: int) -> pl.DataFrame:
    """Return pairs that are split by context into train and test, in this order."""
    to_train_on = cut_by_context(pairs, share, seed=seed)
    sides = [pairs.filter(to_train_on), pairs.filter(~to_train_on)]
    named = zip(("train", "test"), sides, strict=True)
    return pl.concat(side.with_columns(split=pl.lit(name)) for name, side in named)


def _read(folder: Path) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Return pairs and manifest, with all that a writer relies on."""
    manifest, pairs = read_manifest(folder), read_frame(folder, "pairs")
    found = chain(
        check_frame("pair", pairs),
        check_rows("source", [manifest.get("source", {})]),
    )
    for problem in found:
        raise SchemaError(f"{folder}: {problem}; `nnd validate` lists all problems")
    if pairs.is_empty():
        raise SchemaError(f"{folder}: it has no pairs to export")
    return pairs.select(polars_schema("pair").names()), manifest
