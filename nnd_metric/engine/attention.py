"""Attention over one packed row: every stretch of it looks only where it may.

Contexts and candidates of many requests stand end to end in one row. transformers hands queries,
keys and values of the whole row to `attend`, which cuts them into blocks: a context sees itself, a
candidate its context and its own past, a decoder the encoder states of its own context. No block
looks into another request, and no mask of the whole row is ever made.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import torch
from torch.nn.functional import scaled_dot_product_attention
from transformers import AttentionInterface, PreTrainedModel

NAME = "nnd_packed"

# What models pass to their attention that does not change what is computed here.
_HARMLESS = {"position_ids", "cache_position", "use_cache", "output_attentions", "is_causal"}


class CannotPackError(Exception):
    """The model does something that packing would get wrong."""


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Some neighbouring queries that see the same stretches of keys.

    Attributes:
        queries: Their places in the row.
        keys: Places in the row of keys; the last stretch is the queries' own, if any is.
        causal: Whether a query sees, in its own stretch, only itself and what stands before it in
            its own candidate.
        candidates: Lengths of the candidates that the queries are made of, in order; () for a
            context.
    """

    queries: slice
    keys: tuple[slice, ...]
    causal: bool
    candidates: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """Where everything is in the row of one forward pass.

    Attributes:
        own: Blocks of self-attention; together their queries are the row.
        other: Blocks of attention to the encoder's row.
        positions: int64 [row], the position of every token within its own request.
        calls: How many layers were served, so that a model that never asked is noticed.
        masks: Additive masks made so far, by block, window and bias, with that bias: layers share
            them.
    """

    own: Sequence[Block]
    other: Sequence[Block]
    positions: torch.Tensor
    calls: list[int] = field(default_factory=lambda: [0])
    masks: dict[tuple[int, int | None, int | None], "_Made"] = field(default_factory=dict)


_Made: TypeAlias = tuple[torch.Tensor, torch.Tensor | None]

_LAYOUT: ContextVar[Layout] = ContextVar("layout")


@contextmanager
def packed_attention(model: PreTrainedModel) -> Iterator[None]:
    """Let a model attend through `attend`, and give it back as it was.

    Raises:
        CannotPackError: If its attention cannot be exchanged.
    """
    before = {module.config._attn_implementation for module in _parts(model)}  # noqa: SLF001 - the only place that says it
    if len(before) > 1 or not all(part._can_set_attn_implementation() for part in _parts(model)):  # noqa: SLF001 - asking first avoids a warning
        raise CannotPackError("its attention cannot be exchanged")
    AttentionInterface.register(NAME, attend)
    try:
        model.set_attn_implementation(NAME)
        yield
    finally:
        model.set_attn_implementation(before.pop())


@contextmanager
def laid_out(layout: Layout) -> Iterator[None]:
    """Tell `attend` where everything stands during one forward pass.

    Raises:
        CannotPackError: If no layer asked: the model mixes its tokens in some other way.
    """
    token = _LAYOUT.set(layout)
    try:
        yield
    finally:
        _LAYOUT.reset(token)
    if not layout.calls[0]:
        raise CannotPackError("its layers do not use the attention they are given")


