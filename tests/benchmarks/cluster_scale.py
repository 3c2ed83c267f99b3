"""How parts of a run scale: `python tests/benchmarks/cluster_scale.py [pairs [models]]`.

Writes invented pairs, 45 for each context of 2 KB; plans a run over them; makes a finished part of
each for every model; writes their rows as `nnd merge` does, with all checks; and merges them with
all statistics and, from two models on, agreement with people. Each is a fresh process, and prints
its seconds and its peak memory.
"""

import random
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow.parquet as pq
from peak_memory import peak_memory

from nnd.metric.data import open_pairs
from nnd.metric.run import merge
from nnd.metric.run.parts import merging
from nnd.metric.run.parts.part_file import ROWS, Footer, planned_rows, write_part
from nnd.metric.run.parts.run_plan import describe, find_plan, read_plan

CONTEXTS = 500
"""In a row group."""

HIGH, LOW = (np.array(side) for side in zip(*combinations(range(10), 2), strict=True))
CATEGORIES = ("overall", *(f"error {kind}" for kind in range(7)))
WORDS = ("the", "of", "and", "to", "in", "a", "is", "that", "for", "it", "as", "was", "with", "be")


def write_pairs(data: Path, run: Path, pairs: int, models: int) -> None:  # noqa: ARG001 - as all
    """Write pairs of ten candidates for each context, each with each other."""
    draw = random.Random(0)
    texts = np.array([" ".join(draw.choices(WORDS, k=30)) for _ in range(10 * CONTEXTS)])
    number = np.repeat(np.arange(CONTEXTS), len(HIGH))
    contexts = [" ".join(draw.choices(WORDS, k=500)) for _ in range(CONTEXTS)]
    high, low = (10 * number + np.tile(side, CONTEXTS) for side in (HIGH, LOW))
    rows = pl.DataFrame(
        {
            "pair_id": [f"{row:010x}" for row in range(len(number))],
            "context_id": number.astype(str),
            "context": np.array(contexts)[number],
            "candidate_high": texts[high],
            "candidate_low": texts[low],
            "high_id": high.astype(str),
            "low_id": low.astype(str),
            "aspect": "quality",
            "error_category": np.array([f"error {kind}" for kind in range(7)])[low % 7],
        }
    )
    groups = (_numbered(rows, group) for group in range(-(-pairs // rows.height)))
    first = next(groups)
    with pq.ParquetWriter(data, first.schema, compression="zstd") as writer:
        writer.write_table(first)
        for group in groups:
            writer.write_table(group)


def _numbered(rows: pl.DataFrame, group: int) -> "pq.Table":
    ids = ("pair_id", "context_id", "context", "high_id", "low_id")
    return rows.with_columns(
        pl.format("{}/{}", pl.lit(group), id_).alias(id_) for id_ in ids
    ).to_arrow(compat_level=pl.CompatLevel.oldest())


def plan(data: Path, run: Path, pairs: int, models: int) -> None:  # noqa: ARG001
    """Plan a run, as the first worker does, and read the rows of its last part."""
    stream, names = open_pairs(data), [f"model {number}" for number in range(models)]
    people = pl.DataFrame(
        [
            (name, None, "quality", category, n / models)
            for n, name in enumerate(names)
            for category in CATEGORIES
        ],
        ["system", "model_id", "aspect", "category", "score"],
        orient="row",
    )
    stream = replace(stream, about=replace(stream.about, human_scores=people))
    asked = describe(stream, systems={}, templates={})
    found = find_plan(run, stream, asked, dict.fromkeys(names, "default"))
    last = stream.rows("", found.spans_of(found.parts - 1)[""])
    print(f"{found.parts:,} parts, the last of {last.pairs.height:,} pairs")


def make_parts(data: Path, run: Path, pairs: int, models: int) -> None:  # noqa: ARG001
    """Make finished parts."""
    found, draw = read_plan(run), np.random.default_rng(0)
    for model in found.models:
        for part in range(found.parts):
            rows = _scored(planned_rows(found, part), draw)
            footer = Footer(found.digest, part, {"version": "0"}, _result(model))
            write_part(found.path(model, part), rows, footer)


def _result(model: str) -> dict[str, Any]:
    return {
        **dict.fromkeys(("quantised", "chat", "weight_bytes", "unquantised_bytes")),
        "model": model,
        "version": "0",
        "protocol": "native",
        "template": "default",
        "dtype": "float32",
        "device": "cpu",
        "parameters": 1,
        "notes": [],
        "n_crossing": 0,
        "n_close": 0,
        "engine": {"path": "packed", "switched_off": [], "deviation": 1e-6},
        "signature": "nnd|v:0.2.0|trunc:0|n:0",
    }


def _scored(planned: pl.DataFrame, draw: np.random.Generator) -> pl.DataFrame:
    row, n = planned["row"], planned.height
    context, margin = row // len(HIGH), draw.normal(0.3, 1, n)
    high, low = (pl.Series(side[row.to_numpy() % len(HIGH)]) for side in (HIGH, LOW))
    rows = planned.with_columns(
        pair_id=pl.format("{}", row.hash()),
        split=pl.lit("test"),
        context_id=pl.format("context-{}", context),
        high_id=pl.format("{}-{}", context, high),
        low_id=pl.format("{}-{}", context, low),
        aspect=pl.lit("quality"),
        error_category=pl.format("error {}", row % 7),
        ll_high=pl.Series(margin - 3),
        ll_low=pl.lit(-3.0),
        ll_alone_high=pl.Series(draw.normal(-4, 1, n)),
        ll_alone_low=pl.Series(draw.normal(-4, 1, n)),
        passed=pl.Series(margin > 0),
        tie=pl.lit(value=False),
        truncated=pl.lit(value=False),
        tokens_high=pl.Series(draw.integers(20, 40, n)),
        tokens_low=pl.Series(draw.integers(20, 40, n)),
        end_tokens=pl.lit(0),
        characters_high=90 + 7 * high,
        characters_low=90 + 7 * low,
        copied_high=pl.Series(draw.random(n)),
        copied_low=pl.Series(draw.random(n)),
    )
    missing = [pl.lit(None, kind).alias(c) for c, kind in ROWS.items() if c not in rows.columns]
    return rows.with_columns(missing).select(ROWS.names())


def write_rows(data: Path, run: Path, pairs: int, models: int) -> None:  # noqa: ARG001
    """Check the parts and write their rows, as `nnd merge` does."""
    with tempfile.TemporaryDirectory(dir=run.parent) as fresh:
        merging._write_rows(read_plan(run), Path(fresh))


def merge_all(data: Path, run: Path, pairs: int, models: int) -> None:  # noqa: ARG001
    """Merge with all statistics."""
    merge(run)


STAGES = {each.__name__: each for each in (write_pairs, plan, make_parts, write_rows, merge_all)}


def main() -> None:
    """Run every stage in a process of its own, or one of them in this."""
    if len(sys.argv) > 3:
        stage, place, pairs, models = sys.argv[1:]
        start = time.perf_counter()
        STAGES[stage](Path(place) / "pairs.parquet", Path(place) / "run", int(pairs), int(models))
        seconds = time.perf_counter() - start
        print(f"{stage}: {seconds:.1f} s, {peak_memory() / 2**30:.2f} GiB", flush=True)
        return
    sizes = [*sys.argv[1:], *("1000000", "1")[len(sys.argv) - 1 :]]
    with tempfile.TemporaryDirectory() as place:
        for stage in STAGES:
            subprocess.run([sys.executable, __file__, stage, place, *sizes], check=True)


if __name__ == "__main__":
    main()
