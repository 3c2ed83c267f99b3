"""Models side by side, in processes on a CPU that is taken for two devices."""

import json
import os
import signal
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from queue import Queue
from typing import Any

import pytest
from support.metric_runs import write_pairs

from nnd.metric import Failure, Trouble, evaluate
from nnd.metric.data import load_pairs
from nnd.metric.engine import Scoring
from nnd.metric.models import Loading
from nnd.metric.placement import choice, side_by_side
from nnd.metric.placement.process import Process
from nnd.metric.placement.schedule import Device
from nnd.metric.placement.side_by_side import score_side_by_side
from nnd.schemas import ScoringError, ScoringWarning

Saved = Callable[[str], Path]
_PLENTY, _LITTLE = 2**50, 2**29 + 2**10
"""Bytes for any number of toy models, and for the least of a process but no model."""


@pytest.fixture
def models(saved: Saved) -> list[str]:
    return [str(saved("gpt2")), str(saved("bart"))]


@pytest.fixture
def birds(tmp_path: Path) -> str:
    (tmp_path / "birds").mkdir()
    return str(write_pairs(tmp_path / "birds"))


@pytest.fixture
def processes(monkeypatch: pytest.MonkeyPatch) -> list[Process]:
    """The processes that are started."""
    started: list[Process] = []

    class Noted(Process):
        def __init__(self, *asked: Any) -> None:
            super().__init__(*asked)
            started.append(self)

    monkeypatch.setattr(side_by_side, "Process", Noted)
    return started


def score(models: Sequence[str], data: str, free: int, *, fatal: bool = False) -> Any:
    pairs, devices = {"birds": load_pairs(data)}, [Device("cpu", free), Device("cpu", free)]
    trouble = Trouble(fatal)
    scorings = dict.fromkeys(models, Scoring(cache=False))
    named = {name: name for name in models}
    found = score_side_by_side(named, pairs, scorings, Loading(), trouble, devices=devices)
    return trouble, devices, found


def test_results_are_those_of_models_one_after_the_other(
    models: list[str],
    birds: str,
    tmp_path: Path,
    processes: list[Process],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    alone = evaluate(models, birds, scoring=Scoring(cache=False))
    assert processes == []
    monkeypatch.setattr(choice, "find_devices", lambda: [Device("cpu", _PLENTY) for _ in "ab"])
    nowhere = str(tmp_path / "nowhere")
    with pytest.warns(ScoringWarning, match="no such model"):
        found = evaluate([*models, nowhere], [birds], out=tmp_path / "run")
    assert len(processes) == len(models)
    evaluation = found.evaluations["birds"]
    assert evaluation.to_dict() == alone.to_dict()
    assert evaluation.scored.equals(alone.scored)
    written = json.loads((tmp_path / "run/result.json").read_text(encoding="utf-8"))
    assert [each["model"] for each in written["results"]] == models


def test_a_model_that_fits_no_device_is_a_failure_before_its_load(
    models: list[str], birds: str, processes: list[Process]
) -> None:
    trouble, _, found = score(models, birds, _LITTLE)
    with pytest.warns(ScoringWarning, match="going on without it"):
        assert list(found) == []
    assert [each.model for each in trouble.failures] == models
    assert trouble.failures[0].reason == (
        f"{models[0]}: its weights take 0.5 GB, and no device has as much free (cpu has 0.5 GB, "
        "cpu has 0.5 GB); use --device-map auto, --quantise or a smaller --dtype"
    )
    assert processes == []


def test_a_killed_process_is_a_failure_of_its_model_and_the_other_goes_on(
    models: list[str], birds: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(Process):
        def __init__(self, job: Any, answers: Queue[Any]) -> None:
            super().__init__(job, answers)
            if job.name == models[0]:
                os.kill(self._process.pid, signal.SIGKILL)

    monkeypatch.setattr(side_by_side, "Process", Killed)
    trouble, devices, found = score(models, birds, _PLENTY)
    with pytest.warns(ScoringWarning, match="going on without it"):
        done = [(key, scored.result.model) for key, scored in found]
    assert done == [("birds", models[1])]
    reason = f"{models[0]}: its process on cpu ended early (SIGKILL)"
    assert trouble.failures == [Failure(models[0], None, reason)]
    assert [(each.free, each.models) for each in devices] == [(_PLENTY, 0), (_PLENTY, 0)]


def test_where_a_failure_is_fatal_it_is_an_error_and_all_processes_end(
    birds: str, saved: Saved, tmp_path: Path, processes: list[Process]
) -> None:
    broken = tmp_path / "broken"
    broken.mkdir()
    for file in saved("gpt2").iterdir():
        if file.suffix != ".safetensors":
            (broken / file.name).write_bytes(file.read_bytes())
    _, _, found = score([str(broken), str(saved("bart"))], birds, _PLENTY, fatal=True)
    with pytest.raises(ScoringError, match="the weights cannot be loaded"):
        list(found)
    assert [each._process.poll() is None for each in processes] == [False, False]


def test_an_interrupt_ends_all_processes(
    models: list[str], birds: str, processes: list[Process], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Interrupted(Queue[Any]):
        def get(self, *_: Any) -> Any:
            raise KeyboardInterrupt

    monkeypatch.setattr(side_by_side, "Queue", Interrupted)
    _, _, found = score(models, birds, _PLENTY)
    with closing(found), pytest.raises(KeyboardInterrupt):
        next(found)
    assert [each._process.returncode for each in processes] == [-signal.SIGKILL] * 2
