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


def placed(waiting: dict[str, Size], *devices: Device) -> tuple[str, str] | None:
    found = place(waiting, devices)
    return found and (found[0], found[1].name)


def measured(model: Path, largest: Device = _PLENTY, *, budget: int | None = None) -> Size:
    return measure("name", str(model), Scoring(token_budget=budget), Loading(), largest)


def test_the_largest_goes_first_to_the_device_with_the_most_room() -> None:
    waiting = {"small": Size(1, 2), "large": Size(5, 9), "middle": Size(2, 4)}
    assert placed(waiting, Device("a", 10), Device("b", 20)) == ("large", "b")


def test_an_idle_device_goes_before_one_with_more_room() -> None:
    assert placed({"m": Size(1, 2)}, Device("a", 20, models=1), Device("b", 3)) == ("m", "b")


def test_a_small_model_goes_beside_another_while_a_large_one_waits() -> None:
    waiting = {"small": Size(1, 2), "large": Size(5, 9)}
    assert placed(waiting, Device("a", 4, models=1)) == ("small", "a")


def test_the_weights_have_to_fit_an_idle_device_and_the_whole_room_a_shared_one() -> None:
    waiting = {"m": Size(5, 9)}
    assert placed(waiting, Device("a", 5)) == ("m", "a")
    assert placed(waiting, Device("a", 4)) is None
    assert placed(waiting, Device("a", 8, models=1)) is None
    assert placed(waiting, Device("a", 9, models=1)) == ("m", "a")


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
