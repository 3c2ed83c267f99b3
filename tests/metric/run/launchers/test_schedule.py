"""Large models go first, to idle devices first, and beside others only where there is room."""

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from support.refusals import refusal

from nnd.metric.likelihood import Loading, Scoring
from nnd.metric.likelihood.models.load_model import load_model
from nnd.metric.run.launchers.schedule import Device, Size, measure, place

Saved = Callable[[str], Path]
_PLENTY = Device("cpu", 2**50)


def measured(model: Path, largest: Device = _PLENTY, *, budget: int | None = None) -> Size:
    return measure("name", str(model), Scoring(token_budget=budget), Loading(), largest)


SMALL, MIDDLE, LARGE = Size(1, 2), Size(2, 4), Size(5, 9)


def beside(free: int, name: str = "a") -> Device:
    """A device on which a model runs."""
    return Device(name, free, models=1)


@pytest.mark.parametrize(
    ("sizes", "devices", "placed"),
    [
        # The largest goes first, to the device with the most room.
        ((SMALL, LARGE, MIDDLE), (Device("a", 10), Device("b", 20)), (LARGE, "b")),
        # An idle device goes before one with more room.
        ((SMALL,), (beside(20), Device("b", 3)), (SMALL, "b")),
        # A small one goes beside another while a large one waits.
        ((SMALL, LARGE), (beside(4),), (SMALL, "a")),
        # The weights have to fit an idle device, and the whole room a shared one.
        ((LARGE,), (Device("a", 5),), (LARGE, "a")),
        ((LARGE,), (Device("a", 4),), None),
        ((LARGE,), (beside(8),), None),
        ((LARGE,), (beside(9),), (LARGE, "a")),
    ],
)
def test_a_model_goes_where_there_is_room(
    sizes: tuple[Size, ...], devices: tuple[Device, ...], placed: tuple[Size, str] | None
) -> None:
    waiting = {str(size): size for size in sizes}
    found = place(waiting, devices)
    assert (found and (waiting[found[0]], found[1].name)) == placed


def test_all_models_get_their_turn_and_no_device_holds_more_than_it_has() -> None:
    chance = random.Random(0)
    for _ in range(50):
        devices = [Device(name, chance.randint(10, 20)) for name in "abc"[: chance.randint(1, 3)]]
        before = [replace(device) for device in devices]
        most = max(device.free for device in devices)
        leasts = {str(number): chance.randint(0, most) for number in range(20)}
        waiting = {
            name: Size(least, least + chance.randint(0, 20)) for name, least in leasts.items()
        }
        running: list[tuple[Device, int]] = []
        while waiting or running:
            while (found := place(waiting, devices)) is not None:
                name, device = found
                running.append((device, device.take(waiting.pop(name))))
                assert device.free >= 0
            device, taken = running.pop(chance.randrange(len(running)))
            device.give_back(taken)
        assert devices == before


def test_a_model_takes_its_weights_and_room_for_what_is_held_at_once(saved: Saved) -> None:
    """What torch takes for the weights is exact; 4 bytes for each of the positions and layers."""
    model = saved("gpt2")
    loaded = load_model(model).model
    weights = sum(each.nbytes for each in loaded.parameters())
    size, half = measured(model, budget=200), measured(model, budget=100)
    assert size.least == half.least == 2**29 + weights
    config = loaded.config
    position = 4 * (8 * 32 + 3 * 4 * 32 + 4 * config.num_hidden_layers * 32)
    assert config.hidden_size == 32
    assert size.room - half.room == 100 * position / 0.4


def test_a_model_whose_weights_fit_no_device_is_an_error_that_says_what_to_do(
    saved: Saved,
) -> None:
    with refusal("model.no-memory", "name") as caught:
        measured(saved("gpt2"), Device("cuda:1", 2**29))
    assert "cuda:1" in caught.value.what


def test_a_model_that_does_not_say_its_size_gets_a_device_for_itself(tmp_path: Path) -> None:
    assert measured(tmp_path / "nowhere", Device("cpu", 17)) == Size(0, 17)


def test_quantised_weights_may_be_smaller_than_they_look(saved: Saved) -> None:
    pytest.importorskip("bitsandbytes")
    loading = Loading(quantise="bnb-nf4")
    size = measure("name", str(saved("gpt2")), Scoring(), loading, Device("cpu", 2**29))
    assert size.least == 0
    assert size.room > 2**29