def attend(  # noqa: PLR0917 - transformers' signature
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    scaling: float | None = None,
    dropout: float = 0.0,
    sliding_window: int | None = None,
    position_bias: torch.Tensor | None = None,
    **options: Any,  # noqa: ANN401 - whatever a model passes
) -> tuple[torch.Tensor, None]:
    """Attend block by block (the signature is transformers').

    Args:
        module: The layer.
        query: [1, heads, row, size].
        key: [1, key heads, row of keys, size].
        value: [1, key heads, row of keys, size of values].
        attention_mask: None; a model that makes its own is refused.
        scaling: Factor of the scores; None means 1/sqrt(size).
        dropout: 0, as models are in evaluation mode.
        sliding_window: How many tokens a query sees, itself included.
        position_bias: [1, heads, 1, 2 * reach - 1], added to the score of a key by its distance
            from the query, as `positions` lays it out; one number where there is none.
        options: Anything else that is not None and might change the numbers is refused.

    Returns:
        [1, row, heads, size of values], and None for the weights.

    Raises:
        CannotPackError: If the model asks for something not done here.
    """
    layout = _LAYOUT.get()
    layout.calls[0] += 1
    odd = [name for name, given in options.items() if given is not None and name not in _HARMLESS]
    if odd or attention_mask is not None or dropout:
        raise CannotPackError(f"its attention takes {', '.join(odd) or 'a mask or dropout'}")
    causal = options.get("is_causal")
    causal = getattr(module, "is_causal", True) if causal is None else causal
    crossing = bool(layout.other) and not causal
    blocks = layout.other if crossing else layout.own
    if position_bias is not None and position_bias.numel() == 1:
        position_bias = None
    if crossing and position_bias is not None:
        raise CannotPackError("it adds a bias to its attention to the encoder")
    out = query.new_empty((1, query.shape[2], query.shape[1], value.shape[3]))
    for block in blocks:
        mask, from_start = _mask(block, layout, query, sliding_window, position_bias)
        out[:, block.queries] = scaled_dot_product_attention(
            query[:, :, block.queries],
            _stretches(key, block.keys),
            _stretches(value, block.keys),
            attn_mask=mask,
            is_causal=from_start,
            scale=scaling,
            enable_gqa=key.shape[1] != query.shape[1],
        ).transpose(1, 2)
    return out, None


def _parts(model: PreTrainedModel) -> list[PreTrainedModel]:
    return [module for module in model.modules() if isinstance(module, PreTrainedModel)]


def _stretches(row: torch.Tensor, places: Sequence[slice]) -> torch.Tensor:
    if len(places) == 1:
        return row[:, :, places[0]]
    return torch.cat([row[:, :, place] for place in places], dim=2)


def _mask(
    block: Block,
    layout: Layout,
    query: torch.Tensor,
    window: int | None,
    bias: torch.Tensor | None,
) -> tuple[torch.Tensor | None, bool]:
    """Return what is added to a block's scores, and whether it is plainly causal instead."""
    if window is not None and block.causal and _span(block) <= window:
        window = None
    if window is not None and not block.causal:
        raise CannotPackError("its encoder attends in windows")
    if window is None and bias is None:
        if not block.causal:
            return None, False
        if len(block.candidates) < 2 and block.keys == (block.queries,):  # noqa: PLR2004 - one
            return None, True
    name = (id(block), window, None if bias is None else id(bias))
    if name not in layout.masks:
        layout.masks[name] = _make_mask(block, layout, query, window, bias), bias
    return layout.masks[name][0], False


def _span(block: Block) -> int:
    """Return an upper bound of the distance from a query to its first key, plus one."""
    return sum(place.stop - place.start for place in block.keys)


def _make_mask(
    block: Block,
    layout: Layout,
    query: torch.Tensor,
    window: int | None,
    bias: torch.Tensor | None,
) -> torch.Tensor:
    own = layout.positions[block.queries]
    seen = torch.cat([layout.positions[place] for place in block.keys])
    distance = seen[None, :] - own[:, None]
    mask = torch.zeros_like(distance, dtype=query.dtype)
    if block.causal:
        hidden = distance > 0
        if block.candidates:
            lengths = torch.tensor(block.candidates, device=own.device)
            whose = torch.arange(len(lengths), device=own.device).repeat_interleave(lengths)
            hidden[:, len(seen) - len(own) :] |= whose[None, :] != whose[:, None]
        if window is not None:
            hidden |= distance <= -window
        mask.masked_fill_(hidden, float("-inf"))
    if bias is None:
        return mask
    reach = (bias.shape[-1] + 1) // 2
    return bias[0, :, 0][:, (distance + reach - 1).clamp(0, 2 * reach - 2)] + mask
