"""Commands killed at any moment, with files of others all around: none of these is ever touched.

What a command writes is as before or complete, and the next run leaves nothing but its results.
Reduced here, 200 kills with NND_TEST_FULL=1.
"""

import json
import os
import random
import shutil
import signal
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from support.hub.server import Hub
from support.metric_runs import save_model
from support.report.runs import Pretended, write_run

from nnd.metric.run.model_cost import COST

KILLS = 50 if os.environ.get("NND_TEST_FULL") else 1
"""Of each command."""

REPOSITORY = "org/killed"

MINE = b"years of work"
FOREIGN = [
    "thesis.tex",
    ".git/HEAD",
    "checkpoints/step-1/model.bin",
    "figures/mine.svg",
    # Named like leftovers.
    ".out.0123abcd/notes",
    ".nnd-publish.0123abcd/notes",
    ".report.html.0123abcd",
]

seen: Counter[str] = Counter()
"""How calls that were to be killed ended."""


@dataclass(frozen=True)
class Job:
    """A command with two versions of its input.

    Attributes:
        calls: One for each version.
        read: Returns what it has written, in parts, each of one version.
        mine: A file that keeps the command from its work, if there is such a file.
    """

    calls: tuple[dict[str, Any], dict[str, Any]]
    read: Callable[[], dict[str, object]]
    mine: Path | None = None


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Where everything is written: a folder full of somebody's files."""
    for name in FOREIGN:
        path = tmp_path / "place" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(MINE)
    return tmp_path / "place"


def files_in(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != COST  # seconds, which no two runs share
    }


def calls(
    call: str, place: Path, versions: list[dict[str, Any]]
) -> tuple[dict[str, Any], dict[str, Any]]:
    first, second = ({"call": call, "place": place, "arguments": each} for each in versions)
    return first, second


def converting(place: Path, *_: object) -> Job:
    out = place / "out"
    versions = [{"source": "sample", "out": out, "normalise": n} for n in ([], ["whitespace"])]
    return Job(
        calls("convert", place, versions),
        lambda: {"out": files_in(out)},
        mine=out / "run/result.json",
    )


def building(place: Path, converted: list[Path], *_: object) -> Job:
    out, definition = place / "out", place.parent / "suite.yaml"
    definition.write_text("source: sample\nsets:\n  - op: punctuation\n", encoding="utf-8")
    versions = [{"definition": definition, "data": data, "out": out} for data in converted]
    return Job(calls("suite", place, versions), lambda: {"out": files_in(out)}, mine=out / "mine")


def evaluating(place: Path, converted: list[Path], *_: object) -> Job:
    out, model = place / "out", save_model("gpt2", place.parent)
    asked = {"models": model, "data": str(converted[0]), "out": out}
    versions = [asked | {"unconditional": unconditional} for unconditional in (True, False)]
    return Job(
        calls("evaluate", place, versions), lambda: {"out": files_in(out)}, mine=out / "thesis.tex"
    )


def reporting(place: Path, converted: list[Path], *_: object) -> Job:
    versions = []
    for folder in converted:
        run = folder.with_name(f"run{folder.name}")
        write_run(run, folder, [Pretended("small", {"": 0.3 + 0.4 * int(folder.name)}, 10**7)])
        versions.append({"results": run, "out": place / "report.html", "data": str(folder)})
        versions[-1]["figures"] = place / "figures"

    def read() -> dict[str, object]:
        written = [place / "report.html", *(place / "figures").iterdir()]
        names = [path for path in written if path.is_file() and path.name != "mine.svg"]
        return {path.name: path.read_bytes() for path in names}

    return Job(calls("report", place, versions), read, mine=place / "figures/pass_rates.svg")


def publishing(place: Path, converted: list[Path], hub: Hub) -> Job:
    versions = [{"folder": folder, "repo_id": REPOSITORY} for folder in converted]

    def read() -> dict[str, object]:
        held = hub.files("datasets", REPOSITORY) if hub.exists("datasets", REPOSITORY) else {}
        return {"repository": {k: v for k, v in held.items() if k != ".gitattributes"}}

    return Job(calls("publish", place, versions), read)


