"""`--data` several times: commands hand over a list, and print what the functions return."""

import json
from pathlib import Path

import polars as pl
import pytest
from support.judged_cases import write_judged
from support.report.runs import Pretended, write_run
from support.stored_folders import rewrite
from typer.testing import CliRunner

from nnd.converters.folder import convert
from nnd.metric.cli.command import app
from nnd.metric.numbers import agree as agree_
from nnd.metric.other_metrics.on_datasets import metrics as metrics_

MODELS = [Pretended(name, {"": rate}) for name, rate in (("wren", 0.9), ("heron", 0.4))]


@pytest.fixture
def nnd() -> CliRunner:
    return CliRunner()


def test_agree_and_report(nnd: CliRunner, tmp_path: Path) -> None:
    data = []
    for name in ("a", "b"):
        convert("sample", out=tmp_path / name)
        data.append(tmp_path / name)
    pairs_apart(data[1])
    runs = [write_run(tmp_path / f"run-{of.name}", of, MODELS) for of in reversed(data)]
    named = [str(run) for run in runs]
    several = [part for of in data for part in ("--data", str(of))]

    told = nnd.invoke(app, ["agree", *named, *several, "--json"], catch_exceptions=False)
    assert json.loads(told.stdout) == agree_(runs, data).to_dict()
    page = tmp_path / "page.html"
    nnd.invoke(app, ["report", *named, *several, "--out", str(page)], catch_exceptions=False)
    assert "<h1>2 datasets</h1>" in page.read_text(encoding="utf-8")


def pairs_apart(folder: Path) -> None:
    """Give the pairs of a folder ids of their own."""
    rewrite(
        folder, "pairs.parquet", (pl.lit("ffff") + pl.col("pair_id").str.slice(4)).alias("pair_id")
    )


def test_metrics(nnd: CliRunner, tmp_path: Path) -> None:
    data = [write_judged(tmp_path / name) for name in ("a", "b")]
    several = [part for of in data for part in ("--data", str(of))]
    out = tmp_path / "out"

    told = nnd.invoke(
        app, ["metrics", *several, "--scorer", "length", "--out", str(out)], catch_exceptions=False
    )
    assert "Mean over 2 datasets, each counting once: length passes 100.0 %" in told.stdout
    assert {path.parent.name for path in out.rglob("metrics.json")} == {"a", "b"}
    again = nnd.invoke(app, ["metrics", *several, "--scorer", "length", "--json"])
    assert json.loads(again.stdout) == metrics_(data=data, scorers=["length"]).to_dict()
