"""Models side by side, in processes on a CPU that is taken for two devices.

A process starts in five seconds: most tests put in its place what it does, done here and now.
"""

import io
import json
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from queue import Queue
from typing import Any, NoReturn

import pytest
from support.metric_runs import write_pairs
from support.refusals import refusal

from nnd.metric.data import load_pairs
from nnd.metric.likelihood import Loading, Scoring
from nnd.metric.run import Failure, evaluate
from nnd.metric.run.launchers import child_process, side_by_side
from nnd.metric.run.launchers.child_process import Answers, Process, answer
from nnd.metric.run.launchers.schedule import Device
from nnd.metric.run.launchers.side_by_side import score_side_by_side
from nnd.metric.run.scoring_task import ScoringTask, whole_task
from nnd.metric.run.survival import Trouble
from nnd.schemas import ScoringWarning

Saved = Callable[[str], Path]
_PLENTY = 2**50
"""Bytes for any number of toy models."""


@pytest.fixture
def broken(saved: Saved, tmp_path: Path) -> str:
    """A model without weights."""
    folder = tmp_path / "broken"
    folder.mkdir()
    for file in saved("gpt2").iterdir():
        if file.suffix != ".safetensors":
            (folder / file.name).write_bytes(file.read_bytes())
    return str(folder)


class Started:
    """The processes that were started, by model, and those that were ended."""

    def __init__(self) -> None:
        self.processes: dict[str, Any] = {}
        self.ended: list[str] = []


class Here:
    """What a process does, done before it is asked for its answers."""

    def __init__(self, task: ScoringTask, answers: Answers, started: Started) -> None:
        (self._name,), self._started = task.models, started
        started.processes[self._name] = task
        said = io.BytesIO()
        answer(task, said)
        said.seek(0)
        with suppress(EOFError):
            while True:
                answers.put((self._name, pickle.load(said)))  # noqa: S301 - our own
        answers.put((self._name, None))

    def end(self) -> None:
        self._started.ended.append(self._name)


class Killed(Process):
    """A process that is killed as soon as it is there."""

    def __init__(self, task: ScoringTask, answers: Answers) -> None:
        super().__init__(task, answers)
        os.kill(self._process.pid, signal.SIGKILL)


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> Started:
    started = Started()
    monkeypatch.setattr(side_by_side, "Process", lambda *asked: Here(*asked, started))
    return started


def task_of(model: str, pairs: Any, scoring: Scoring, loading: Loading) -> ScoringTask:
    return whole_task({"m": model}, pairs, {"m": scoring}, loading, Trouble(fatal=True))


def two_gpus() -> list[Device]:
    return [Device("cpu", _PLENTY), Device("cpu", _PLENTY)]


def score(
    models: Sequence[str], *data: Path, devices: Sequence[Device] = (), fatal: bool = False
) -> tuple[Trouble, Any]:
    trouble = Trouble(fatal)
    found = score_side_by_side(
        whole_task(
            {name: name for name in models},
            {folder.name: load_pairs(folder) for folder in data},
            dict.fromkeys(models, Scoring(cache=False)),
            Loading(),
            trouble,
        ),
        devices or two_gpus(),
    )
    return trouble, found


def done(found: Any) -> list[tuple[str, str]]:
    return [(each.dataset, each.scored.result.model) for each in found]


# Processes


@pytest.mark.parametrize("real", [1, pytest.param(2, marks=pytest.mark.full)])
def test_results_are_those_of_models_one_after_the_other(
    *, real: int, models: list[str], birds: Path, tmp_path: Path, here: Started, monkeypatch: Any
) -> None:
    def start(task: ScoringTask, answers: Answers) -> Any:
        kind = Process if {*task.models} <= {*models[:real]} else partial(Here, started=here)
        return kind(task, answers)

    alone = evaluate(models, birds, scoring=Scoring(cache=False))
    monkeypatch.setattr(side_by_side, "find_devices", two_gpus)
    monkeypatch.setattr(side_by_side, "Process", start)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    out = tmp_path / "run"
    evaluation = evaluate(models, birds, out=out)
    assert list(here.processes) == models[real:]
    assert evaluation.to_dict() == alone.to_dict()
    assert evaluation.scored.equals(alone.scored)
    written = json.loads((out / "result.json").read_text(encoding="utf-8"))
    assert [each["model"] for each in written["results"]] == models


