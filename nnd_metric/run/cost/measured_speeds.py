"""The speeds of models, measured in runs and stored for later estimates."""

import json
import platform
from typing import TYPE_CHECKING, Final

from nnd.schemas import add_fact, read_facts

if TYPE_CHECKING:
    from nnd.metric.likelihood import LoadedModel

ENOUGH_S: Final = 0.2
"""Shortest work of a model, in seconds, whose speed is stored: below, its first calls dominate."""

_FILE: Final = "operation_speeds.json"


def known_speed(key: str) -> float | None:
    """Return the operations per second of a model's last run on this device and in this dtype.

    The result is None if no run that was long enough was measured.
    """
    found = read_facts(_FILE).get(key)
    return None if found is None else float(found)


def keep_speed(key: str, operations: int, seconds: float) -> None:
    """Store the speed of a model, if its work took long enough.

    Loading, encoding and the proof are not in the seconds.
    """
    if seconds >= ENOUGH_S and operations:
        add_fact(_FILE, key, operations / seconds)


def speed_key(loaded: "LoadedModel") -> str:
    """Return the name of a model's speed on its device and in its dtype."""
    import torch  # noqa: PLC0415 - slow; whoever has the model has it

    if loaded.device.type == "cuda":
        device = torch.cuda.get_device_name(loaded.device)
    else:
        device = f"{loaded.device.type} of {platform.node()}, {torch.get_num_threads()} threads"
    return json.dumps([loaded.name, device, loaded.dtype, loaded.quantised])
