"""A suite as `nnd derive` writes it: the pairs of `support.metric_runs` and sets of their own."""

from pathlib import Path

import polars as pl
from support.metric_runs import pair_rows, write_pairs
from support.stored_folders import write_sealed

SHOUTED = {"name": "shouted", "kind": "perturbation", "operation": "shout"}
FIRST = {"name": "slice-first", "kind": "slice", "operation": "first"}


def shouted_pairs() -> pl.DataFrame:
    """The first six pairs with their contexts in capitals."""
    parents = pair_rows().head(6)
    return parents.with_columns(
        pair_id="child" + pl.col("pair_id"),
        parent_id="pair_id",
        origin=pl.lit("synthetic:shout"),
        context=pl.col("context").str.to_uppercase(),
        cluster="context_id",
        context_id=pl.col("context_id") + "~shout.0",
    )


def write_suite(folder: Path) -> Path:
    """Write what the metric reads of a suite of two sets."""
    folder.mkdir()
    write_pairs(folder)
    (folder / "sets").mkdir()
    shouted_pairs().write_parquet(folder / "sets" / "shouted.parquet")
    pair_rows().head(3).write_parquet(folder / "sets" / "slice-first.parquet")
    manifest = {"source": {"name": "made_up"}, "sets": [SHOUTED, FIRST]}
    write_sealed(folder / "manifest.json", manifest)
    return folder
