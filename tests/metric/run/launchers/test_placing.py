"""Models are scored side by side only where there is something to place."""

from collections.abc import Callable
from typing import Any

import pytest

from nnd.metric.likelihood import LoadedModel, Loading, Model
from nnd.metric.run.launchers import side_by_side
from nnd.metric.run.launchers.schedule import Device
from nnd.metric.run.scoring_task import whole_task
from nnd.metric.run.survival import Trouble


@pytest.fixture
def gpus(monkeypatch: pytest.MonkeyPatch) -> list[Device]:
    """Two GPUs; models that would be scored give the name of the way."""
    there = [Device("cuda:0", 1), Device("cuda:1", 1)]
    monkeypatch.setattr(side_by_side, "find_devices", lambda: there)
    monkeypatch.setattr(side_by_side, "score_here", lambda *_: "in turn")
    monkeypatch.setattr(side_by_side, "score_side_by_side", lambda _, devices: devices)
    return there


def way(*models: Model, loading: Loading = Loading()) -> Any:
    named = {str(number): model for number, model in enumerate(models)}
    return side_by_side.score_models(whole_task(named, {}, {}, loading, Trouble(fatal=True)))


@pytest.mark.parametrize(
    ("number", "loading", "placed"),
    [
        (2, Loading(), True),
        (1, Loading(), False),
        (0, Loading(), False),
        (2, Loading(device="cuda:1"), False),
        (2, Loading(device_map="auto"), False),
    ],
)
def test_models_take_turns_unless_there_are_several_gpus_to_choose_from(
    *, gpus: list[Device], number: int, loading: Loading, placed: bool
) -> None:
    del gpus[number:]
    assert way("a", "b", loading=loading) == (gpus if placed else "in turn")


@pytest.mark.usefixtures("gpus")
def test_a_loaded_model_stays_where_it_is(loaded: Callable[[str], LoadedModel]) -> None:
    assert way("a") == way("a", loaded("gpt2")) == "in turn"
