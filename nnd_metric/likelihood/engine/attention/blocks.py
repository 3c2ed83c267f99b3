"""Attention block by block: the kernel for every device, dtype, window and bias."""

from collections.abc import Sequence

import torch
from torch.nn.functional import scaled_dot_product_attention
from transformers.integrations.sdpa_attention import repeat_kv

from nnd.metric.likelihood.engine.attention.kernel import LayerNeeds
from nnd.metric.likelihood.engine.attention.row_layout import Block, Layout


def attend_blocks(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, layout: Layout, needs: LayerNeeds
) -> torch.Tensor:
    """Attend block by block (a `Kernel`)."""
    out = query.new_empty((query.shape[2], query.shape[1], value.shape[3]))
    for block in layout.crossings if needs.crossing else layout.blocks:
        mask, is_causal = _mask(block, layout, query, needs)
        keys, values = (_stretches(row, block.keys) for row in (key, value))
        shared = query.shape[1] // key.shape[1]
        if mask is not None and query.is_cuda:  # masked, CUDA has no fast kernel for shared heads
            keys, values, shared = repeat_kv(keys, shared), repeat_kv(values, shared), 1
        attended = scaled_dot_product_attention(
            query[:, :, block.queries],
            keys,
            values,
            attn_mask=mask,
            is_causal=is_causal,
            scale=needs.scaling,
            enable_gqa=shared > 1,
        )
        out[block.queries] = attended[0].transpose(0, 1)
    return out


def _stretches(row: torch.Tensor, places: Sequence[slice]) -> torch.Tensor:
    if len(places) == 1:
        return row[:, :, places[0]]
    return torch.cat([row[:, :, place] for place in places], dim=2)


def _mask(
    block: Block, layout: Layout, query: torch.Tensor, needs: LayerNeeds
) -> tuple[torch.Tensor | None, bool]:
    """Return the mask added to a block's scores, and whether the block is plainly causal."""
    window = needs.window
    if window is not None and window >= block.reach:
        window = None
    if window is None and needs.bias is None and block.seen != "some":
        return None, block.seen == "past"
    name = (block.queries.start, window, id(needs.bias))
    if name not in layout.masks:  # kept with its bias, so that no other object gets the bias's id
        layout.masks[name] = _make_mask(block, layout, query, window, needs.bias), needs.bias
    mask: torch.Tensor = layout.masks[name][0]
    return mask, False


def _make_mask(
    block: Block,
    layout: Layout,
    query: torch.Tensor,
    window: int | None,
    bias: torch.Tensor | None,
) -> torch.Tensor:
    row = torch.arange(query.shape[2], device=query.device)
    queries = row[block.queries, None]
    keys = torch.cat([row[place] for place in block.keys])
    hidden = ~layout.sees(window)(None, None, queries, keys)
    mask = torch.zeros_like(hidden, dtype=query.dtype).masked_fill_(hidden, float("-inf"))
    if bias is None:
        return mask
    distance = layout.position[keys] - layout.position[queries]
    return bias[0, :, 0][:, distance + (bias.shape[-1] - 1) // 2] + mask
