"""`evaluate.load("nnd")` after `install_metric`."""

import json
import os
import re
import shutil
import time
from pathlib import Path
from typing import Any

import evaluate
import pytest
from support.metric_runs import (
    NOT_INSTALLED,
    load_in_processes,
    load_plan,
    run_python,
    save_model,
    write_pairs,
)
from support.refusals import refusal

from nnd.metric.run import evaluate as evaluate_models
from nnd.metric.space.installing import install_metric

INSTALL = [
    "-c",
    "from nnd.metric.space import install_metric; print(install_metric().script, end='')",
]
PLACE = re.compile(r"evaluate_modules/metrics/evaluate-metric--nnd/[0-9a-f]{64}/nnd\.py")


def rival(cache: Path, *, ahead: float) -> Path:
    """Another metric of that name in the cache, later by so many seconds."""
    folder = cache / "evaluate_modules" / "metrics" / "evaluate-metric--nnd" / ("0" * 64)
    folder.mkdir(parents=True)
    script = folder / "nnd.py"
    script.write_text("raise RuntimeError('the wrong one')\n")
    os.utime(script, (time.time() + ahead,) * 2)
    return script


@pytest.mark.full
def test_bare_name_loads_in_any_folder_with_the_package(tmp_path: Path) -> None:
    data, home = write_pairs(tmp_path), tmp_path / "home"
    rival(home / "modules", ahead=60)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    script = Path(run_python(INSTALL, folder=tmp_path, home=home))
    assert PLACE.fullmatch(str(script.relative_to(home / "modules")))

    model = save_model("gpt2", tmp_path)
    call: dict[str, Any] = {"dataset": str(data), "model_id": model}
    plans = [
        load_plan("nnd", [call], folder=elsewhere),
        # And in an environment that has not got the package, but shares the cache:
        load_plan("nnd", [], folder=elsewhere, without_package=True),
    ]
    found, without = load_in_processes(plans, home=home)
    # The installed class itself, so `except ScoringError` catches what it raises.
    assert found["module"] == "nnd.metric.space.metric"
    expected = evaluate_models(model, data).to_dict()
    (result,) = expected.pop("results")
    assert found["answers"] == [json.loads(json.dumps({**result, **expected}))]
    assert without == {"package": False, "error": f"ImportError: {NOT_INSTALLED}"}


@pytest.mark.full
def test_without_it_the_bare_name_is_unknown(tmp_path: Path) -> None:
    plan = load_plan("nnd", [], folder=tmp_path)
    (found,) = load_in_processes([plan], home=tmp_path / "home")
    assert found["error"].startswith("FileNotFoundError: Couldn't find a module script")


def test_the_cache_is_where_evaluate_looks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # It is HF_MODULES_CACHE, else in HF_HOME, as they were when evaluate was imported.
    monkeypatch.setattr(evaluate.config, "HF_MODULES_CACHE", tmp_path)
    assert PLACE.fullmatch(str(install_metric().script.relative_to(tmp_path)))


def test_every_folder_on_the_way_is_a_package(tmp_path: Path) -> None:
    script = install_metric(tmp_path).script
    between = script.relative_to(tmp_path).parents  # the last is "."
    assert [(tmp_path / folder / "__init__.py").is_file() for folder in between] == [True] * 5


def test_again_changes_nothing_but_the_time(tmp_path: Path) -> None:
    script = install_metric(tmp_path).script
    os.utime(script, (1, 1))
    before = {path: path.is_file() and path.read_bytes() for path in tmp_path.rglob("*")}
    assert install_metric(tmp_path).script == script
    assert {path: path.is_file() and path.read_bytes() for path in tmp_path.rglob("*")} == before
    assert time.time() - script.stat().st_mtime < 60


def test_it_becomes_the_newest(tmp_path: Path) -> None:
    other = rival(tmp_path, ahead=3600)
    assert install_metric(tmp_path).script.stat().st_mtime > other.stat().st_mtime


def test_a_damaged_script_is_mended(tmp_path: Path) -> None:
    script = install_metric(tmp_path).script
    text = script.read_text()
    script.write_text("")
    assert install_metric(tmp_path).script.read_text() == text


def test_an_empty_folder_in_its_place_is_filled(tmp_path: Path) -> None:
    script = install_metric(tmp_path / "a").script
    empty = tmp_path / "b" / script.relative_to(tmp_path / "a").parent
    empty.mkdir(parents=True)
    assert install_metric(tmp_path / "b").script.read_text() == script.read_text()


@pytest.mark.parametrize("place", ["modules", "modules/evaluate_modules/metrics"])
def test_a_cache_that_cannot_be_written_is_one_line(tmp_path: Path, place: str) -> None:
    (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / place).write_text("a file in the way")
    with refusal("place.cannot-write"):
        install_metric(tmp_path / "modules")


def test_an_interruption_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(shutil, "copyfile", full)
    with refusal("place.cannot-write"):
        install_metric(tmp_path)
    versions = tmp_path / "evaluate_modules" / "metrics" / "evaluate-metric--nnd"
    assert [path.name for path in versions.iterdir()] == ["__init__.py"]
