"""How fast models were: what a run has measured, kept for the estimates of later runs."""

import json
import math
import platform
from typing import Any, Final

import torch

from nnd.metric.models import LoadedModel
from nnd.schemas import add_fact, read_facts

ENOUGH: Final = 20_000
"""Tokens of a run whose speed is kept: less is mostly start and proof."""

_FILE: Final = "speeds.json"


def known_speed(loaded: LoadedModel) -> float | None:
    """Return the tokens per second of the last run of a model, on this device and in its dtype.

    Encoding, proof and store are a part of the run; loading is not. None where no run of enough
    tokens was measured.
    """
    found = read_facts(_FILE, _is_speed).get(_key(loaded))
    return None if found is None else float(found)


def keep_speed(loaded: LoadedModel, tokens: int, seconds: float) -> None:
    """Keep how fast a model was, if it read enough tokens to tell.

    Args:
        loaded: The model.
        tokens: How many entered it.
        seconds: How long everything took, but for loading.
    """
    if tokens >= ENOUGH:
        add_fact(_FILE, _is_speed, _key(loaded), tokens / seconds)


def _key(loaded: LoadedModel) -> str:
    if loaded.device.type == "cuda":
        device = torch.cuda.get_device_name(loaded.device)
    else:
        device = f"{loaded.device.type} of {platform.node()}, {torch.get_num_threads()} threads"
    return json.dumps([loaded.name, device, loaded.dtype, loaded.quantised])


def _is_speed(value: Any) -> bool:  # noqa: ANN401 - whatever is in the file
    return type(value) is float and math.isfinite(value) and value > 0
