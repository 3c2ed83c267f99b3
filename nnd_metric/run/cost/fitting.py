"""Whether this machine can score a model: it can be loaded, and it fits into memory."""

from nnd.metric.likelihood import (
    Loading,
    bytes_per_position,
    choose_budget,
    device_bytes,
    load_skeleton,
)
from nnd.metric.run.cost.estimate import scaled
from nnd.schemas import ScoringError

_BYTES = {"bnb-int8": 1.0, "bnb-nf4": 0.5}
"""Quantisation → bytes of a weight."""


def check_scorable(model: str, loading: Loading, *, any_size: bool = False) -> None:
    """Check that a model can be loaded, and scored in the memory of its device.

    Its configuration and its tokenizer are loaded, but not its weights.

    Args:
        model: Hub id, NAME@REVISION, or folder.
        loading: How it would be loaded.
        any_size: Whether it may be larger than the memory of the device.

    Raises:
        ScoringError: If this is not so.
    """
    loaded = load_skeleton(model, loading)
    memory = device_bytes(loaded.device)
    if any_size or memory is None or loading.device_map is not None:
        return
    each = _BYTES.get(loading.quantise or "")
    weights = loaded.weight_bytes if each is None else loaded.parameters * each
    needed = weights + choose_budget(loaded) * bytes_per_position(loaded)
    if needed > memory:
        raise ScoringError(
            "model.no-memory",
            f"does not fit: {scaled(needed)}B of {scaled(memory)}B in {loaded.dtype} on "
            f"{loaded.device}",
            model,
        )
