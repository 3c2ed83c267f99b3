"""Large models go first, to idle devices first, and beside others only where there is room."""

from nnd.metric.placement.schedule import Device, Size, place


def placed(waiting: dict[str, Size], *devices: Device) -> tuple[str, str] | None:
    found = place(waiting, devices)
    return found and (found[0], found[1].name)


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
