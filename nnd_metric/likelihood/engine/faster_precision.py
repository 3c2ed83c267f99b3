"""What computes faster than float32 on a device, and how far it rounds."""

import time
from functools import cache
from typing import NamedTuple

import torch

from nnd.metric.likelihood.engine.precision import PRECISIONS
from nnd.metric.likelihood.engine.scoring import Matmul
from nnd.metric.likelihood.models.loaded_model import LoadedModel

# A CPU that multiplies bfloat16 itself is many times as fast; one that converts it is slower.
_GAIN = 3.0
_SIZE = 768  # of the matrices: those of a small model


class FasterPrecision(NamedTuple):
    """An offer: a sentence on the option that computes faster, and how far it rounds.

    `rounding` is in nats per scored token.
    """

    offer: str
    rounding: float


def faster_precision(loaded: LoadedModel, matmul: Matmul) -> FasterPrecision | None:
    """Return what would be faster for a model; None if it computes fast already.

    On a CPU this is measured, once per process, in a tenth of a second.
    """
    if loaded.dtype != "float32" or loaded.quantised or matmul == "high":
        return None
    rounding = PRECISIONS["bfloat16"].rounding
    if loaded.device.type == "cuda":
        offer = (
            "GPUs have no fast attention in float32; --dtype bfloat16 is several times as fast, "
            "and --matmul high multiplies faster"
        )
        return FasterPrecision(offer, rounding)
    if loaded.device.type != "cpu" or bfloat16_gain() < _GAIN:
        return None
    offer = "--dtype bfloat16 takes about a third of the time on this CPU, which multiplies it"
    return FasterPrecision(offer, rounding)  # GPT-2: 4.4 seconds for 14.3; BART: 2.9 for 9.1


@cache
def bfloat16_gain() -> float:
    """Measure how many times as fast as float32 this CPU multiplies bfloat16."""
    return _seconds(torch.float32) / _seconds(torch.bfloat16)


def _seconds(dtype: torch.dtype) -> float:
    left, right = (torch.ones((_SIZE, _SIZE), dtype=dtype) for _ in range(2))
    taken = []
    for _ in range(4):  # the first also prepares the kernel
        start = time.perf_counter()
        _ = left @ right
        taken.append(time.perf_counter() - start)
    return min(taken)
