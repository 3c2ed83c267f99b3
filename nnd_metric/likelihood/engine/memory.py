"""How much goes through the model at once: as much as memory allows and speed gains from."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import torch

from nnd.metric.likelihood.models.loaded_model import LoadedModel
from nnd.schemas import ScoringError

# Positions at once beyond which nothing gets faster: a CPU's caches overflow, a GPU is full.
_ENOUGH_ON_CPU, _ENOUGH = 2_048, 32_768
_SHARE = 0.4  # of the free memory: the rest is for logits, masks and errors of the estimate
_LOGITS, _SHARE_OF_LOGITS = 2**28, 0.2
_BYTES_PER_LOGIT = 12  # the logit, its float32 copy, and the softmax's


def choose_budget(loaded: LoadedModel) -> int:
    """Return how many positions to hold at once on the model's devices, from their free memory.

    It is a power of 2, so that a little more or less memory changes neither batches nor numbers.
    """
    enough = _ENOUGH_ON_CPU if loaded.device.type == "cpu" else _ENOUGH
    free = _least_free_bytes(loaded)
    if free is None:
        return enough
    return min(enough, _power_of_2(_SHARE * free / bytes_per_position(loaded)))


def full_speed_bytes(loaded: LoadedModel, budget: int) -> int:
    """Return how many bytes must be free to hold this many positions and their logits."""
    return int(budget * bytes_per_position(loaded) / _SHARE) + _LOGITS * _BYTES_PER_LOGIT


def choose_logits(loaded: LoadedModel) -> int:
    """Return how many logits to hold at once on a GPU, from its free memory: a power of 2."""
    free = _least_free_bytes(loaded)
    if free is None:
        return _LOGITS
    return min(_LOGITS, _power_of_2(_SHARE_OF_LOGITS * free / _BYTES_PER_LOGIT))


def is_out_of_memory(error: BaseException) -> bool:
    """Say whether an error means that a device, or the machine, has no memory left."""
    if isinstance(error, torch.OutOfMemoryError | MemoryError):
        return True
    message = str(error).lower()
    return isinstance(error, RuntimeError) and (
        "out of memory" in message or "can't allocate memory" in message
    )


@contextmanager
def room_for(loaded: LoadedModel, tokens: int) -> Iterator[None]:
    """Raise an error with advice if memory does not suffice for one request of this size."""
    try:
        yield
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
        raise ScoringError(
            "model.no-memory",
            f"{loaded.device} does not have enough memory for a request of {tokens} tokens",
            loaded.name,
            "use half precision (--dtype bfloat16) or another --device (of nnd evaluate and "
            "nnd train)",
        ) from error


def release(loaded: LoadedModel) -> None:
    """Return memory that torch keeps in reserve to the device."""
    if loaded.device.type == "cuda":
        torch.cuda.empty_cache()
    elif loaded.device.type == "mps":
        torch.mps.empty_cache()


def bytes_per_position(loaded: LoadedModel) -> int:
    """Estimate the memory of one position within a layer, and in a cache of keys and values."""
    config = loaded.model.config.get_text_config()
    hidden = number_in(config, ("hidden_size",), 1024)
    layers = number_in(config, ("num_hidden_layers",), 24)
    names = ("intermediate_size", "n_inner", "ffn_dim", "d_ff", "decoder_ffn_dim")
    inner = number_in(config, names, 4 * hidden)
    within_layer, cached = 8 * hidden + 3 * inner, 4 * layers * hidden
    return (within_layer + cached) * loaded.model.dtype.itemsize


def number_in(config: object, names: Sequence[str], otherwise: int) -> int:
    """Return the number that a config has under the first of some names.

    Of a list, which has a number for each layer (Gemma 3n), it is the largest.
    """
    for name in names:
        value = getattr(config, name, None)
        numbers = [each for each in (value if isinstance(value, list) else [value]) if each]
        if numbers and all(isinstance(each, int) for each in numbers):
            return int(max(numbers))
    return otherwise


def _power_of_2(most: float) -> int:
    """Return the largest power of 2 that is at most `most`, but at least 1."""
    return 1 << (max(1, int(most)).bit_length() - 1)


def device_bytes(device: torch.device) -> int | None:
    """Return the whole memory of a device; None if it is unknown."""
    if device.type == "cuda":
        return int(torch.cuda.get_device_properties(device).total_memory)
    if device.type == "mps":
        return torch.mps.recommended_max_memory()
    return _system_bytes("SC_PHYS_PAGES") if device.type == "cpu" else None


def _least_free_bytes(loaded: LoadedModel) -> int | None:
    """Return what is free on the fullest of the devices that a model computes on."""
    places = getattr(loaded.model, "hf_device_map", None) or {}
    others = {torch.device(place) for place in places.values() if place not in {"cpu", "disk"}}
    found = [_free_bytes(device) for device in {loaded.device, *others}]
    return min((free for free in found if free is not None), default=None)


def _free_bytes(device: torch.device) -> int | None:
    if device.type == "cuda":
        # Memory that torch keeps in reserve counts as used, but is free for us.
        kept = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
        return torch.cuda.mem_get_info(device)[0] + kept
    if device.type == "mps":
        return torch.mps.recommended_max_memory() - torch.mps.driver_allocated_memory()
    if device.type != "cpu":
        return None
    meminfo = Path("/proc/meminfo")  # includes what the page cache would give back
    if meminfo.is_file():
        for line in meminfo.read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    return _system_bytes("SC_AVPHYS_PAGES")


def _system_bytes(pages: str) -> int | None:
    try:
        return os.sysconf(pages) * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError):  # not available everywhere
        return None
