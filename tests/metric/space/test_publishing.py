"""The metric as a Space: its files, and `evaluate.load` of it through the loopback Hub."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from evaluate.loading import get_imports
from support.hub import cards
from support.hub.asking import Ask, refused
from support.hub.clients import IMPATIENT, environment
from support.hub.publishing import TOKEN
from support.hub.server import Hub
from support.metric_runs import LOADER, load_plan, pair_rows, save_model, write_pairs
from support.refusals import refusal

from nnd.metric.run import evaluate as evaluate_models
from nnd.metric.space.files import write_space
from nnd.metric.space.flattening import flatten

NND = str(Path(sys.executable).with_name("nnd"))


@pytest.fixture(scope="module")
def space(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a static Space."""
    place = tmp_path_factory.mktemp("space")
    write_space("org/nnd", place)
    return place


@pytest.fixture(scope="module")
def modules() -> dict[str, str]:
    """The metric as flat modules: leave them as they are."""
    return flatten("nnd.metric.space.metric")


def publish(name: str, **options: Any) -> str:
    """The expression that publishes the metric, for `ask`."""
    quickly = "setattr(load('nnd.converters.hub.hub_calls'), 'FIRST_S', 0.001)"
    given = "".join(f", {key}={value!r}" for key, value in options.items())
    publish_metric = f"load('nnd.metric.space.publishing').publish_metric({name!r}{given})"
    return f"{quickly} or {publish_metric}.to_dict()"


def changes(published: dict[str, Any]) -> dict[str, str]:
    return {file["path"]: file["change"] for file in published["files"]}


# --- the files --------------------------------------------------------------------------------


def test_a_space_holds_what_evaluate_will_ask_for(space: Path) -> None:
    named = {name for kind, name, *_ in get_imports(str(space / "nnd.py")) if kind == "internal"}
    modules = {path.stem for path in space.glob("*.py")}
    assert modules == named | {"nnd"}


def test_a_space_has_the_flat_modules(space: Path, modules: dict[str, str]) -> None:
    flat = {name: text for name, text in modules.items() if name != "space_metric"}
    expected = {**flat, "nnd": modules["space_metric"]}
    assert {path.stem: path.read_text(encoding="utf-8") for path in space.glob("*.py")} == expected


