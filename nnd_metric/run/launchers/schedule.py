"""Choose the next model and its device by the memory that models need and devices have free."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import torch

from nnd.metric.likelihood import Loading, Scoring, choose_budget, full_speed_bytes, load_skeleton
from nnd.schemas import ScoringError

_CUDA_BYTES: Final = 2**29
"""Approximate memory that CUDA itself takes on a GPU for each process."""


class Size(NamedTuple):
    """The memory that a model needs on a device, in bytes.

    `least` is what the weights take, 0 if unknown; `room` is enough to score at full speed.
    """

    least: int
    room: int


@dataclass(slots=True)
class Device:
    """A device, its name in torch (`cuda:0`), and the bytes that are not taken by its models."""

    name: str
    free: int
    models: int = 0

    def fits(self, size: Size) -> bool:
        """Whether a model fits; on a device with other models, it needs room for full speed."""
        return (size.room if self.models else size.least) <= self.free

    def take(self, size: Size) -> int:
        """Reserve memory for a model, at most what is free; return the number of bytes."""
        taken = min(size.room, self.free)
        self.free -= taken
        self.models += 1
        return taken

    def give_back(self, taken: int) -> None:
        """Release the memory of a model, as returned by `take`."""
        self.free += taken
        self.models -= 1


def find_devices() -> list[Device]:
    """Return the GPUs that torch sees, with the memory that is free on each at present."""
    return [
        Device(f"cuda:{number}", torch.cuda.mem_get_info(number)[0])
        for number in range(torch.cuda.device_count())
    ]


def place(waiting: Mapping[str, Size], devices: Sequence[Device]) -> tuple[str, Device] | None:
    """Return the largest model that fits a device, and that device; None if no model fits.

    It is the device with the fewest models, and of several such devices the one with the most free
    memory.
    """
    for name in sorted(waiting, key=lambda name: -waiting[name].room):
        fitting = [device for device in devices if device.fits(waiting[name])]
        if fitting:
            return name, min(fitting, key=lambda device: (device.models, -device.free))
    return None


def measure(name: str, model: str, scoring: Scoring, loading: Loading, largest: Device) -> Size:
    """Compute the size of a model from its configuration.

    If that is impossible, the model gets the size of the largest device, which it then has to
    itself.
    """
    try:
        skeleton = load_skeleton(model, loading)
        weights = _CUDA_BYTES + skeleton.weight_bytes
        budget = scoring.token_budget or choose_budget(skeleton)
        room = weights + full_speed_bytes(skeleton, budget)
    except Exception:  # noqa: BLE001 - models' code may raise anything; loading reports the reason
        return Size(0, largest.free)
    if skeleton.quantised is not None:
        return Size(0, room)
    if weights > largest.free:
        raise ScoringError(
            "model.no-memory",
            f"the weights need {weights / 1000000000.0:.1f} GB, but no device has more than "
            f"{largest.free / 1000000000.0:.1f} GB free ({largest.name})",
            name,
            "use --device-map auto, --quantise bnb-nf4 or a smaller --dtype",
        )
    return Size(weights, room)
