"""Which model is scored next, and on which device: by what models need and devices have free."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import torch

from nnd.metric.engine import Scoring, choose_budget, full_speed_bytes
from nnd.metric.models import Loading, Skeleton, load_skeleton
from nnd.schemas import ScoringError

_PROCESS: Final = 2**29
"""What CUDA itself takes of a GPU for each process, about."""


class Size(NamedTuple):
    """What a model takes of a device, in bytes.

    Attributes:
        least: What it cannot do without: its weights; 0 where that is not known.
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

    def take(self, size: Size) -> int:
        """Put a model here, and return the bytes that it takes: at most those that are free."""
        taken = min(size.room, self.free)
        self.free -= taken
        self.models += 1
        return taken

    def give_back(self, taken: int) -> None:
        """Let a model go that took so many bytes."""
        self.free += taken
        self.models -= 1


def find_devices() -> list[Device]:
    """Return the GPUs that torch sees, with the memory that is free on each now."""
    return [
        Device(f"cuda:{number}", torch.cuda.mem_get_info(number)[0])
        for number in range(torch.cuda.device_count())
    ]


def place(waiting: Mapping[str, Size], devices: Sequence[Device]) -> tuple[str, Device] | None:
    """Return the largest model that fits, and where: on the device with the fewest models.

    Of those with as few, it is the one with the most free memory. None means that all have to wait.
    """
    for name in sorted(waiting, key=lambda name: -waiting[name].room):
        fitting = [device for device in devices if device.fits(waiting[name])]
        if fitting:
            return name, min(fitting, key=lambda device: (device.models, -device.free))
    return None


def measure(name: str, model: str, scoring: Scoring, loading: Loading, largest: Device) -> Size:
    """Return what a model takes, from its configuration alone.

    A model whose configuration does not say it gets a device for itself.

    Args:
        name: What results call it.
        model: Hub id or folder.
        scoring: How it scores.
        loading: How it is loaded, on the largest device.
        largest: The device with the most free memory.

    Raises:
        ScoringError: If its weights do not fit the largest device.
    """
    try:
        skeleton = load_skeleton(model, loading)
        weights = _PROCESS + skeleton.weight_bytes
        room = weights + _working_bytes(skeleton, scoring)
    except Exception:  # noqa: BLE001 - code of models fails in any way; what loads it says why
        return Size(0, largest.free)
    if skeleton.quantised is not None:
        return Size(0, room)
    if weights > largest.free:
        raise ScoringError(
            f"{name}: its weights need {weights / 1e9:.1f} GB, and no device has more than "
            f"{largest.free / 1e9:.1f} GB free ({largest.name}); use --device-map auto, "
            "--quantise bnb-nf4 or a smaller --dtype"
        )
    return Size(weights, room)


def _working_bytes(skeleton: Skeleton, scoring: Scoring) -> int:
    return full_speed_bytes(skeleton, scoring.token_budget or choose_budget(skeleton))
