"""Results that go back to their models, as pull requests, through the loopback Hub."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from huggingface_hub import ModelCard, parse_eval_result_entries
from support.hub.asking import Ask, refused
from support.hub.clients import IMPATIENT, environment
from support.hub.publishing import TOKEN
from support.hub.server import Hub
from support.metric_runs import save_model, write_pairs
from support.screens.commands import Nnd

from nnd.metric.run import evaluate

NND = str(Path(sys.executable).with_name("nnd"))
README = "---\nlicense: mit # as the data\n---\n\n# Tiny\n"
FILE = ".eval_results/nnd-org--quiz-native.yaml"
COMMIT = "5503434ddd753f426f4b38109466949a1217c2bb"


def result(model: str, pass_rate: float = 0.75) -> dict[str, Any]:
    return {
        "model": model,
        "pass_rate": pass_rate,
        "n": 4,
        "interval": [0.5, 1.0],
        "protocol": "native",
        "template": "default",
        "signature": f"nnd|model:{model}",
        "by_error_category": {"wrong_fact": {"pass_rate": 1.0, "n": 2, "interval": None}},
    }


def push(
    model: str,
    pass_rate: float = 0.75,
    *,
    commit: str | None = COMMIT,
    datasets: tuple[str, ...] = ("org/quiz",),
) -> str:
    """The expression that sends results, for `ask`."""
    results = ", ".join(
        f"load('nnd.cards.model').ScoredOn({data!r}, {commit!r}): {result(model, pass_rate)!r}"
        for data in datasets
    )
    return (
        "setattr(load('nnd.converters.hub.hub_calls'), 'FIRST_S', 0.001) or "
        f"vars_of(load('nnd.converters.hub').push_results({model!r}, {{{results}}}))"
    ).replace("vars_of", "load('dataclasses').asdict")


def pulls(hub: Hub, model: str) -> dict[str, str]:
    return {ref: at for ref, at in hub.refs("models", model).items() if ref.startswith("refs/pr/")}


def test_a_result_is_a_pull_request_of_one_commit(hub: Hub, ask: Ask) -> None:
    main = hub.commit("models", "org/one", {"README.md": README.encode(), "config.json": b"{}"})
    pushed = ask(push("org/one"))
    assert pushed["sent"] is True
    assert pushed["pull_request"] == f"{hub.endpoint}/org/one/discussions/1"
    assert pulls(hub, "org/one") == {"refs/pr/1": pushed["commit"]}
    assert hub.refs("models", "org/one")["refs/heads/main"] == main
    (commit, parent) = hub.commits("models", "org/one", "refs/pr/1")
    assert (commit.title, parent.id) == ("Add NND pass rates on org/quiz", main)

    held = hub.files("models", "org/one", "refs/pr/1")
    assert set(held) == {"README.md", "config.json", FILE}
    card = ModelCard(held["README.md"].decode())
    assert [each.metric_value for each in card.data.eval_results] == [0.75, 1.0]
    assert held["README.md"].startswith(b"---\nlicense: mit # as the data\n")
    entries = parse_eval_result_entries(yaml.safe_load(held[FILE]))
    assert [(each.dataset_id, each.value) for each in entries] == [
        ("org/quiz", 0.75),
        ("org/quiz", 1.0),
    ]


def test_the_same_result_again_is_there_already(hub: Hub, ask: Ask) -> None:
    hub.commit("models", "org/again", {"README.md": README.encode()})
    first = ask(push("org/again"))
    second = ask(push("org/again"))
    assert (second["sent"], second["pull_request"]) == (False, first["pull_request"])
    assert len(pulls(hub, "org/again")) == 1

    hub.commit("models", "org/again", hub.files("models", "org/again", "refs/pr/1"))  # merged
    third = ask(push("org/again"))
    assert (third["sent"], third["pull_request"]) == (False, None)
    assert len(pulls(hub, "org/again")) == 1

    assert ask(push("org/again", 0.5))["sent"] is True  # another result is another request
    held = hub.files("models", "org/again", "refs/pr/2")
    values = [each.metric_value for each in ModelCard(held["README.md"].decode()).data.eval_results]
    assert values == [0.5, 1.0]


def test_results_on_several_datasets_are_one_pull_request(hub: Hub, ask: Ask) -> None:
    hub.commit("models", "org/several", {"README.md": README.encode()})
    both = push("org/several", datasets=("org/quiz", "org/news"))
    assert ask(both)["sent"] is True
    assert list(pulls(hub, "org/several")) == ["refs/pr/1"]
    assert hub.commits("models", "org/several", "refs/pr/1")[0].title == (
        "Add NND pass rates on org/quiz, org/news"
    )
    held = hub.files("models", "org/several", "refs/pr/1")
    found = ModelCard(held["README.md"].decode()).data.eval_results
    assert [(each.dataset_type, each.metric_value) for each in found] == [
        *(("org/quiz", 0.75), ("org/quiz", 1.0), ("org/news", 0.75), ("org/news", 1.0))
    ]
    assert {FILE, FILE.replace("quiz", "news")} < set(held)
    assert ask(both)["sent"] is False


def test_a_model_without_a_readme_gets_one(hub: Hub, ask: Ask) -> None:
    hub.commit("models", "org/bare", {"config.json": b"{}"})
    ask(push("org/bare"))
    card = ModelCard(hub.files("models", "org/bare", "refs/pr/1")["README.md"].decode())
    assert card.data.model_name == "bare"
    assert card.text.strip() == "# bare"


def test_a_readme_that_is_no_text_is_left_alone(hub: Hub, ask: Ask) -> None:
    hub.commit("models", "org/bytes", {"README.md": b"---\na: 1\n---\ncaf\xe9\n"})
    error = refused(ask, push("org/bytes"))
    assert error.code == "file.not-utf8"
    assert pulls(hub, "org/bytes") == {}


def test_data_that_is_not_on_the_hub_makes_no_file_of_results(hub: Hub, ask: Ask) -> None:
    hub.commit("models", "org/local", {"README.md": README.encode()})
    ask(push("org/local", commit=None))
    assert set(hub.files("models", "org/local", "refs/pr/1")) == {"README.md"}


def test_a_lost_answer_makes_no_second_pull_request(hub: Hub, ask: Ask) -> None:
    hub.commit("models", "org/lost", {"README.md": README.encode()})
    hub.faults.script(r"POST .*/commit/", "lost-answer")
    assert ask(push("org/lost"))["pull_request"].endswith("/discussions/1")
    assert len(pulls(hub, "org/lost")) == 1


def test_a_readme_that_changes_meanwhile_is_not_undone(hub: Hub, ask: Ask) -> None:
    hub.commit("models", "org/busy", {"README.md": README.encode()})
    theirs = {"README.md": b"---\nlicense: apache-2.0\n---\n"}
    hub.faults.script(r"GET .*/resolve/", lambda: hub.commit("models", "org/busy", theirs))
    error = refused(ask, push("org/busy"))
    assert error.code == "hub.run-again"
    assert pulls(hub, "org/busy") == {}
    ask(push("org/busy"))
    assert b"apache-2.0" in hub.files("models", "org/busy", "refs/pr/1")["README.md"]


def test_a_model_that_is_not_there_is_one_line(ask: Ask) -> None:
    error = refused(ask, push("org/none"))
    assert (error.name, error.code) == ("PublishError", "hub.not-found")
    assert error.message.startswith("org/none: ")


# --- the command ------------------------------------------------------------------------------


def run(hub: Hub, home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, IMPATIENT, NND, *arguments],
        env={**environment(hub.endpoint, home, token=TOKEN), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


OPTIONS = ("--model", "org/tiny", "--data", "org/quiz", "--no-cache", "--json")


@pytest.fixture(scope="module")
def made(served: Hub, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """A model and data, which the Hub has as org/tiny, org/quiz and org/news."""
    place = tmp_path_factory.mktemp("made")
    local, data = save_model("gpt2", place), write_pairs(place)
    weights = {path.name: path.read_bytes() for path in Path(local).iterdir()}
    served.commit("models", "org/tiny", weights)
    for name in ("org/quiz", "org/news"):
        served.commit(
            "datasets", name, {path.name: path.read_bytes() for path in data.glob("*.parquet")}
        )
    return local, data


def test_evaluate_sends_what_it_measured(hub: Hub, made: tuple[str, Path], tmp_path: Path) -> None:
    local, data = made
    version = hub.commits("datasets", "org/quiz")[0].id
    commit = hub.commits("models", "org/tiny")[0].id
    done = run(hub, tmp_path / "home", "evaluate", *OPTIONS, "--push-to-model-card")
    assert done.returncode == 0, done.stderr
    page = f"{hub.endpoint}/org/tiny/discussions/1"
    assert done.stderr == f"org/tiny: pull request {page}\n"
    assert TOKEN not in done.stdout

    expected = evaluate(local, data).to_dict()["results"][0]
    readme = hub.files("models", "org/tiny", "refs/pr/1")["README.md"].decode()
    overall, *categories = ModelCard(readme).data.eval_results
    assert (overall.metric_value, overall.dataset_revision) == (expected["pass_rate"], version)
    assert {each.metric_name.split(": ")[1]: each.metric_value for each in categories} == {
        name: rate["pass_rate"] for name, rate in expected["by_error_category"].items()
    }
    assert f"model:org/tiny@{commit[:7]}|" in overall.metric_args["signature"]


@pytest.mark.full
@pytest.mark.usefixtures("made")
def test_evaluate_sends_nothing_twice(hub: Hub, tmp_path: Path) -> None:
    run(hub, tmp_path / "home", "evaluate", *OPTIONS, "--push-to-model-card")
    page = f"{hub.endpoint}/org/tiny/discussions/1"
    named = ("--model", "org/tiny@main", *OPTIONS[2:])
    again = run(hub, tmp_path / "home", "evaluate", *named, "--push-to-model-card")
    assert again.stderr == f"org/tiny: {page} has these results already\n"

    several = (*OPTIONS, "--data", "org/news", "--push-to-model-card")
    more = run(hub, tmp_path / "home", "evaluate", *several)
    assert more.stderr == f"org/tiny: pull request {page[:-1]}2\n"
    readme = hub.files("models", "org/tiny", "refs/pr/2")["README.md"].decode()
    found = {each.dataset_type for each in ModelCard(readme).data.eval_results}
    assert found == {"org/quiz", "org/news"}


@pytest.mark.parametrize(
    "named",
    [("--model", "org/tiny@step-500"), ("--model", "org/tiny", "--revision", "step-500")],
)
def test_results_of_a_branch_stay_here(nnd: Nnd, named: tuple[str, ...]) -> None:
    options = ("--data", "org/quiz", "--push-to-model-card")
    nnd.refuses("evaluate", *named, *options, code="hub.model-card", where="step-500")


def test_a_local_model_is_refused_before_anything_is_scored(nnd: Nnd) -> None:
    Path("model").mkdir()  # which could not be loaded, nor could the data

    options = ("--data", "org/quiz", "--push-to-model-card", "--out", "run")
    nnd.refuses("evaluate", "--model", "model", *options, code="hub.model-card", where="model")

    assert not Path("run").exists()