def test_a_killed_process_is_a_failure_of_its_model_and_the_other_goes_on(
    models: list[str], birds: Path, here: Started, monkeypatch: Any
) -> None:
    def start(task: ScoringTask, answers: Answers) -> Any:
        kind = Killed if models[0] in task.models else partial(Here, started=here)
        return kind(task, answers)

    monkeypatch.setattr(side_by_side, "Process", start)
    devices = two_gpus()
    trouble, found = score(models, birds, devices=devices)
    with pytest.warns(ScoringWarning, match="SIGKILL.*continuing without it"):
        assert done(found) == [("birds", models[1])]
    reason = f"{models[0]}: its process on cpu ended early (SIGKILL)"
    assert trouble.failures == [Failure(models[0], None, reason)]
    assert devices == two_gpus()


def test_an_interrupt_ends_all_processes(
    models: list[str], birds: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[Process] = []

    class Noted(Process):
        def __init__(self, *asked: Any) -> None:
            super().__init__(*asked)
            started.append(self)

    class Interrupted(Queue[Any]):
        def get(self, *_: Any) -> Any:
            raise KeyboardInterrupt

    monkeypatch.setattr(side_by_side, "Process", Noted)
    monkeypatch.setattr(side_by_side, "Queue", Interrupted)
    _, found = score(models, birds)
    with closing(found), pytest.raises(KeyboardInterrupt):
        next(found)
    assert [each._process.returncode for each in started] == [-signal.SIGKILL] * 2


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_job_that_cannot_be_sent_is_an_end_too(models: list[str]) -> None:
    with Path(models[0], "config.json").open(encoding="utf-8") as file:
        pairs: Any = {"birds": file}  # what pickle refuses
        job = task_of(models[0], pairs, Scoring(), Loading())
        answers: Answers = Queue()
        process = Process(job, answers)
        assert answers.get(timeout=60) == ("m", None)
        process.end()


@pytest.mark.full
def test_a_process_ends_with_the_one_that_asks(models: list[str], birds: Path) -> None:
    """The end of the one that asks is the end of the input, which is all there is of it here."""
    pairs = {str(number): load_pairs(birds) for number in range(1_000)}
    job = task_of(models[0], pairs, Scoring(cache=False), Loading(device="cpu"))
    done = subprocess.run(
        [sys.executable, "-P", "-m", "nnd.metric.run.launchers.child_process"],
        input=pickle.dumps(job),
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (1, b"")


# What is made of their answers


def test_all_models_are_scored_on_all_datasets(
    models: list[str], birds: Path, tmp_path: Path, here: Started
) -> None:
    trees = write_pairs(tmp_path / "trees")
    trouble, found = score(models, birds, trees)
    assert sorted(done(found)) == sorted(
        (key, model) for key in ("birds", "trees") for model in models
    )
    assert trouble.failures == []
    assert here.ended == models


@pytest.mark.usefixtures("here")
def test_what_fails_in_a_process_is_warned_of_once_and_the_other_goes_on(
    models: list[str], broken: str, birds: Path
) -> None:
    trouble, found = score([broken, models[1]], birds)
    with pytest.warns(ScoringWarning) as warned:
        assert done(found) == [("birds", models[1])]
    (failure,) = trouble.failures
    assert (failure.model, failure.dataset) == (broken, None)
    assert [str(each.message) for each in warned] == [f"{failure.reason}; continuing without it"]


def test_where_a_failure_is_fatal_it_is_an_error_and_all_processes_end(
    models: list[str], broken: str, birds: Path, here: Started
) -> None:
    _, found = score([broken, models[1]], birds, fatal=True)
    with refusal("model.damaged", broken):
        list(found)
    assert sorted(here.ended) == sorted([broken, models[1]])


@pytest.mark.usefixtures("here")
def test_a_fatal_error_that_is_not_ours_names_the_model(
    models: list[str], birds: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def score_here(_task: ScoringTask) -> NoReturn:
        raise RuntimeError("its code is broken")

    monkeypatch.setattr(child_process, "score_here", score_here)
    _, found = score(models[:1], birds, fatal=True)
    with refusal("worker.failed", models[0]):
        list(found)


def test_a_model_that_fits_no_device_is_a_failure_and_none_of_it_is_loaded(
    models: list[str], birds: Path, here: Started
) -> None:
    trouble, found = score(models, birds, devices=[Device("cpu", 2**29)])
    with pytest.warns(ScoringWarning, match="continuing without it"):
        assert list(found) == []
    assert [each.model for each in trouble.failures] == models
    assert here.processes == {}
