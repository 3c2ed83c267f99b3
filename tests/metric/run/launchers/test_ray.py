"""Runs scored by Ray: local, two workers; what they write is what one evaluation writes."""

import logging
import random
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest
import ray
from support.metric_runs import many_pairs, pair_rows, write_pairs
from support.refusals import refusal
from support.screens.commands import Nnd

from nnd.metric.data import read_run
from nnd.metric.likelihood import LoadedModel, Scoring
from nnd.metric.run import Evaluation, Ray, evaluate, merge
from nnd.metric.run.launchers import ray_cluster, ray_workers
from nnd.metric.run.launchers.ray_cluster import size_pool
from nnd.metric.run.parts import cutting

Saved = Callable[[str], Path]

PLAIN = Scoring(cache=False)

KILLS = 20
"""How many workers, and drivers, are killed, each in a run of its own."""

NUMBERS = ["ll_high", "ll_low", "ll_alone_high", "ll_alone_low"]


@pytest.fixture(autouse=True)
def _few_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cutting, "PARTS", 6)


@pytest.fixture(scope="module")
def _cluster() -> Iterator[None]:
    """Ray on this machine, for all tests of this module."""
    ray.init(
        "local",
        num_cpus=2,
        num_gpus=0,
        include_dashboard=False,
        logging_level=logging.ERROR,
        log_to_driver=False,
    )
    yield
    ray.shutdown()


@pytest.fixture
def birds(tmp_path: Path) -> Path:
    """Converted data of 24 contexts."""
    return write_pairs(tmp_path / "birds", many_pairs(6))


def part_files(run: Path) -> dict[Path, int]:
    """Return when each part that is there was written."""
    return {path: path.stat().st_mtime_ns for path in run.glob("parts/*/*.parquet")}


def wait_for_parts(run: Path, more_than: int) -> None:
    """Wait until there are more parts than so many."""
    for _ in range(12_000):
        if len(part_files(run)) > more_than:
            return
        time.sleep(0.01)


def kill_a_worker(run: Path, more_than: int) -> None:
    """Kill a worker with -9 once there are more parts than so many."""
    wait_for_parts(run, more_than)
    children = psutil.Process().children(recursive=True)
    worker = next(each for each in children if "score_on_ray" in " ".join(each.cmdline()))
    worker.send_signal(signal.SIGKILL)


def check_same(run: Path, alone: Path) -> None:
    """A merged run has the files and the rows of a single one; log-likelihoods to rounding."""
    assert sorted(path.name for path in run.iterdir()) == [
        *("cost.json", "log_likelihoods.parquet", "result.json")
    ]
    rows, whole = read_run(run), read_run(alone)
    assert rows.drop(NUMBERS).equals(whole.drop(NUMBERS))
    for name in NUMBERS:
        assert (rows[name] - whole[name]).abs().to_numpy().max() < 1e-6


@pytest.fixture
def finish(
    saved: Saved, birds: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[], None]:
    """Two workers finish what a worker began, and the run is that of one evaluation."""
    model, run, alone = saved("gpt2"), tmp_path / "run", tmp_path / "alone"
    single = evaluate(model, birds, out=alone, scoring=PLAIN)
    times: dict[Path, int] = {}

    def merge_seen(folder: Path) -> Evaluation:
        times.update(part_files(folder))
        return merge(folder)

    def check() -> None:
        times.clear()
        evaluate(model, birds, out=run, worker=(1, 3))
        begun = part_files(run)
        found = evaluate(model, birds, out=run, ray=Ray(num_workers=2))
        assert len(begun) == 2
        assert len(times) == 6
        assert {path: times[path] for path in begun} == begun
        check_same(run, alone)
        assert isinstance(found, Evaluation)
        assert found.results[0].signature == single.results[0].signature

    monkeypatch.setattr(ray_workers, "merge", merge_seen)
    return check


@pytest.mark.usefixtures("_cluster")
def test_workers_finish_what_a_worker_began(finish: Callable[[], None]) -> None:
    finish()


@pytest.mark.full
@pytest.mark.usefixtures("_cluster")
def test_an_actor_that_is_killed_loses_nothing_and_what_was_done_stays(
    finish: Callable[[], None], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    with ThreadPoolExecutor(1) as killers:
        for _ in range(KILLS):
            killed = killers.submit(kill_a_worker, run, 2)
            finish()
            killed.result()
            shutil.rmtree(run)
    assert capsys.readouterr().out == ""  # where results go; Ray tells of each death


@pytest.mark.full
def test_a_driver_that_is_killed_loses_nothing(saved: Saved, birds: Path, tmp_path: Path) -> None:
    model, run, alone = saved("gpt2"), tmp_path / "run", tmp_path / "alone"
    evaluate(model, birds, out=alone, scoring=PLAIN)
    asked = ["--model", model, "--data", birds, "--out", run, "--ray", "--num-workers", "2"]
    command, chance = [sys.executable, "-m", "nnd", "evaluate", *asked], random.Random(1)
    for _ in range(KILLS):
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=tmp_path) as driver:
            wait_for_parts(run, chance.randrange(24))
            driver.kill()
        if not (run / "result.json").is_file():
            subprocess.run(command, stdout=subprocess.DEVNULL, cwd=tmp_path, check=True)
        check_same(run, alone)
        shutil.rmtree(run)