@pytest.mark.parametrize(
    "make",
    [
        converting,
        pytest.param(building, marks=pytest.mark.full),
        pytest.param(evaluating, marks=pytest.mark.full),
        pytest.param(reporting, marks=pytest.mark.full),
        pytest.param(publishing, marks=pytest.mark.full),
    ],
)
def test_kills(
    make: Callable[[Path, list[Path], Hub], Job],
    place: Path,
    converted: list[Path],
    hub: Hub,
    ask: Callable[..., dict[str, Any]],
) -> None:
    job = make(place, converted, hub)
    chance = random.Random(make.__name__)
    foreign = {path: path.read_bytes() for path in place.rglob("*") if path.is_file()}
    whole, done = [], {}
    for call in job.calls:
        done = ask(call)
        assert "error" not in done, done
        whole.append(job.read())
    assert all(whole[0][part] != whole[1][part] for part in whole[0])
    listing = sorted(place.rglob("*"))

    for number in range(KILLS):
        killed, following = job.calls[number % 2], job.calls[1 - number % 2]
        death = {"after": chance.uniform(0, 1.1) * done["seconds"]}
        if (number + 1) % 3:
            death = {"at": chance.randint(1, done["events"])}
        seen["killed" if ask(killed, **death) == {"killed": signal.SIGKILL} else "too late"] += 1

        for part, content in job.read().items():
            assert content in (whole[0][part], whole[1][part]), f"{death}: {part} is mixed"
        assert {path: path.read_bytes() for path in foreign} == foreign, death
        if job.mine is not None:
            check_refused(ask, following, job.mine)
        assert "error" not in ask(following)
        assert sorted(place.rglob("*")) == listing, death
        assert job.read() == whole[1 - number % 2]
        assert {path: path.read_bytes() for path in foreign} == foreign, death


def adding(model: str, converted: list[Path], place: Path) -> dict[str, Any]:
    """The call that adds a model to a run."""
    data, out = str(converted[0]), place / "out"
    asked = {"models": model, "data": data, "out": out, "unconditional": False, "limit": 8}
    return {"call": "evaluate", "place": place, "arguments": asked}


def models_in(out: Path) -> list[str]:
    """The models of a run, which are the same in both of its files."""
    results = json.loads((out / "result.json").read_text(encoding="utf-8"))["results"]
    found = [str(each["model"]) for each in results]
    rows = pl.read_parquet(out / "log_likelihoods.parquet")
    assert rows["model"].unique(maintain_order=True).to_list() == found
    return found


def test_a_kill_while_a_model_is_added_keeps_the_others(
    place: Path, converted: list[Path], ask: Callable[..., dict[str, Any]]
) -> None:
    models = [save_model(name, place.parent) for name in ("gpt2", "bart")]
    first, second = (adding(model, converted, place) for model in models)
    chance, out = random.Random(0), place / "out"
    assert "error" not in ask(first)
    shutil.copytree(out, place / "first")
    events = ask(second)["events"]
    assert models_in(out) == models

    for _ in range(2 * KILLS):
        shutil.rmtree(out)
        shutil.copytree(place / "first", out)
        assert ask(second, at=chance.randint(1, events))["killed"] == signal.SIGKILL
        assert models_in(out) in (models[:1], models)

    assert "error" not in ask(second)
    assert models_in(out) == models


def test_of_two_writers_one_is_killed_and_no_model_is_lost(
    place: Path,
    converted: list[Path],
    ask: Callable[..., dict[str, Any]],
    ask_another: Callable[..., dict[str, Any]],
) -> None:
    """As in an array of jobs that add their models to one folder at the same time."""
    models, out = [save_model(name, place.parent) for name in ("gpt2", "bart")], place / "out"
    calls = [adding(model, converted, place) for model in models]
    chance = random.Random(0)
    events = [one(call)["events"] for one, call in zip((ask, ask_another), calls, strict=True)]
    with ThreadPoolExecutor(1) as beside:
        for number in range(3 + KILLS):
            shutil.rmtree(out)
            # It may have fewer events than alone, where it finds what the other has written.
            death = {"at": chance.randint(1, events[1] // 2)} if number % 4 else {}
            lives = beside.submit(ask, calls[0])
            dies = ask_another(calls[1], **death)
            assert "error" not in lives.result()
            assert "error" not in dies
            if death:
                seen["killed" if dies == {"killed": signal.SIGKILL} else "too late"] += 1
            assert sorted(models_in(out)) in (sorted(models), *([models[:1]] if death else []))
            assert "error" not in ask_another(calls[1])
            assert sorted(models_in(out)) == sorted(models)
            assert sorted(path.name for path in place.glob(".out*")) == [".out.0123abcd"]


def check_refused(ask: Callable[..., dict[str, Any]], call: Mapping[str, Any], mine: Path) -> None:
    """A file of somebody's where results go is named, and everything stays as it is."""
    ours = mine.read_bytes() if mine.exists() else None
    mine.parent.mkdir(exist_ok=True)
    mine.write_bytes(MINE)

    error = ask(call)["error"]

    assert any(part in error for part in (f" {mine.name};", f" {mine.parent.name}/;", str(mine)))
    assert mine.read_bytes() == MINE
    mine.unlink()
    if ours is not None:
        mine.write_bytes(ours)
    elif not any(mine.parent.iterdir()):
        mine.parent.rmdir()


def test_the_kills_were_kills() -> None:
    """Or all of the above might have ended in peace."""
    assert 4 * seen["killed"] >= 3 * seen.total() > 0, seen
