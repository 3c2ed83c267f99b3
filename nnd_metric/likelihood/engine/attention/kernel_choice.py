"""The choice of a kernel for a layer's attention, by device, dtype and the layer's needs."""

from contextlib import suppress

import torch

from nnd.metric.likelihood.engine.attention.blocks import attend_blocks
from nnd.metric.likelihood.engine.attention.flexible import attend_flexibly
from nnd.metric.likelihood.engine.attention.kernel import Kernel, LayerNeeds
from nnd.metric.likelihood.engine.attention.row_layout import Layout

_HELD = 2**27  # most scores of a row that are held: 256 MiB in half precision


def choose_fastest(
    query: torch.Tensor, _key: torch.Tensor, value: torch.Tensor, layout: Layout, needs: LayerNeeds
) -> Kernel:
    """Choose a kernel (a `Choose`).

    Blocks serve windows, biases, caps and sinks well while their scores are few: compiling
    FlexAttention takes as much time as it saves. On CPUs and MPS blocks are fastest, and float32
    has no other kernel.
    """
    if query.is_cuda:
        with suppress(ImportError):  # an older torch has no such kernel
            from nnd.metric.likelihood.engine.attention.varlen import (  # noqa: PLC0415 - slow
                attend_varlen,
                takes_varlen,
            )

            if takes_varlen(query, value, needs):
                return attend_varlen
    by_head = any(each is not None for each in (needs.bias, needs.cap, needs.sinks))
    plain = needs.window is None and not by_head
    if plain or needs.crossing or not query.is_cuda:
        return attend_blocks
    held = (query.shape[1] if by_head else 1) * sum(block.size for block in layout.blocks)
    return attend_flexibly if held > _HELD else attend_blocks
