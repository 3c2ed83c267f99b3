"""The sizes of a model's network that decide its operations (`flops`)."""

import math
import re
from typing import Any

from torch import nn

from nnd.metric.likelihood import LoadedModel, number_in
from nnd.metric.run.cost.flops import FlopShape

_ACROSS = re.compile(
    r"(encoder_attn|EncDecAttention|cross_?attn|cross_?attention)\..*?(k|v|key|value)(_proj)?\.weight$"
)
"""Weights that make keys and values of the context for a decoder."""

_EXPERTS = re.compile(r"(^|\.)experts\.")
_CHOSEN = ("num_experts_per_tok", "num_experts_per_token", "moe_topk", "moe_k")
_ALL = ("num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts")


def flop_shape(loaded: LoadedModel) -> FlopShape:
    """Return the sizes of a model on which the operations of its work depend."""
    model: Any = loaded.model
    head = _head_weights(model)
    if loaded.is_masked:
        names = ("hidden_size", "num_hidden_layers")
        key = 4 * math.prod(number_in(model.config, (name,), 0) for name in names)
        return FlopShape("masked", 0, _matrix_weights(model, model.base_model), 0, key, head)
    decoder = model.get_decoder()
    weights, key = _matrix_weights(model, decoder), _per_key(model, decoder)
    if not loaded.is_encoder_decoder:
        return FlopShape("decoder-only", weights, weights, key, key, head)
    encoder = model.get_encoder()
    named = decoder.named_parameters()
    across: int = sum(weight.numel() for name, weight in named if _ACROSS.search(name))
    read, fed = _matrix_weights(model, encoder) + across, weights - across
    return FlopShape("encoder-decoder", read, fed, _per_key(model, encoder), key, head)


def _matrix_weights(model: Any, stack: Any) -> int:  # noqa: ANN401 - models share no type
    """Return the weights of a stack's matrices that one token goes through."""
    embeddings = {
        id(weight)
        for module in stack.modules()
        if isinstance(module, nn.Embedding)
        for weight in module.parameters()
    }
    matrices = [
        (name, weight)
        for name, weight in stack.named_parameters()
        if weight.dim() > 1 and id(weight) not in embeddings
    ]
    in_experts: int = sum(weight.numel() for name, weight in matrices if _EXPERTS.search(name))
    everywhere: int = sum(weight.numel() for _, weight in matrices) - in_experts
    return everywhere + round(in_experts * _share_of_experts(_config_of(model, stack)))


def _share_of_experts(config: Any) -> float:  # noqa: ANN401 - as above
    """Return the share of its experts that a mixture sends a token through."""
    chosen, known = number_in(config, _CHOSEN, 0), number_in(config, _ALL, 0)
    return chosen / known if chosen and known else 1.0


def _per_key(model: Any, stack: Any) -> int:  # noqa: ANN401 - as above
    """Return the operations for each key that a query sees, in all layers of a stack."""
    config = _config_of(model, stack)
    head, heads = (
        number_in(config, names, 0) for names in (("head_dim", "d_kv"), ("num_attention_heads",))
    )
    width = head * heads or number_in(config, ("hidden_size",), 0)
    lists = (len(part) for part in stack.children() if isinstance(part, nn.ModuleList))
    return int(4 * width * max(lists, default=0))


def _config_of(model: Any, stack: Any) -> Any:  # noqa: ANN401 - as above
    """Return the configuration of a stack: in FSMT, that of the model."""
    return getattr(stack, "config", model.config)


def _head_weights(model: Any) -> int:  # noqa: ANN401 - as above
    head = model.get_output_embeddings()
    if head is None:
        config = model.config.get_text_config()
        return int(config.vocab_size * config.hidden_size)
    return int(head.weight.numel())
