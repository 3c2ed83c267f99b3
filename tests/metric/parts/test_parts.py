"""Workers that share a run: what they write together is what one evaluation writes."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from support.metric_runs import human_scores, pair_rows, write_pairs

from nnd.metric import evaluate
from nnd.metric.engine import Scoring
from nnd.metric.models import LoadedModel, Loading
from nnd.metric.parts import evaluate_parts, merge, read_plan
from nnd.metric.parts.cutting import PARTS
from nnd.metric.results import read_run
from nnd.schemas import NNDError, ScoringError

Loaded = Callable[[str], LoadedModel]
PLAIN = Scoring(cache=False)


def many_pairs() -> pl.DataFrame:
    """Copies of the invented pairs, whose contexts differ: 40 contexts, 80 pairs."""
    copies = [
        pair_rows().with_columns(
            pl.format("{}-{}", pl.col("pair_id"), pl.lit(n)).alias("pair_id"),
            pl.format("{}-{}", pl.col("context_id"), pl.lit(n)).alias("context_id"),
            pl.format("{} {}", pl.col("context"), pl.lit(n)).alias("context"),
        )
        for n in range(10)
    ]
    return pl.concat(copies)


@pytest.fixture
def birds(tmp_path: Path) -> Path:
    folder = tmp_path / "birds"
    folder.mkdir()
    many_pairs().write_parquet(folder / "pairs.parquet", row_group_size=7)
    human_scores().write_parquet(folder / "human_scores.parquet")
    return folder


def files(run: Path) -> list[Path]:
    return sorted((run / "parts").glob("*/*.parquet"))


def same(one: pl.DataFrame, other: pl.DataFrame) -> bool:
    """Whether two runs are the same to rounding, rows in order."""
    numbers = [name for name, dtype in one.schema.items() if dtype == pl.Float64]
    far = [
        ((one[name] - other[name]).abs().max() or 0) > 1e-6
        or one[name].is_null().ne(other[name].is_null()).any()
        for name in numbers
    ]
    return not any(far) and one.drop(numbers).equals(other.drop(numbers))


def test_three_workers_finish_what_four_began_and_merge_to_what_one_writes(
    loaded: Loaded, birds: Path, tmp_path: Path
) -> None:
    models = [loaded("gpt2"), loaded("bart")]
    run, systems = tmp_path / "run", {"gpt2": "left", "bart": "right"}
    for number in (1, 3):
        found = evaluate_parts(models, birds, out=run, worker=(number, 4), systems=systems)
    parts = read_plan(run).parts
    assert 30 < parts <= 40 < PARTS
    assert found.left == {run: 2 * parts - len(files(run))}
    written = {path: path.stat().st_mtime_ns for path in files(run)}
    for number in (3, 1, 2):
        found = evaluate_parts(models, birds, out=run, worker=(number, 3), systems=systems)
    assert found.remarks() == [f"Next: nnd merge {run}"]
    assert {path: path.stat().st_mtime_ns for path in written} == written

    merged = merge(run)
    alone = evaluate(models, birds, out=tmp_path / "alone", systems=systems, scoring=PLAIN)
    assert same(read_run(run), read_run(tmp_path / "alone"))
    assert sorted(path.name for path in run.iterdir()) == ["log_likelihoods.parquet", "result.json"]
    ours, theirs = merged.to_dict(), alone.to_dict()
    for result in (*ours["results"], *theirs["results"]):
        assert result["engine"].pop("deviation") < 1e-4
        result.pop("n_close")
    assert ours == theirs
