"""Checkpoints that were scored in one run are drawn as the history of their training."""

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from support.metric_runs import pair_rows
from support.refusals import refusal
from support.report.runs import Pretended, write_run
from support.screens.commands import Nnd
from support.shown import check_pictured
from support.training.histories import entry, write

from nnd.metric.data import read_run
from nnd.metric.numbers import by_model, find_flips
from nnd.metric.train.curves import curve

PAIRS = pair_rows()


def run_of(folder: Path, *names: str) -> Path:
    models = [Pretended(name, {"": (number + 1) / 4}) for number, name in enumerate(names)]
    return write_run(folder, PAIRS, models)


def test_points_are_the_rates_of_the_run_in_the_order_of_steps(tmp_path: Path) -> None:
    folder = run_of(tmp_path / "run", "t/checkpoint-1000", "t/checkpoint-500", "base")
    stored = json.loads((folder / "result.json").read_text())["results"]
    rates = {each["model"]: each["pass_rate"] for each in stored}
    found = curve(folder, categories=["overall"])
    assert [run.name for run in found.runs] == ["t"]
    assert found.to_frame().select("step", "pass_rate").rows() == [
        (500, rates["t/checkpoint-500"]),
        (1000, rates["t/checkpoint-1000"]),
    ]


def test_the_change_from_first_to_last_is_paired(tmp_path: Path) -> None:
    folder = run_of(tmp_path / "run", "t/checkpoint-5", "t/checkpoint-15", "t/checkpoint-10")
    frames = by_model(read_run(folder))
    expected = find_flips(frames["t/checkpoint-5"], frames["t/checkpoint-15"])
    found = curve(folder)
    assert found.runs[0].change == expected
    assert found.to_dict()["runs"][0]["change"] == expected.to_dict()
    assert "from step 5 to step 15; " in found.remarks()[0]
    assert len(check_pictured(found)) == found.to_frame().height


def test_checkpoints_are_laid_over_histories(tmp_path: Path) -> None:
    folder = run_of(tmp_path / "run", "a/checkpoint-5", "a/checkpoint-9", "b@step5", "b@step9")
    history = write(tmp_path / "watched.jsonl", [entry(0, 0.4), entry(500, 0.6)])
    found = curve([history, folder])
    assert [run.name for run in found.runs] == ["watched", "a", "b"]
    assert [run.change is None for run in found.runs] == [True, False, False]
    assert len([line for line in found.details() if "training time" in line]) == 1


@pytest.mark.parametrize(
    ("names", "code"),
    [
        (["gpt2"], "model.no-checkpoints"),
        (["t/checkpoint-5", "t-step5"], "name.twice"),
    ],
)
def test_a_run_without_an_order_is_an_error(names: list[str], code: str, tmp_path: Path) -> None:
    with refusal(code):
        curve(run_of(tmp_path / "run", *names))


def test_the_commands(saved: Callable[[str], Path], nnd: Nnd, tmp_path: Path) -> None:
    for number in (10, 9):
        place = tmp_path / "trained" / f"checkpoint-{number}"
        place.parent.mkdir(exist_ok=True)
        place.symlink_to(saved("gpt2"))
    PAIRS.write_parquet("pairs.parquet")
    asked = ["evaluate", "--checkpoints", "trained", "--data", "pairs.parquet", "--out", "run"]
    assert nnd(*asked, "--no-cache").code == 0
    models = pl.read_parquet("run/log_likelihoods.parquet")["model"].unique(maintain_order=True)
    assert models.to_list() == ["trained/checkpoint-9", "trained/checkpoint-10"]
    drawn = nnd("curve", "run").out
    assert "trained: +0.0 points" in drawn
    assert "from step 9 to step 10; 0.0 % of the verdicts change." in drawn
