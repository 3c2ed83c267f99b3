"""System calls that fail while a command writes: one sentence, and nothing half-written.

strace lets one call among those that touch the command's own files fail with an error of the disk.
Exports and trainings begin with nothing, others with older results; afterwards there is this or the
new, whole, and the next run succeeds. Two commands and four calls here, all with NND_TEST_FULL=1.
"""

import functools
import json
import os
import random
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from support.metric_runs import save_model
from support.screens.commands import Ran
from support.screens.warm_commands import warm_commands

FULL = bool(os.environ.get("NND_TEST_FULL"))
ERRORS = ("EIO", "ENOSPC", "EROFS", "ESTALE", "ENOLCK", "EMFILE")
CALLS = (
    *("openat", "write", "fsync", "rename", "renameat2", "link", "flock", "unlink", "mkdir"),
    "ftruncate",
)
IN_CI = {("convert", "openat"), ("convert", "fsync"), ("report", "write"), ("report", "rename")}

WORKPLACE = re.compile(r"(^|/)\.[^/]+\.[0-9a-f]{8}/")

seen: Counter[str] = Counter()
"""How commands with a fault ended."""

pytestmark = pytest.mark.skipif(
    shutil.which("strace") is None, reason="faults of the disk are not tried: strace is missing"
)


@dataclass(frozen=True)
class Job:
    """A command that writes.

    Attributes:
        before: Commands whose results it finds.
        words: Its own.
        read: Returns what it has written, in parts, each of which is whole or as before.
        again: What a person runs after a failure, if that is another command.
    """

    before: list[list[str]]
    words: list[str]
    read: Callable[[Path], dict[str, Any]]
    again: Callable[[Path], list[str] | None] = lambda _: None


def files_in(folder: Path) -> Any:
    """Return the files but for workplaces, which the next run removes, and measured seconds."""
    paths = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*"))}
    found = {
        name: path.read_bytes()
        for name, path in paths.items()
        if path.is_file() and path.name != "cost.json" and not WORKPLACE.search(name)
    }
    return found or None


def part(*names: str) -> Callable[[Path], dict[str, Any]]:
    """Read files and folders of these names."""

    def read(place: Path) -> dict[str, Any]:
        paths = {name: place / name for name in names}
        return {
            name: path.read_bytes() if path.is_file() else files_in(path)
            for name, path in paths.items()
        }

    return read


def models_of(place: Path) -> dict[str, Any]:
    """The models of a run, which are the same in both of its files, and their likelihoods."""
    run = place / "out"
    if not (run / "result.json").exists():
        assert not (run / "log_likelihoods.parquet").exists()
        return {"run": None}
    found = json.loads((run / "result.json").read_text(encoding="utf-8"))["results"]
    rows = pl.read_parquet(run / "log_likelihoods.parquet")
    assert rows["model"].unique(maintain_order=True).to_list() == [each["model"] for each in found]
    return {"run": [rows.select("model", "pair_id", "ll_high", "ll_low").rows()]}


def merged(place: Path) -> dict[str, Any]:
    """What a merge has made, unless it is to be done again."""
    return {"run": None} if (place / "out/parts/plan.json").exists() else models_of(place)


def training(place: Path) -> dict[str, Any]:
    """The weights, once the training says that it is done."""
    weights, is_done = place / "out/model.safetensors", (place / "out/training.json").exists()
    return {"weights": weights.read_bytes() if is_done else None}


def resumed(words: list[str]) -> Callable[[Path], list[str] | None]:
    settings = "out/checkpoints/settings.json"
    return lambda place: [*words, "--resume"] if (place / settings).exists() else None


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Job]:
    folder = tmp_path_factory.mktemp("models")
    gpt2, bart = (save_model(name, folder) for name in ("gpt2", "bart"))
    convert, out = ["convert", "sample", "--out", "data"], ["--out", "out"]
    evaluate = ["evaluate", "--data", "data", "--limit", "8", *out, "--no-unconditional"]
    first, second = ([*evaluate, "--model", model] for model in (gpt2, bart))
    share = [*first, "--worker", "1/1"]
    train = ["train", "--model", gpt2, "--data", "data", *out, "--steps", "2", "--batch-size", "2"]
    return {
        "convert": Job(
            [["convert", "sample", *out]],
            ["convert", "sample", *out, "--normalise", "whitespace"],
            part("out"),
        ),
        "evaluate": Job([convert, first], second, models_of),
        "export": Job(
            [convert],
            ["export", "data", "--to", "trl", *out],
            part("out"),
        ),
        "report": Job(
            [convert, first, ["report", "out", "--out", "page.html", "--figures", "figures"]],
            ["report", "out", "--data", "data", "--out", "page.html", "--figures", "figures"],
            part("page.html", "figures"),
        ),
        "card": Job(
            [convert, ["card", "data", "--out", "card.md"]],
            ["card", "data", "--repo", "my/birds", "--out", "card.md"],
            part("card.md"),
        ),
        "merge": Job([convert, share], ["merge", "out"], merged),
        "train": Job([convert], train, training, resumed(train)),
    }