def test_the_card_says_what_the_space_shows(space: Path) -> None:
    readme = (space / "README.md").read_text()
    assert cards.faults(readme) == []
    found = cards.metadata(readme.encode())
    assert (found["sdk"], found["app_file"]) == ("static", "index.html")
    assert set(found["tags"]) == {"evaluate", "metric"}
    assert len(found["short_description"]) <= 60  # the Hub takes no longer one


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "name", ["org/run_evaluation", "org/nnd.v2", "org/json", "org/class", "org/True"]
)
def test_a_name_that_no_script_can_have_is_refused(
    name: str, modules: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nnd.metric.space.files.flatten", lambda _: dict(modules))
    with refusal("hub.name", name.removeprefix("org/")):
        write_space(name, tmp_path)


# --- publishing -------------------------------------------------------------------------------


def test_a_space_is_one_commit_and_again_none(hub: Hub, ask: Ask, space: Path) -> None:
    first = ask(publish("org/twice"))
    (commit, _) = hub.commits("spaces", "org/twice")  # the Hub's own, and ours
    assert (first["changed"], first["commit"]) == (True, commit.id)
    held = hub.files("spaces", "org/twice")
    ours = {path.name for path in space.glob("*.*")}
    assert set(held) == ours - {"nnd.py"} | {"twice.py", ".gitattributes"}
    assert held["twice.py"] == (space / "nnd.py").read_bytes()
    again = ask(publish("org/twice"))
    assert (again["changed"], again["commit"]) == (False, commit.id)
    assert set(changes(again).values()) == {"same"}
    assert len(hub.commits("spaces", "org/twice")) == 2


def test_a_lost_answer_makes_no_second_commit(hub: Hub, ask: Ask) -> None:
    hub.faults.script(r"POST .*/commit/", "lost-answer")
    assert ask(publish("org/lost"))["changed"] is True
    assert len(hub.commits("spaces", "org/lost")) == 2


def test_modules_that_went_go_and_files_of_others_stay(hub: Hub, ask: Ask) -> None:
    ask(publish("org/older"))
    script = hub.files("spaces", "org/older")["older.py"]
    older = {
        "older.py": b"from .outdated import x\n" + script,
        "outdated.py": b"x = 1\n",
        "figure.png": b"png",
        "tests.py": b"import evaluate\n",
    }
    hub.commit("spaces", "org/older", older)
    found = changes(ask(publish("org/older")))
    assert (found["outdated.py"], found["older.py"]) == ("deleted", "changed")
    held = hub.files("spaces", "org/older")
    assert held["older.py"] == script
    assert {"figure.png", "tests.py"} <= held.keys()
    assert "outdated.py" not in held


@pytest.mark.parametrize("text", [b"class NND(:\n", b"class NND:\n    x = '\xff'\n"])
def test_a_metric_that_is_broken_is_replaced(hub: Hub, ask: Ask, text: bytes) -> None:
    name = f"org/broken{len(text)}"
    script = f"{name[4:]}.py"
    hub.commit("spaces", name, {script: text})
    assert changes(ask(publish(name)))[script] == "changed"


@pytest.mark.parametrize("path", ["chess.py", "other.py"])
def test_a_space_of_something_else_is_left_alone(hub: Hub, ask: Ask, path: str) -> None:
    name = f"org/{path[0]}-chess"
    script = f"{name[4:]}.py" if path == "chess.py" else path  # a metric of that name, or none
    hub.commit("spaces", name, {script: b"class Chess(evaluate.Metric): ...\n"})
    error = refused(ask, publish(name))
    assert error.code == "hub.foreign-files"
    assert script in error.message
    assert set(hub.files("spaces", name)) == {script}


def test_a_dry_run_writes_nothing(hub: Hub, ask: Ask) -> None:
    before = len(hub.requests)
    planned = ask(publish("org/dry", dry_run=True))
    assert planned["commit"] is None
    assert set(changes(planned).values()) == {"added"}
    assert all(file["bytes"] > 0 for file in planned["files"])
    assert not hub.exists("spaces", "org/dry")
    assert {request.split()[0] for request in hub.requests[before:]} <= {"GET", "HEAD"}


# --- loading ----------------------------------------------------------------------------------


@pytest.mark.full
def test_what_the_command_publishes_loads_without_nnd(hub: Hub, tmp_path: Path) -> None:
    """The command, then `evaluate.load` where nnd is not installed, on data and by model."""
    home = tmp_path / "home"
    done = subprocess.run(
        [sys.executable, IMPATIENT, NND, "publish-metric", "org/nnd"],
        env=environment(hub.endpoint, home, token=TOKEN),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    (commit, _) = hub.commits("spaces", "org/nnd")
    assert f"Published: {hub.endpoint}/spaces/org/nnd at {commit.id}" in done.stdout
    assert 'evaluate.load("org/nnd")' in done.stdout
    assert TOKEN not in done.stdout

    data, model = write_pairs(tmp_path), save_model("gpt2", tmp_path)
    files = {path.name: path.read_bytes() for path in data.glob("*.parquet")}
    version = hub.commit("datasets", "org/made_up", files)
    columns = pair_rows().select("context", "candidate_high", "candidate_low", "error_category")
    calls: list[dict[str, Any]] = [
        {"dataset": "org/made_up", "model_id": model},
        {**columns.to_dict(as_series=False), "model_id": model},
    ]
    loaded = load_from(hub, "org/nnd", calls, home)
    assert loaded["package"] is False
    assert loaded["module"].startswith("evaluate_modules.metrics.org--nnd.")
    on_hub, by_columns = loaded["answers"]
    expected = evaluate_models(model, data).to_dict()["results"][0]
    assert f"|data:org/made_up@{version[:6]}|" in on_hub["signature"]
    for answer in (on_hub, by_columns):
        assert (answer["pass_rate"], answer["n"]) == (expected["pass_rate"], 8)
        assert answer["by_error_category"] == expected["by_error_category"]
    assert {**on_hub, "signature": ""} == {**on_hub, **expected, "signature": ""}


@pytest.mark.full
def test_a_space_with_a_hyphen_loads_too(hub: Hub, ask: Ask, tmp_path: Path) -> None:
    ask(publish("org/near-negative"))
    loaded = load_from(hub, "org/near-negative", [], tmp_path / "home")
    assert loaded["answers"] == []
    assert loaded["module"].endswith(".near-negative")


def load_from(hub: Hub, name: str, calls: list[dict[str, Any]], home: Path) -> dict[str, Any]:
    """What `load_metric.py` prints in a process without nnd and without a token."""
    done = subprocess.run(
        [sys.executable, str(LOADER)],
        cwd=home.parent,
        env={**environment(hub.endpoint, home), "OMP_NUM_THREADS": "1"},
        input=json.dumps([load_plan(name, calls, folder=home.parent, without_package=True)]),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    loaded: dict[str, Any]
    (loaded,) = json.loads(done.stdout)
    assert "error" not in loaded, loaded["error"]
    return loaded
