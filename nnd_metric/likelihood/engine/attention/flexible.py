"""Attention by FlexAttention: windows, biases, caps of long rows, without scores in memory.

What a token sees, and what is added to its scores, are functions that torch compiles into one
kernel. Compiling takes seconds, once per process.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch.nn.attention.flex_attention import BlockMask, flex_attention

from nnd.metric.likelihood.engine.attention.kernel import LayerNeeds, add_sinks
from nnd.metric.likelihood.engine.attention.row_layout import Layout, to_device

TILE = 128  # the kernel skips tiles of this many queries and keys in which nothing is seen


def attend_flexibly(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, layout: Layout, needs: LayerNeeds
) -> torch.Tensor:
    """Attend within a row (a `Kernel`; not for attention to the encoder's row)."""
    name = ("tiles", needs.window)
    if name not in layout.masks:
        layout.masks[name] = _block_mask(layout, needs.window)
    weights: dict[str, Any] = {}
    if needs.sinks is not None:
        from torch.nn.attention.flex_attention import AuxRequest  # noqa: PLC0415 - not in 2.6

        weights["return_aux"] = AuxRequest(lse=True)
    attended = _compiled(query.device.type)(
        query,
        key,
        value,
        score_mod=_score_mod(needs, layout),
        block_mask=layout.masks[name],
        scale=needs.scaling,
        enable_gqa=query.shape[1] != key.shape[1],
        **weights,
    )
    if needs.sinks is None:
        return _of_row(attended)
    attended, more = attended
    out = _of_row(attended)
    add_sinks(out, more.lse[0], needs.sinks)
    return out


def _of_row(attended: torch.Tensor) -> torch.Tensor:
    return attended[0].transpose(0, 1)


def seen_tiles(layout: Layout) -> npt.NDArray[np.bool_]:
    """Return which tiles of queries (rows) and keys (columns) may hold something seen."""
    ends = np.cumsum([0, *layout.lengths])
    starts, ends = ends[:-1], ends[1:]
    count = int(layout.beginning > 0) + len(layout.contexts)
    context = layout.whose[count:]
    behind = np.flatnonzero(context < count) + count  # candidates with a context in this row
    context = context[context < count]
    begun = np.array([layout.beginning])  # which all see
    none, all_ = np.zeros(1, dtype=np.int64), ends[-1:]
    queries = (
        np.concatenate([starts, starts[behind], none]),
        np.concatenate([ends, ends[behind], all_]),
    )
    keys = (
        np.concatenate([starts, starts[context], none]),
        np.concatenate([ends, ends[context], begun]),
    )
    (top, bottom), (left, right) = (
        (first // TILE, -(-last // TILE)) for first, last in (queries, keys)
    )
    tiles = -(-int(ends[-1]) // TILE)
    corners = np.zeros((tiles + 1, tiles + 1), dtype=np.int64)  # rectangles are written as sums
    for rows, columns, sign in (
        (top, left, 1),
        (top, right, -1),
        (bottom, left, -1),
        (bottom, right, 1),
    ):
        np.add.at(corners, (rows, columns), sign)
    seen = corners.cumsum(0).cumsum(1)[:-1, :-1] > 0
    return np.tril(seen) if layout.causal else seen  # contexts come first


def _block_mask(layout: Layout, window: int | None) -> BlockMask:
    seen = seen_tiles(layout)
    order = np.argsort(~seen, axis=1, kind="stable").astype(np.int32)  # tiles that are seen first
    return BlockMask.from_kv_blocks(
        to_device(seen.sum(1, dtype=np.int32)[None, None], layout.device),
        to_device(order[None, None], layout.device),
        BLOCK_SIZE=TILE,
        mask_mod=layout.sees(window),
        seq_lengths=(sum(layout.lengths), sum(layout.lengths)),
        compute_q_blocks=False,
    )


def _score_mod(needs: LayerNeeds, layout: Layout) -> Callable[..., torch.Tensor] | None:
    """Return a function that caps a score, or adds a bias by distance to it; None for neither."""
    if needs.bias is None and needs.cap is None:
        return None
    cap = table = None
    position, at_zero = layout.position, 0
    if needs.cap is not None:  # a tensor, as are the limits of a window
        cap = to_device(np.array(needs.cap, dtype=np.float32), layout.device)
    if needs.bias is not None:
        table, at_zero = needs.bias[0, :, 0].contiguous(), (needs.bias.shape[-1] - 1) // 2

    def change(
        score: torch.Tensor,
        _batch: torch.Tensor,
        head: torch.Tensor,
        query: torch.Tensor,
        key: torch.Tensor,
    ) -> torch.Tensor:
        if cap is not None:
            score = cap * torch.tanh(score / cap)
        if table is not None:
            score = score + table[head, position[key] - position[query] + at_zero]
        return score

    return change


@cache
def _compiled(device: str) -> Any:  # noqa: ANN401 - what `torch.compile` makes of a function
    """Compile FlexAttention: without compilation it would hold all scores of a row in memory."""
    return flex_attention if device == "cpu" else torch.compile(flex_attention, dynamic=True)
