"""Attention block by block: the kernel for every device, dtype, window and bias."""

from collections.abc import Sequence

import torch
from torch.nn.functional import scaled_dot_product_attention
from transformers.integrations.sdpa_attention import repeat_kv

from nnd.metric.likelihood.engine.attention.kernel import LayerNeeds
from nnd.metric.likelihood.engine.attention.row_layout import QUERIES, Block, Layout


def attend_blocks(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, layout: Layout, needs: LayerNeeds
) -> torch.Tensor:
    """Attend block by block (a `Kernel`)."""
    out = query.new_empty((query.shape[2], query.shape[1], value.shape[3]))
    for block in layout.crossings if needs.crossing else layout.blocks:
        mask, is_causal = _mask(block, layout, query, needs)
        keys, values = (_stretches(row, block.keys) for row in (key, value))
        shared = query.shape[1] // key.shape[1]
        if _by_formula(needs):
            keys, values = repeat_kv(keys, shared), repeat_kv(values, shared)
            attended = _attend_by_formula(query[:, :, block.queries], keys, values, mask, needs)
            out[block.queries] = attended[0].transpose(0, 1)
            continue
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


def _by_formula(needs: LayerNeeds) -> bool:
    """Whether a layer needs what torch's attention does not offer."""
    return needs.cap is not None or needs.sinks is not None


def _attend_by_formula(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    mask: torch.Tensor | None,
    needs: LayerNeeds,
) -> torch.Tensor:
    """Attend with caps and sinks, holding the scores of `QUERIES` queries at once."""
    made = []
    for start in range(0, query.shape[2], QUERIES):
        some = query[:, :, start : start + QUERIES]
        scale = query.shape[-1] ** -0.5 if needs.scaling is None else needs.scaling
        scores = some @ key.transpose(-1, -2) * scale
        if needs.cap is not None:
            scores = needs.cap * torch.tanh(scores / needs.cap)
        if mask is not None:
            scores = scores + mask[..., start : start + QUERIES, :]
        if needs.sinks is not None:
            sinks = needs.sinks.to(scores.dtype)[None, :, None, None]
            scores = torch.cat([scores, sinks.expand(-1, -1, some.shape[2], 1)], dim=-1)
        exact = torch.promote_types(scores.dtype, torch.float32)
        shares = scores.softmax(-1, dtype=exact)[..., : key.shape[2]]
        made.append(shares.to(value.dtype) @ value)
    return torch.cat(made, dim=2)


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
    is_plain = window is None and needs.bias is None
    if is_plain and block.seen != "some" and not (block.seen == "past" and _by_formula(needs)):
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
