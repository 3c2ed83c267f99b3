"""How exactly a model computes, given its dtype or the format of quantised weights.

The quantised weights themselves count as exact: they are what is scored. Paths may differ only in
how they multiply them.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import torch

from nnd.metric.likelihood.engine.scoring import Matmul
from nnd.metric.likelihood.models.loaded_model import LoadedModel
from nnd.schemas import ScoringError


@dataclass(frozen=True, slots=True)
class Precision:
    """The uncertainty of a way of computing, in nats per scored token.

    Attributes:
        bound: Largest accepted difference between a path and `paths.ALONE`.
        rounding: How far `ALONE` itself may be from exact arithmetic: all paths round alike in many
            places, so comparing them does not show it.
        each: Whether the bound holds for every single request, because rounding is far below it, or
            only for their mean.
        spill: How far later tokens of a causal model may change earlier logits, as a share of the
            change in later ones. Untrained masked models reach 0.006 and more.
    """

    bound: float
    rounding: float
    each: bool
    spill: float = 0.005


# Half precision rounds differently for every shape of a batch; the bounds are those that tested
# models needed, with room for deeper ones.
PRECISIONS: Final = {
    "float64": Precision(1e-4, 1e-14, each=True),
    "float32": Precision(1e-4, 1e-6, each=True),
    "float16": Precision(1e-2, 2e-3, each=False),
    "bfloat16": Precision(5e-2, 2e-2, each=False),
}

# Weights of 4 bits and the like are multiplied in half precision, whatever the dtype of the rest,
# by one kernel for a single row and by another for many.
_WEIGHTS_ONLY: Final = PRECISIONS["bfloat16"]

# These also round the activations to 8 bits or less, with steps that may depend on the rest of the
# batch: LLM.int8 treats columns with an outlier in any row separately. The bound is what tiny
# models with large random weights needed on a CPU: 0.03 on average, 0.08 at most.
_ACTIVATIONS_TOO: Final = Precision(1e-1, 5e-2, each=False, spill=0.1)
_ROUND_ACTIVATIONS: Final = (
    *("bnb-int8", "fp8", "fbgemm_fp8", "nvfp4", "fp_quant", "bitnet", "quark"),
    *(f"compressed-tensors-{kind}" for kind in ("int", "float", "naive", "nvfp4", "mixed")),
)


_TF32: Final = PRECISIONS["float16"]  # with the same number of mantissa bits


def check_matmul(loaded: LoadedModel, matmul: Matmul) -> None:
    """Check that a model can multiply in this precision."""
    if matmul == "high" and (loaded.device.type, loaded.dtype) != ("cuda", "float32"):
        raise ScoringError(
            "option.conflict",
            "--matmul high needs float32 on a CUDA GPU, but this model computes in "
            f"{loaded.dtype} on {loaded.device.type}",
            loaded.name,
            "leave it out",
        )


@contextmanager
def multiplying(matmul: Matmul) -> Iterator[None]:
    """Multiply float32 matrices in this precision, and restore torch's setting at the end."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision(matmul)
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


def precision_of(loaded: LoadedModel) -> Precision:
    """Return how exactly a model computes."""
    floats = PRECISIONS.get(loaded.dtype, PRECISIONS["bfloat16"])
    if (loaded.device.type, loaded.dtype) == ("cuda", "float32"):
        floats = floats if torch.get_float32_matmul_precision() == "highest" else _TF32
    if not loaded.is_compressed:
        return floats
    rounds = str(loaded.quantised).startswith(_ROUND_ACTIVATIONS)
    return _ACTIVATIONS_TOO if rounds else _WEIGHTS_ONLY