@pytest.fixture(scope="module")
def variables(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    folder = tmp_path_factory.mktemp("faults")
    with warm_commands(folder / "bin", os.environ) as warm:
        yield warm


class Bench:
    """Runs a command in a place of its own, from a state that is put back before each run."""

    def __init__(self, job: Job, folder: Path, variables: dict[str, str]) -> None:
        self.job, self.place, self._folder = job, folder / "place", folder
        own = {"NND_CACHE": str(self.place / "cache"), "TMPDIR": str(self.place / "tmp")}
        self._variables = variables | own
        (self.place / "tmp").mkdir(parents=True)
        for words in job.before:
            done = self.run(words)
            assert done.code == 0, done.err
        shutil.copytree(self.place, folder / "before")

    def restore(self) -> dict[str, Any]:
        shutil.rmtree(self.place)
        shutil.copytree(self._folder / "before", self.place)
        return self.job.read(self.place)

    def run(self, words: list[str], strace: str = "") -> Ran:
        done = subprocess.run(
            [Path(self._variables["PATH"].partition(os.pathsep)[0], "nnd"), *words],
            cwd=self.place,
            env=self._variables | ({"NND_TEST_STRACE": strace} if strace else {}),
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    def again(self) -> None:
        """Check that the next run succeeds, and leaves nothing but its results."""
        words = self.job.again(self.place) or self.job.words
        done = self.run(words)
        assert done.code == 0, done.err

    def listing(self) -> list[Path]:
        ours = sorted(self.place.rglob("*"))
        return [path for path in ours if "cache" not in path.relative_to(self.place).parts]

    def touching(self, call: str) -> list[int]:
        """Return which of its calls touch its own files, counted from 1."""
        self.restore()
        log = self._folder / "log"
        done = self.run(self.job.words, f"-y -s 0 -e trace={call} -o {log}")
        assert done.code == 0, done.err
        calls = [
            line for line in log.read_text(errors="replace").splitlines() if f"{call}(" in line
        ]
        return [number for number, line in enumerate(calls, 1) if str(self.place) in line]


def check_ended(done: Ran) -> None:
    """A command has succeeded, or says in one sentence why it has not."""
    assert "Traceback" not in done.err, done.err
    assert done.code in (0, 2), done
    if done.code:
        lines = [line for line in done.err.splitlines() if line.startswith("nnd: ")]
        assert lines
        assert done.err.splitlines()[-1] == lines[-1]


@pytest.fixture(scope="module")
def bench_of(
    jobs: dict[str, Job], variables: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], Bench]:
    return functools.cache(lambda name: Bench(jobs[name], tmp_path_factory.mktemp(name), variables))


@pytest.mark.parametrize(
    ("name", "call"),
    [
        pytest.param(name, call, marks=[] if (name, call) in IN_CI else pytest.mark.full)
        for name in ("convert", "report", "card", "export", "evaluate", "merge", "train")
        for call in CALLS
    ],
)
def test_a_call_that_fails(name: str, call: str, bench_of: Callable[[str], Bench]) -> None:
    bench, chance = bench_of(name), random.Random(f"{name} {call}")
    places = bench.touching(call)
    whole, listing = bench.job.read(bench.place), bench.listing()
    for number, error in enumerate((ERRORS if FULL else ERRORS[:2]) if places else ()):
        before = bench.restore()
        at = (places[0], places[-1], chance.choice(places))[number % 3]
        inject = f"-e trace={call} -e inject={call}:error={error}:when={at} -o /dev/null"
        done = bench.run(bench.job.words, inject)

        told = f"{name}: {call} number {at}: {error}: {done.err}"
        seen[f"code {done.code}"] += 1
        check_ended(done)
        for part, content in bench.job.read(bench.place).items():
            assert content in (before[part], whole[part]), f"{told}: {part} is mixed"
            assert done.code or content == whole[part], f"{told}: {part} is missing"
        if name in ("export", "merge", "train") and bench.job.read(bench.place) == whole:
            continue  # it is not done twice
        bench.again()
        assert bench.job.read(bench.place) == whole, told
        assert bench.listing() == listing, told


def test_faults_were_met(capsys: pytest.CaptureFixture[str]) -> None:
    """Or no call has failed at all."""
    with capsys.disabled():
        print(f"\nfaults of the disk: {dict(seen)}")  # noqa: T201 - the count
    assert seen["code 2"]
