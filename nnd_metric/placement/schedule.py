"""Which model is scored next, and on which device: by what models need and devices have free."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import torch

from nnd.metric.engine import Scoring, bytes_per_position, choose_budget
from nnd.metric.models import Loading, load_skeleton
from nnd.schemas import ScoringError

_PROCESS: Final = 2**29
"""What CUDA itself takes of a GPU for each process, about."""

_LOGITS: Final = 2**28 * 12
"""What logits take at most (`engine.memory.choose_logits`)."""


class Size(NamedTuple):
    """What a model takes of a device, in bytes.

    Attributes:
        least: What it needs at all: its weights; 0 where it is not known, of quantised ones.
        room: What it uses when it scores at full speed.
    """

    least: int
    room: int


@dataclass(slots=True)
class Device:
    """A device.

    Attributes:
        name: What torch calls it.
        free: The bytes that no model takes.
        models: How many models are on it.
    """

    name: str
    free: int
    models: int = 0

    def fits(self, size: Size) -> bool:
        """Say whether a model may go here: beside others, it has to have room for full speed."""
        return (size.room if self.models else size.least) <= self.free


def place(waiting: Mapping[str, Size], devices: Sequence[Device]) -> tuple[str, Device] | None:
    """Return the largest model that fits, and where: on the device with the fewest models.

    Of those with as few, it is the one with the most free memory. None means that all have to wait.
    """
    for name in sorted(waiting, key=lambda name: -waiting[name].room):
        fitting = [device for device in devices if device.fits(waiting[name])]
        if fitting:
            return name, min(fitting, key=lambda device: (device.models, -device.free))
    return None


def find_devices() -> list[Device]:
    """Return the GPUs that torch sees."""
    return [
        Device(f"cuda:{number}", torch.cuda.mem_get_info(number)[0])
        for number in range(torch.cuda.device_count())
    ]


def measure(
    name: str, model: str, scoring: Scoring, loading: Loading, devices: Sequence[Device]
) -> Size:
    """Return what a model takes, from its configuration alone.

    Raises:
        ScoringError: If it fits none of the devices, or cannot be loaded.
    """
    skeleton = load_skeleton(model, loading)
    least = _PROCESS + skeleton.weight_bytes
    budget = scoring.token_budget or choose_budget(skeleton)
    room = least + budget * bytes_per_position(skeleton) + _LOGITS
    if skeleton.quantised is not None:
        return Size(0, room)
    if least > max(device.free for device in devices):
        free = ", ".join(f"{device.name} has {device.free / 1e9:.1f} GB" for device in devices)
        raise ScoringError(
            f"{name}: its weights take {least / 1e9:.1f} GB, and no device has as much free "
            f"({free}); use --device-map auto, --quantise or a smaller --dtype"
        )
    return Size(least, room)
