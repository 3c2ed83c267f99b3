"""The speeds of models, measured in runs and stored for later estimates."""

import json
import platform
from collections.abc import Sequence
from typing import Final

import torch

from nnd.metric.likelihood import LoadedModel
from nnd.metric.run.cost.flops import needed_flops
from nnd.metric.text import Encoded
from nnd.schemas import add_fact, read_facts

ENOUGH_S: Final = 0.2
"""Shortest work of a model, in seconds, whose speed is stored: below, its first calls dominate."""

_FILE: Final = "operation_speeds.json"


def known_speed(loaded: LoadedModel) -> float | None:
    """Return the operations per second of a model's last run on this device and in this dtype.

    The result is None if no run that was long enough was measured.
    """
    found = read_facts(_FILE).get(_key(loaded))
    return None if found is None else float(found)


def keep_speed(loaded: LoadedModel, rows: Sequence[Encoded], seconds: float) -> None:
    """Store the speed of a model that read some requests, if it took long enough.

    Loading, encoding and the proof are not in the seconds.
    """
    if seconds >= ENOUGH_S and rows:
        add_fact(_FILE, _key(loaded), needed_flops(loaded, rows) / seconds)


def _key(loaded: LoadedModel) -> str:
    if loaded.device.type == "cuda":
        device = torch.cuda.get_device_name(loaded.device)
    else:
        device = f"{loaded.device.type} of {platform.node()}, {torch.get_num_threads()} threads"
    return json.dumps([loaded.name, device, loaded.dtype, loaded.quantised])
