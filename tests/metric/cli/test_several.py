"""`--data` several times: commands hand over a list, and print what the functions return."""

import json
from pathlib import Path

from support.judged_cases import write_judged
from support.screens.commands import Nnd

from nnd.metric.numbers import agree
from nnd.metric.other_metrics.on_datasets import metrics


def test_agree(nnd: Nnd, small: Path, other: Path, small_run: Path, other_run: Path) -> None:
    runs, data = [other_run, small_run], [small, other]
    several = [part for each in data for part in ("--data", each)]

    assert json.loads(nnd("agree", *runs, *several, "--json").out) == agree(runs, data).to_dict()


def test_metrics(nnd: Nnd, tmp_path: Path) -> None:
    data = [write_judged(tmp_path / name) for name in ("a", "b")]
    several = [part for each in data for part in ("--data", each)]

    shown = nnd("metrics", *several, "--scorer", "length", "--out", "out").out
    assert "Mean over 2 datasets, each counting once: length passes 100.0 %" in shown
    assert {path.parent.name for path in Path("out").rglob("metrics.json")} == {"a", "b"}
    told = json.loads(nnd("metrics", *several, "--scorer", "length", "--json").out)
    assert told == metrics(data=data, scorers=["length"]).to_dict()
