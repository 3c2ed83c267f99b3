"""Figure 4 of the NND paper from commands alone, reduced: a tiny BART in the place of BART-base.

It is trained on articles with their highlights by MLE for three epochs, and takes the SummEval
tests every two steps (in the paper, every 2,000). Killed on the way and resumed, it leaves the same
bytes.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from support.places import ROOT
from support.screens.commands import Nnd

from nnd.metric.data import read_run
from nnd.metric.train.history import HISTORY, read_history
from nnd.metric.train.training_folder import TRAINING

EPOCHS, EVERY, ARTICLES, BATCH = 3, 2, 8, 2
STEPS = EPOCHS * ARTICLES // BATCH
ASPECTS = {"coherence", "consistency", "fluency", "relevance"}
COMMAND = (
    *("train", "--model", "facebook/bart-base", "--data", "cnn_dailymail.jsonl"),
    *("--test", "summeval-nnd", "--loss", "mle", "--epochs", EPOCHS, "--every", EVERY),
    *("--protocol", "laban2022", "--batch-size", BATCH),
)


@pytest.fixture
def place(nnd: Nnd, saved: Callable[[str], Path], tmp_path: Path) -> Path:
    """A folder with the model, the articles with their highlights, and SummEval."""
    (tmp_path / "facebook").mkdir()
    (tmp_path / "facebook/bart-base").symlink_to(saved("bart"))
    rows = [
        {"context": f"Article {n}: a boat with {n} men came home.", "reference": f"{n} men came."}
        for n in range(ARTICLES)
    ]
    text = "".join(f"{json.dumps(row)}\n" for row in rows)
    (tmp_path / "cnn_dailymail.jsonl").write_text(text, encoding="utf-8")
    fixture = ROOT / "converters/sources/summeval/fixture"
    assert nnd("convert", "summeval", "--from", fixture, "--out", "summeval-nnd").code == 0
    return tmp_path


def kill_on_the_way(place: Path) -> None:
    """Begin the training into `killed`, and kill it between two of its tests."""
    run = "from nnd.metric.cli.command import main; main()"
    child = subprocess.Popen(
        [sys.executable, "-c", run, *map(str, COMMAND), "--out", "killed/figure-4"],
        cwd=place,
        env=os.environ | {"OMP_NUM_THREADS": str(torch.get_num_threads())},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    history = place / "killed/figure-4" / HISTORY
    while child.poll() is None and not (history.is_file() and len(read_history(history)) > 2):
        time.sleep(0.01)
    child.send_signal(signal.SIGKILL)
    child.wait()
    assert not (place / "killed/figure-4" / TRAINING).exists()


def draw(nnd: Nnd, place: Path, name: str) -> bytes:
    assert nnd("curve", f"{name}/figure-4/{HISTORY}", "--out", f"{name}.svg").code == 0
    return (place / f"{name}.svg").read_bytes()


def test_figure_4_is_made_by_commands(nnd: Nnd, place: Path) -> None:
    done = nnd(*COMMAND, "--out", "whole/figure-4")
    assert done.code == 0, done.err
    check_whole(place / "whole/figure-4")
    assert b"coherence" in draw(nnd, place, "whole")


@pytest.mark.full
def test_figure_4_is_the_same_after_a_kill(nnd: Nnd, place: Path) -> None:
    assert nnd(*COMMAND, "--out", "whole/figure-4").code == 0
    kill_on_the_way(place)
    resumed = nnd(*COMMAND, "--out", "killed/figure-4", "--resume")
    assert resumed.code == 0, resumed.err
    check_same(place / "whole/figure-4", place / "killed/figure-4")
    assert draw(nnd, place, "whole") == draw(nnd, place, "killed")


def check_whole(out: Path) -> None:
    entries = read_history(out / HISTORY)
    assert [entry.step for entry in entries] == [*range(0, STEPS, EVERY), STEPS]
    assert all({*entry.by} == ASPECTS for entry in entries)
    assert all("|protocol:laban2022|" in entry.signature for entry in entries)
    assert all(point.n for entry in entries for point in entry.by.values())
    stored = json.loads((out / TRAINING).read_text(encoding="utf-8"))
    assert stored["steps"] == STEPS
    assert "|loss:mle|" in stored["signature"]
    assert stored["counts"]["examples"] == ARTICLES
    for when in ("before", "after"):
        result = (out / when / "result.json").read_text(encoding="utf-8")
        assert "|protocol:laban2022|" in result


def check_same(whole: Path, killed: Path) -> None:
    weights = [(each / "model.safetensors").read_bytes() for each in (whole, killed)]
    assert weights[0] == weights[1]
    for when in ("before", "after"):  # the trained model is called after its folder
        runs = [read_run(each / when).drop("model") for each in (whole, killed)]
        assert runs[0].equals(runs[1])
    histories = (read_history(each / HISTORY) for each in (whole, killed))
    for one, other in zip(*histories, strict=True):
        assert without_times(one.to_dict()) == without_times(other.to_dict())


def without_times(entry: dict[str, Any]) -> dict[str, Any]:
    return {key: of for key, of in entry.items() if "seconds" not in key}