@pytest.mark.usefixtures("_cluster")
def test_a_model_that_cannot_be_loaded_is_one_error(
    saved: Saved, birds: Path, tmp_path: Path
) -> None:
    model = tmp_path / "empty"
    model.mkdir()
    for path in saved("gpt2").iterdir():
        if path.suffix != ".safetensors":
            (model / path.name).write_bytes(path.read_bytes())
    with refusal("model.damaged", str(model)):
        evaluate(model, birds, out=tmp_path / "run", ray=Ray(num_workers=1))
    assert part_files(tmp_path / "run") == {}


@pytest.mark.usefixtures("_cluster")
def test_a_pool_fits_its_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert size_pool(Ray(), 64) == (1, 0, 2)
    assert size_pool(Ray(num_workers=2), 64) == (2, 0, 1)
    assert size_pool(Ray(num_workers=9), 3) == (3, 0, 1)
    with refusal("ray.gpus", "--num-gpus 1"):
        size_pool(Ray(num_gpus=1), 64)
    monkeypatch.setenv("OMP_NUM_THREADS", "5")
    assert size_pool(Ray(num_workers=2), 64) == (2, 0, 5)


@pytest.mark.usefixtures("_cluster")
def test_the_port_of_a_cluster_is_known_by_its_greeting() -> None:
    ray_cluster._check_answers(ray.get_runtime_context().gcs_address)


@pytest.mark.parametrize(
    ("config", "code", "where"),
    [
        (Ray(num_gpus=1.5), "ray.gpus", "--num-gpus 1.5"),
        (Ray(num_workers=0), "option.bad-value", "--num-workers 0"),
        (Ray("127.0.0.1:1"), "ray.unavailable", "127.0.0.1:1"),
        (Ray("127.0.0.1:x"), "ray.unavailable", "127.0.0.1:x"),
        (Ray("ray://127.0.0.1:10001"), "ray.unavailable", "ray://127.0.0.1:10001"),
    ],
    ids=str,
)
def test_what_ray_cannot_do_is_said_before_it_starts(
    *, config: Ray, code: str, where: str, saved: Saved, birds: Path, tmp_path: Path
) -> None:
    ray.shutdown()
    start = time.monotonic()
    with refusal(code, where):
        evaluate(saved("gpt2"), birds, out=tmp_path / "run", ray=config)
    assert time.monotonic() - start < 20
    assert not ray.is_initialized()


@pytest.mark.parametrize("said", [b"", b"SSH-2.0-x"], ids=["silent", "another"])
def test_a_port_of_something_else_is_refused_soon(
    said: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    ray.shutdown()
    monkeypatch.setattr(ray_cluster, "_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as server, ThreadPoolExecutor(1) as other:
        answered = other.submit(_answer, server, said)
        address = f"127.0.0.1:{server.getsockname()[1]}"
        with refusal("ray.unavailable", address), ray_cluster.connected(address):
            pass
        answered.result()


def _answer(server: socket.socket, said: bytes) -> None:
    """Say something to the first caller, and listen until it goes."""
    connection, _ = server.accept()
    with connection:
        connection.sendall(said)
        while connection.recv(100):
            pass


def test_ray_that_does_not_start_is_an_error(
    saved: Saved, birds: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def init(*_: object, **__: object) -> None:
        raise Exception("The current node timed out during startup.")  # noqa: TRY002 - as Ray does

    ray.shutdown()
    monkeypatch.setattr(ray, "init", init)
    with refusal("ray.unavailable"):
        evaluate(saved("gpt2"), birds, out=tmp_path / "run", ray=Ray())


def test_ray_is_an_extra(
    saved: Saved, birds: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with refusal("extra.missing"):
        evaluate(saved("gpt2"), birds, out=tmp_path / "run", ray=Ray())
    assert not (tmp_path / "run").exists()


def test_workers_are_given_names(
    loaded: Callable[[str], LoadedModel], saved: Saved, birds: Path, tmp_path: Path
) -> None:
    for model, data in ((loaded("gpt2"), birds), (saved("gpt2"), pair_rows())):
        with refusal("ray.shared-folder"):
            evaluate(model, data, out=tmp_path / "run", ray=Ray())
        assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--ray"], "option.needs-another"),
        (["--ray", "--out", "run", "--worker", "1/2"], "option.conflict"),
        (["--num-workers", "2"], "option.needs-another"),
    ],
    ids=str,
)
def test_options_that_do_not_fit_are_refused(
    options: list[str], code: str, nnd: Nnd, saved: Saved, birds: Path
) -> None:
    nnd.refuses("evaluate", "--model", saved("gpt2"), "--data", birds, *options, code=code)
