"""The floating-point operations that scoring needs, without repeated reading and padding.

A multiplication and an addition count two, as in Kaplan et al. 2020, § 2.1 (arXiv:2001.08361), and
Hoffmann et al. 2022, appendix F (arXiv:2203.15556). With W the weights of a stack's matrices, d the
width of all its attention heads together, L its layers, and H the weights of the language model's
head:

- decoder-only: 2 W for each token; 4 d L for each key that a query sees (scores and weighted
  values): 1 … C for the tokens of a context of C, C+1 … C+N for those of a candidate of N.
- encoder-decoder: 2 W of the encoder, and of the decoder's keys and values of the context, for each
  context token; 2 W of the rest of the decoder for each candidate token; keys seen are C by each of
  C in the encoder, 1 … N in the decoder, C by each of N across.
- masked: 2 W for each token of each row; keys seen are L by each of L, for a row of L. A candidate
  takes a row for each of its tokens.
- 2 H for each scored token.

A mixture of experts counts the experts that a token goes through. Embeddings, normalisation,
activations, softmax, biases and adapters are not counted; keys that a window hides are counted.
"""

import math
import re
from collections.abc import Sequence
from typing import Any, TypeAlias

from torch import nn

from nnd.metric.likelihood import LoadedModel, number_in
from nnd.metric.text import Encoded, Ids

_ACROSS = re.compile(
    r"(encoder_attn|EncDecAttention|cross_?attn|cross_?attention)\..*?(k|v|key|value)(_proj)?\.weight$"
)
"""Weights that make keys and values of the context for a decoder."""

_EXPERTS = re.compile(r"(^|\.)experts\.")
_CHOSEN = ("num_experts_per_tok", "num_experts_per_token", "moe_topk", "moe_k")
_ALL = ("num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts")


_Works: TypeAlias = Sequence[tuple[int, list[int]]]
"""The tokens of each context, and of each of its candidates."""


def needed_flops(loaded: LoadedModel, rows: Sequence[Encoded]) -> int:
    """Return the floating-point operations that distinct requests need (formula above)."""
    candidates: dict[Ids, list[int]] = {}
    for row in rows:
        candidates.setdefault(row.context, []).append(len(row.inputs))
    works = [(len(context), lengths) for context, lengths in candidates.items()]
    scored = sum(sum(row.scored) for row in rows)
    if loaded.is_masked:
        return _masked(loaded.model, rows) + 2 * _head_weights(loaded.model) * scored
    of_stacks = _encoder_decoder if loaded.is_encoder_decoder else _decoder
    return of_stacks(loaded.model, works) + 2 * _head_weights(loaded.model) * scored


def _masked(model: Any, rows: Sequence[Encoded]) -> int:  # noqa: ANN401 - models share no type
    sizes = (number_in(model.config, (name,), 0) for name in ("hidden_size", "num_hidden_layers"))
    keys = sum(row.length**2 for row in rows)
    tokens = sum(row.length for row in rows)
    return 2 * _matrix_weights(model.base_model) * tokens + 4 * math.prod(sizes) * keys


def _decoder(model: Any, works: _Works) -> int:  # noqa: ANN401 - models share no type
    trunk = model.get_decoder()
    tokens = sum(context + sum(lengths) for context, lengths in works)
    keys = sum(
        _sum_to(context) + sum(_sum_to(context + n) - _sum_to(context) for n in lengths)
        for context, lengths in works
    )
    return 2 * _matrix_weights(trunk) * tokens + _per_key(trunk) * keys


def _encoder_decoder(model: Any, works: _Works) -> int:  # noqa: ANN401 - as above
    encoder, decoder = model.get_encoder(), model.get_decoder()
    named = decoder.named_parameters()
    across: int = sum(weight.numel() for name, weight in named if _ACROSS.search(name))
    read = sum(context for context, _ in works)
    fed = sum(sum(lengths) for _, lengths in works)
    encoder_keys = sum(context * context for context, _ in works)
    decoder_keys = sum(_sum_to(n) + context * n for context, lengths in works for n in lengths)
    matrices = (_matrix_weights(encoder) + across) * read
    matrices += (_matrix_weights(decoder) - across) * fed
    return 2 * matrices + _per_key(encoder) * encoder_keys + _per_key(decoder) * decoder_keys


def _matrix_weights(stack: Any) -> int:  # noqa: ANN401 - as above
    """Return the weights of the matrices that one token goes through."""
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
    return everywhere + round(in_experts * _share_of_experts(stack.config))


def _share_of_experts(config: Any) -> float:  # noqa: ANN401 - as above
    """Return the share of its experts that a mixture sends a token through."""
    chosen, known = number_in(config, _CHOSEN, 0), number_in(config, _ALL, 0)
    return chosen / known if chosen and known else 1.0


def _per_key(stack: Any) -> int:  # noqa: ANN401 - as above
    """Return the operations for each key that a query sees, in all layers of a stack."""
    config = stack.config
    head, heads = (
        number_in(config, names, 0) for names in (("head_dim", "d_kv"), ("num_attention_heads",))
    )
    width = head * heads or number_in(config, ("hidden_size",), 0)
    lists = (len(part) for part in stack.children() if isinstance(part, nn.ModuleList))
    return int(4 * width * max(lists, default=0))


def _head_weights(model: Any) -> int:  # noqa: ANN401 - as above
    head = model.get_output_embeddings()
    if head is None:
        config = model.config.get_text_config()
        return int(config.vocab_size * config.hidden_size)
    return int(head.weight.numel())


def _sum_to(last: int) -> int:
    return last * (last + 1) // 2
