"""Checkpoints of a training: found in a folder, the earliest first."""

from pathlib import Path

import pytest
from support.refusals import refusal

from nnd.metric.likelihood import list_checkpoints, step_of


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


def test_a_folder_without_checkpoints_is_an_error(tmp_path: Path) -> None:
    with refusal("model.no-checkpoints", "test_a_folder_without_checkpoi0"):
        list_checkpoints(tmp_path)


def test_a_place_that_is_neither_folder_nor_model_is_an_error() -> None:
    with refusal("model.no-checkpoints", "no/such/folder"):
        list_checkpoints("no/such/folder")
