"""The choice of a kernel for a layer's attention, by device, dtype and the layer's needs."""

import torch

from nnd.metric.likelihood.engine.attention.blocks import attend_blocks
from nnd.metric.likelihood.engine.attention.flexible import attend_flexibly
from nnd.metric.likelihood.engine.attention.kernel import Kernel, LayerNeeds
from nnd.metric.likelihood.engine.attention.row_layout import Layout
from nnd.metric.likelihood.engine.attention.varlen import attend_varlen, takes_varlen

_MASKS = 2**27  # most scores of a row for which masks are kept: 256 MiB in half precision


def choose_fastest(
    query: torch.Tensor, _key: torch.Tensor, value: torch.Tensor, layout: Layout, needs: LayerNeeds
) -> Kernel:
    """Choose a kernel (a `Choose`).

    Masks of blocks serve windows and biases well while they are small: compiling FlexAttention
    takes as much time as it saves. On CPUs and MPS blocks are fastest, and float32 has no other
    kernel.
    """
    if takes_varlen(query, value, needs):
        return attend_varlen
    masked = needs.window is not None or needs.bias is not None
    heads = query.shape[1] if needs.bias is not None else 1
    if query.is_cuda and masked and heads * sum(block.size for block in layout.blocks) > _MASKS:
        return attend_flexibly
    return attend_blocks
