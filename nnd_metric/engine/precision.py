"""How exactly a model computes: what its dtype, or the format of quantised weights, leaves open.

The weights of a quantised model are exact, whatever they were before: they are what is scored. What
its paths may differ by is how they are multiplied.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import torch

from nnd.metric.engine.options import Matmul
from nnd.metric.models import LoadedModel
from nnd.schemas import ScoringError


@dataclass(frozen=True, slots=True)
class Precision:
    """What a way of computing leaves open, in nats per scored token.

    Attributes:
        bound: How far a path may be from `paths.ALONE`.
        rounding: How far `ALONE` itself may be from what exact arithmetic would give: all paths
            round alike in many places, so that no comparison of them shows it.
        each: Whether the bound holds for every single request, where rounding is far below it, and
            not only for their mean.
        spill: How far later tokens of a causal model may move the logits before them, in shares of
            how far they move those behind. Untrained masked models: from 0.006.
    """

    bound: float
    rounding: float
    each: bool
    spill: float = 0.005


# Half precision rounds differently for every shape of a batch; the bounds are what models under
# test needed, and leave room for deeper ones.
PRECISIONS: Final = {
    "float64": Precision(1e-4, 1e-14, each=True),
    "float32": Precision(1e-4, 1e-6, each=True),
    "float16": Precision(1e-2, 2e-3, each=False),
    "bfloat16": Precision(5e-2, 2e-2, each=False),
}

# Weights of 4 bits and the like are multiplied in half precision, whatever the dtype of the rest,
# by one kernel for a single row and another for many.
_WEIGHTS_ONLY: Final = PRECISIONS["bfloat16"]

# These round what is multiplied to 8 bits or less as well, and with steps that may depend on what
# else is in the batch: LLM.int8 takes columns apart in which any row has an outlier. The bound is
# what tiny models with large random weights needed on a CPU: 0.03 on average, 0.08 at most.
_ACTIVATIONS_TOO: Final = Precision(1e-1, 5e-2, each=False, spill=0.1)
_ROUND_ACTIVATIONS: Final = (
    *("bnb-int8", "fp8", "fbgemm_fp8", "nvfp4", "fp_quant", "bitnet", "quark"),
    *(f"compressed-tensors-{kind}" for kind in ("int", "float", "naive", "nvfp4", "mixed")),
)


_TF32: Final = PRECISIONS["float16"]  # with as many bits after the point


def check_matmul(loaded: LoadedModel, matmul: Matmul) -> None:
    """Check that a model can compute so.

    Raises:
        ScoringError: If TF32 is asked for where there is none.
    """
    if matmul == "high" and (loaded.device.type, loaded.dtype) != ("cuda", "float32"):
        raise ScoringError(
            f"{loaded.name}: matmul high is for float32 on a CUDA GPU, and this model computes in "
            f"{loaded.dtype} on {loaded.device.type}; leave it out"
        )


@contextmanager
def multiplying(matmul: Matmul) -> Iterator[None]:
    """Let float32 matrices be multiplied so, whatever torch was set to, and set it back."""
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
    quantised = loaded.quantised
    if quantised is None or quantised.startswith("gguf"):  # which is unpacked into the dtype
        return floats
    return _ACTIVATIONS_TOO if quantised.startswith(_ROUND_ACTIVATIONS) else _WEIGHTS_ONLY
