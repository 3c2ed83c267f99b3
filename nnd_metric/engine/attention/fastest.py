"""Which kernel a layer's attention takes, by device, dtype, and what the layer asks."""

import torch

from nnd.metric.engine.attention.blocks import attend_blocks
from nnd.metric.engine.attention.flexible import attend_flexibly
from nnd.metric.engine.attention.kernel import Asked, Kernel
from nnd.metric.engine.attention.layout import Layout
from nnd.metric.engine.attention.varlen import attend_varlen, takes_varlen

_MASKS = 2**27  # scores of a row beyond which masks are not kept: 256 MiB in half precision


def choose_fastest(
    query: torch.Tensor, _key: torch.Tensor, value: torch.Tensor, layout: Layout, asked: Asked
) -> Kernel:
    """Choose a kernel (a `Choose`).

    Masks of blocks serve windows and biases well as long as they are small: what FlexAttention
    saves, compiling it takes. On CPUs and MPS blocks are fastest, and float32 has no other kernel.
    """
    if takes_varlen(query, value, asked):
        return attend_varlen
    masked = asked.window is not None or asked.bias is not None
    heads = query.shape[1] if asked.bias is not None else 1
    if query.is_cuda and masked and heads * sum(block.size for block in layout.blocks) > _MASKS:
        return attend_flexibly
    return attend_blocks
