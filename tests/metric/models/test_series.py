"""Checkpoints of a training: found in a folder or on the Hub, the earliest first."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from huggingface_hub.errors import HTTPError  # type: ignore[attr-defined]

from nnd.metric.models import list_checkpoints, series, step_of
from nnd.schemas import ScoringError


@pytest.mark.parametrize(
    ("name", "step"),
    [
        ("runs/a/checkpoint-500", ("runs/a", 500)),
        ("checkpoint-7", ("", 7)),
        ("step2/checkpoint-5", ("step2", 5)),
        ("org/model@step1000", ("org/model", 1000)),
        ("org/model@stage1-step1000-tokens3B", ("org/model@stage1", 1000)),
        ("runs/checkpoint-best", None),
        ("gpt2", None),
    ],
)
def test_a_name_says_the_training_and_the_step(name: str, step: tuple[str, int] | None) -> None:
    assert step_of(name) == step


def test_folders_come_in_the_order_of_their_steps(tmp_path: Path) -> None:
    for name in ("checkpoint-1000", "checkpoint-500", "checkpoint-best", "runs"):
        (tmp_path / name).mkdir()
    (tmp_path / "checkpoint-7").write_text("is a file")
    found = [f"{tmp_path}/checkpoint-500", f"{tmp_path}/checkpoint-1000"]
    assert list_checkpoints(tmp_path) == found


def test_revisions_on_the_hub_come_in_the_order_of_their_steps(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    branches, tags = (
        [SimpleNamespace(name=name) for name in names]
        for names in (["main", "step1000", "step512"], ["step2000"])
    )
    refs = SimpleNamespace(branches=branches, tags=tags)
    monkeypatch.setattr(series, "list_repo_refs", {"org/model": refs}.__getitem__)
    steps = [f"org/model@step{number}" for number in (512, 1000, 2000)]
    assert list_checkpoints("org/model") == steps


def test_a_folder_without_checkpoints_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ScoringError, match=r"holds no checkpoints; name a folder of folders"):
        list_checkpoints(tmp_path)


def test_a_hub_out_of_reach_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(model: str) -> None:
        raise HTTPError(f"no route to {model}")

    monkeypatch.setattr(series, "list_repo_refs", fail)
    with pytest.raises(ScoringError, match=r"does not list its revisions \(no route to org/m\)"):
        list_checkpoints("org/m")


def test_a_place_that_is_neither_folder_nor_model_is_an_error() -> None:
    with pytest.raises(ScoringError, match=r"^no/such/folder: is not a folder, and the Hub"):
        list_checkpoints("no/such/folder")
