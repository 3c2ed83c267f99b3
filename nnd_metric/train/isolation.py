"""Isolation of scoring during training, which must not affect the training.

Modes of modules and their attention are restored elsewhere (`evaluation_mode`,
`attention.packed_attention`), and scoring computes no gradients. What remains are random states,
and the mixed precision of accelerate.
"""

import random
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch
from transformers import PreTrainedModel

from nnd.metric.likelihood import replaced


@contextmanager
def undisturbed(model: PreTrainedModel) -> Iterator[None]:
    """Let a model compute in the precision of its weights, and restore all random states.

    With mixed precision, accelerate replaces the model's `forward` by one in half precision. The
    model's own `forward` is used here, so that the numbers are those of the checkpoint. The model
    must not be in a wrapper for parallel training.
    """
    own = model.__dict__.get("_original_forward", model.forward)
    devices = {weights.device for weights in model.parameters()}
    cuda = [device for device in devices if device.type == "cuda"]
    python, legacy = random.getstate(), np.random.get_state()  # noqa: NPY002 - what Trainer seeds
    try:
        with torch.random.fork_rng(cuda, device_type="cuda"), replaced(model, forward=own):
            yield
    finally:
        random.setstate(python)
        np.random.set_state(legacy)  # noqa: NPY002
