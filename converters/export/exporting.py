"""Pairs for other tools: TRL, lm-evaluation-harness, JSON Lines, CSV."""

from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Literal, get_args

import polars as pl

from nnd.converters.export.flat import write_csv, write_jsonl
from nnd.converters.export.lm_eval import write_lm_eval
from nnd.converters.export.prompt_rendering import STORED, PromptRendering
from nnd.converters.export.trl import write_trl
from nnd.schemas import (
    DISTINCT,
    NNDError,
    Printable,
    SchemaError,
    check_frame,
    check_known,
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
class Export(Printable):
    """The result of an export.

    Attributes:
        out: The file or folder.
        rows: Number of pairs, of examples if pairs with equal texts were merged, or of evaluations.
        unit: What is counted.
        notes: Remarks for users of the export.
    """

    out: Path
    rows: int
    unit: Literal["row", "evaluation"]
    notes: tuple[str, ...]

    def headline(self) -> str:
        """Return what was written, and the place."""
        return f"{counted(self.rows, self.unit)} written to {self.out}."

    def table(self) -> None:
        """Return None: an export has no table."""

    def remarks(self) -> tuple[str, ...]:
        """Return remarks for users of the export."""
        return self.notes


def export(
    folder: str | Path,
    out: str | Path,
    *,
    to: Target,
    rendering: PromptRendering = STORED,
    for_excel: bool = False,
    split: float | None = None,
    split_seed: int = 0,
) -> Export:
    """Write the pairs of a converted folder in the format of another tool.

    The same pairs give the same bytes. `out`, a file (jsonl, csv) or folder (trl, lm-eval), must
    not exist. `for_excel` puts `'` before texts that a spreadsheet would compute (csv). If a share
    is given (`split`), the pairs of about that share of the contexts get the split `train`, and the
    others `test` (`cut_by_context`).

    The column `distinct` marks the first row of each test, and a pass rate is the mean over these;
    an example of trl has the number of its `tests`.
    """
    check_known("target", [to], get_args(Target), code="option.unknown-value")
    if to in ("jsonl", "csv") and rendering.name != STORED.name:
        raise NNDError("option.conflict", f"--template is for trl and lm-eval, not {to}")
    if for_excel and to != "csv":
        raise NNDError("option.conflict", f"--for-excel is for csv, not {to}")
    pairs, manifest = _read(Path(folder))
    if split is not None:
        to_train_on = cut_by_context(pairs, split, seed=split_seed)
        sides = {"train": pairs.filter(to_train_on), "test": pairs.filter(~to_train_on)}
        pairs = pl.concat(side.with_columns(split=pl.lit(name)) for name, side in sides.items())
    pairs = pairs.with_columns(distinct=pl.struct(DISTINCT).is_first_distinct())
    rows = pairs.height
    notes: list[str] = []
    with make_new(Path(out)) as place:
        match to:
            case "jsonl":
                write_jsonl(pairs, place)
            case "csv":
                notes = write_csv(pairs, place, for_excel=for_excel)
            case "trl":
                rows, notes = write_trl(pairs, place, manifest=manifest, rendering=rendering)
            case "lm-eval":
                name = Path(folder).resolve().name
                rows, notes = write_lm_eval(
                    pairs, place, manifest=manifest, rendering=rendering, data_name=name
                )
    return Export(Path(out), rows, "row", tuple(notes))


def _read(folder: Path) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Return pairs and manifest, after checking what writers rely on."""
    manifest, pairs = read_manifest(folder), read_frame(folder, "pairs")
    source = manifest.get("source", {})
    for problem in chain(check_frame("pair", pairs), check_rows("source", [source])):
        raise problem.error(SchemaError, "data.invalid", folder)
    if pairs.is_empty():
        raise SchemaError("data.no-pairs", "has no pairs to export", folder)
    return pairs.select(polars_schema("pair").names()), manifest
