"""The speeds of models, measured in runs and stored for later estimates."""

import json
import platform
from typing import Final

import torch

from nnd.metric.likelihood import LoadedModel
from nnd.schemas import add_fact, read_facts

ENOUGH: Final = 20_000
"""Smallest number of tokens of a run whose speed is stored: below, start and proof dominate."""

_FILE: Final = "speeds.json"


def known_speed(loaded: LoadedModel) -> float | None:
    """Return the tokens per second of a model's last run on this device and in this dtype.

    The time includes encoding, proof and store, but not loading. The result is None if no run with
    enough tokens was measured.
    """
    found = read_facts(_FILE).get(_key(loaded))
    return None if found is None else float(found)


def keep_speed(loaded: LoadedModel, tokens: int, seconds: float) -> None:
    """Store the speed of a model that read enough tokens; loading it is not in the seconds."""
    if tokens >= ENOUGH:
        add_fact(_FILE, _key(loaded), tokens / seconds)


def _key(loaded: LoadedModel) -> str:
    if loaded.device.type == "cuda":
        device = torch.cuda.get_device_name(loaded.device)
    else:
        device = f"{loaded.device.type} of {platform.node()}, {torch.get_num_threads()} threads"
    return json.dumps([loaded.name, device, loaded.dtype, loaded.quantised])
