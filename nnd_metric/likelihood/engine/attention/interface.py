"""The attention that a packed model uses instead of its own.

transformers hands queries, keys and values of a whole row to `attend`, which refuses requests that
it would get wrong, and calls a kernel. A mask of the whole row is never made.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import torch
from transformers import AttentionInterface, PreTrainedModel

from nnd.metric.likelihood.engine.attention.kernel import CannotPackError, Choose, LayerNeeds
from nnd.metric.likelihood.engine.attention.row_layout import Layout

NAME = "nnd_packed"

# Arguments that models pass to their attention without effect on the result.
_HARMLESS = {"position_ids", "cache_position", "use_cache", "output_attentions", "is_causal"}

_LAYOUT: ContextVar[tuple[Layout, Choose]] = ContextVar("layout")


@contextmanager
def packed_attention(model: PreTrainedModel) -> Iterator[None]:
    """Let a model attend through `attend`, and restore it at the end.

    Raises:
        CannotPackError: If the model's attention cannot be replaced.
    """
    before = {module.config._attn_implementation for module in _parts(model)}  # noqa: SLF001 - the only place that says it
    if len(before) > 1 or not all(part._can_set_attn_implementation() for part in _parts(model)):  # noqa: SLF001 - asking first avoids a warning
        raise CannotPackError("the model does not let its attention be replaced")
    AttentionInterface.register(NAME, attend)
    try:
        model.set_attn_implementation(NAME)
        yield
    finally:
        model.set_attn_implementation(before.pop())


@contextmanager
def laid_out(layout: Layout, choose: Choose) -> Iterator[None]:
    """Give `attend` the layout of the row during one forward pass.

    Raises:
        CannotPackError: If no layer called it: the model mixes its tokens in some other way.
    """
    token = _LAYOUT.set((layout, choose))
    try:
        yield
    finally:
        _LAYOUT.reset(token)
    if not layout.calls[0]:
        raise CannotPackError("its layers do not call the attention they are given")


def current_layout() -> Layout:
    """Return the layout of the row that is in the model."""
    return _LAYOUT.get()[0]


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
    softcap: float | None = None,
    s_aux: torch.Tensor | None = None,
    **options: Any,  # noqa: ANN401 - whatever a model passes
) -> tuple[torch.Tensor, None]:
    """Attend within a row, or from it to the encoder's (the signature is transformers').

    Args:
        module: The layer.
        query: [1, heads, row, size].
        key: [1, key heads, row of keys, size].
        value: [1, key heads, row of keys, size of values].
        attention_mask: Must be None; a model that makes its own mask is refused.
        scaling: Factor of the scores; None means 1/sqrt(size).
        dropout: Must be 0, as models are in evaluation mode.
        sliding_window: How many tokens a query sees, itself included.
        position_bias: [1, heads, 1, 2 * reach - 1], added to the score of a key by its distance
            from the query, as laid out by `positions`; a single number means no bias.
        softcap: Largest absolute score (`LayerNeeds.cap`).
        s_aux: [heads], scores of sinks (`LayerNeeds.sinks`).
        options: Any other option that is not None and might change the numbers is refused.

    Returns:
        [1, row, heads, size of values], and None for the weights.

    Raises:
        CannotPackError: If the model needs something that is not supported here.
    """
    layout, choose = _LAYOUT.get()
    layout.calls[0] += 1
    odd = [name for name, given in options.items() if given is not None and name not in _HARMLESS]
    if odd or attention_mask is not None or dropout:
        raise CannotPackError(f"its attention uses {', '.join(odd) or 'a mask or dropout'}")
    causal = options.get("is_causal")
    causal = getattr(module, "is_causal", True) if causal is None else causal
    crossing = bool(layout.encoded) and not causal
    if position_bias is not None and position_bias.numel() == 1:
        position_bias = None
    if crossing and position_bias is not None:
        raise CannotPackError("it adds a bias to its attention to the encoder")
    if sliding_window is not None and (crossing or not layout.causal):
        raise CannotPackError("its encoder attends in windows")
    if sliding_window is not None and sliding_window >= layout.reach:
        sliding_window = None
    needs = LayerNeeds(crossing, scaling, sliding_window, position_bias, softcap, s_aux)
    layout = layout.on(query.device)
    kernel = choose(query, key, value, layout, needs)
    return kernel(query, key, value, layout, needs)[None], None


def _parts(model: PreTrainedModel) -> list[PreTrainedModel]:
    return [module for module in model.modules() if isinstance(module, PreTrainedModel)]
