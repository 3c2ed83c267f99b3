"""Models named with a revision: which name and which revision that is."""

import shutil
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from huggingface_hub import constants
from support.metric_runs import human_scores, write_pairs
from support.refusals import refusal

from nnd.metric.data import load_pairs
from nnd.metric.likelihood import Loading, load_config, load_model, split_revision
from nnd.metric.likelihood.models.model_places import resolve_revision
from nnd.metric.run import evaluate


@pytest.mark.parametrize(
    ("model_id", "name", "revision"),
    [
        ("gpt2", "gpt2", None),
        ("gpt2@607a30d", "gpt2", "607a30d"),
        ("org/tiny-1.0@refs/pr/1", "org/tiny-1.0", "refs/pr/1"),
        ("org/tiny@v1@2", "org/tiny", "v1@2"),
        ("gpt2@", "gpt2@", None),
        ("@main", "@main", None),
        ("runs/of/mine@3", "runs/of/mine@3", None),  # no Hub id has two slashes
        (Path("mine@3"), "mine@3", None),
    ],
)
def test_a_revision_follows_the_at(model_id: str | Path, name: str, revision: str | None) -> None:
    assert split_revision(model_id) == (name, revision)


def test_a_folder_that_holds_an_at_is_that_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine@3").mkdir()
    assert split_revision("mine@3") == ("mine@3", None)


def test_a_models_own_revision_goes_before_the_one_for_all() -> None:
    for_all = Loading("main", "float32")
    assert resolve_revision("gpt2", for_all) == ("gpt2", for_all)
    assert resolve_revision("gpt2@v1", for_all) == ("gpt2", Loading("v1", "float32"))


def test_a_folder_has_no_revisions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").mkdir()
    with refusal("option.conflict", "mine@3"):
        load_config("mine@3")


# Two revisions of one model, as the cache of the Hub keeps them


COMMITS = {"main": "a" * 40, "step-1": "b" * 40}


@pytest.fixture
def _cached(saved: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`org/tiny`, whose main and step-1 are different models; the Hub is out of reach."""
    place = tmp_path / "cache" / "models--org--tiny"
    for (branch, commit), family in zip(COMMITS.items(), ("gpt2", "bart"), strict=True):
        shutil.copytree(saved(family), place / "snapshots" / commit)
        (place / "refs").mkdir(exist_ok=True)
        (place / "refs" / branch).write_text(commit, encoding="utf-8")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)


@pytest.mark.usefixtures("_cached")
@pytest.mark.parametrize(
    ("model_id", "revision", "branch"),
    [
        ("org/tiny", None, "main"),
        ("org/tiny", "step-1", "step-1"),
        ("org/tiny@step-1", None, "step-1"),
        ("org/tiny@step-1", "main", "step-1"),
    ],
)
def test_that_revision_is_loaded(model_id: str, revision: str | None, branch: str) -> None:
    loaded = load_model(model_id, Loading(revision, device="cpu"))
    assert (loaded.name, loaded.commit) == ("org/tiny", COMMITS[branch])
    assert loaded.is_encoder_decoder is (branch == "step-1")


@pytest.mark.usefixtures("_cached")
@pytest.mark.parametrize(
    ("asked", "revision", "found"),
    [
        (["org/tiny@step-1"], None, {"org/tiny": "step-1"}),
        (["org/tiny", "org/tiny@step-1"], None, {"org/tiny": "main", "org/tiny@step-1": "step-1"}),
        (["org/tiny@main"], "step-1", {"org/tiny": "main"}),
    ],
)
def test_results_name_the_revision_where_there_are_several(
    asked: list[str], revision: str | None, found: dict[str, str], tmp_path: Path
) -> None:
    data = write_pairs(tmp_path)
    evaluation = evaluate(asked, data, loading=Loading(revision, device="cpu"))
    signatures = {each.model: each.signature.split("|") for each in evaluation.results}
    assert {model: parts[2] for model, parts in signatures.items()} == {
        model: f"model:{model}@{COMMITS[branch][:7]}" for model, branch in found.items()
    }
    assert evaluation.scored["model"].unique(maintain_order=True).to_list() == [*found]


@pytest.mark.usefixtures("_cached")
def test_one_revision_of_a_model_stands_for_its_system(tmp_path: Path) -> None:
    data = load_pairs(write_pairs(tmp_path))
    people = human_scores().with_columns(model_id=pl.lit("org/tiny")).head(1)
    found = evaluate("org/tiny@step-1", data, human_scores=people).agreement_reason
    assert found is not None
    assert "but only org/tiny is" in found
