"""The models of the benchmark, and the least work that a workload asks of each.

Sizes are those of gpt2 and facebook/bart-base; weights are random and seeded, so that every process
builds the same model and nothing is downloaded.

**Unique tokens**: those of the unique contexts, plus (tokens + 1) of the unique candidates of each.
A context counts with the special tokens around it, a candidate without; before the candidate of a
decoder-only model stands the separator, which is a part of its first token.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
import transformers as hf
from torch import nn
from transformers import PreTrainedModel, PreTrainedTokenizerBase
from transformers.pytorch_utils import Conv1D

from nnd.metric.likelihood import LoadedModel
from nnd.metric.run.cost.flop_shapes import flop_shape
from nnd.metric.run.cost.flops import needed_flops as flops_of
from nnd.metric.text import Encoded

Request = tuple[str, str]
Lengths = list[tuple[int, list[int]]]
"""Tokens of each unique context, and of each of its unique candidates."""

MODELS = ("gpt2", "bart")

BART_BASE = {
    "vocab_size": 50_265,
    "d_model": 768,
    "encoder_layers": 6,
    "decoder_layers": 6,
    "encoder_attention_heads": 12,
    "decoder_attention_heads": 12,
    "encoder_ffn_dim": 3072,
    "decoder_ffn_dim": 3072,
    "max_position_embeddings": 1024,
}

SEED = 20221207
_WINDOW = 1024


def build_model(name: str, **changes: Any) -> PreTrainedModel:
    """Build a model with seeded random weights, in float32 and without dropout.

    Args:
        name: One of MODELS.
        changes: Fields of the config that shall differ.
    """
    with torch.random.fork_rng():
        torch.manual_seed(SEED)
        if name == "gpt2":
            return hf.GPT2LMHeadModel(hf.GPT2Config(**changes)).eval()
        config = hf.BartConfig(**BART_BASE | changes)
        return hf.BartForConditionalGeneration(config).eval()


def load_tokenizer(name: str, folder: Path) -> PreTrainedTokenizerBase:
    """Return the tokenizer that `workloads.prepare` wrote, in the class of the model's family."""
    trained = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))["model"]
    merges = [(left, right) for left, right in trained["merges"]]
    kind = hf.GPT2Tokenizer if name == "gpt2" else hf.BartTokenizer
    return kind(vocab=trained["vocab"], merges=merges, model_max_length=_WINDOW)


def candidate_ids(tokenizer: PreTrainedTokenizerBase, model: str, candidate: str) -> list[int]:
    """Return the tokens of a candidate, without special tokens."""
    text = f" {candidate}" if model == "gpt2" else candidate
    return list(tokenizer(text, add_special_tokens=False).input_ids)


def lengths(tokenizer: PreTrainedTokenizerBase, model: str, requests: Sequence[Request]) -> Lengths:
    """Count the tokens of each unique context and of its unique candidates."""
    candidates: dict[str, dict[str, int]] = {}
    for context, candidate in dict.fromkeys(requests):
        number = len(candidate_ids(tokenizer, model, candidate))
        candidates.setdefault(context, {})[candidate] = number
    return [
        (len(tokenizer(context).input_ids), [*numbers.values()])
        for context, numbers in candidates.items()
    ]


def unique_tokens(work: Lengths) -> int:
    """Count the tokens that a tool must read which reads nothing twice."""
    return sum(context + sum(n + 1 for n in candidates) for context, candidates in work)


def needed_flops(model: PreTrainedModel, work: Lengths) -> int:
    """Return the operations that the workload needs, as `nnd_metric/run/cost/flops.py` has them.

    Of a candidate of N tokens, N + 1 enter the model; all are scored by an encoder-decoder, with
    its end token, and N by others.
    """
    unscored = 0 if model.config.is_encoder_decoder else 1
    rows = [
        Encoded(
            (number,) * context,
            (0,) * (n + 1),
            (0,) * (n + 1),
            (False,) * unscored + (True,) * (n + 1 - unscored),
            truncated=False,
        )
        for number, (context, candidates) in enumerate(work)
        for n in candidates
    ]
    loaded = LoadedModel(model, None, "benchmark")  # type: ignore[arg-type]
    return flops_of(flop_shape(loaded), rows)


def layer_matrices(model: PreTrainedModel) -> Iterator[tuple[int, int]]:
    """Yield the shape of every matrix of a model's layers, what it reads first."""
    stacks: Any = model.transformer.h if hasattr(model, "transformer") else model.model
    for module in stacks.modules():
        if isinstance(module, nn.Linear):
            yield module.in_features, module.out_features
        elif isinstance(module, Conv1D):
            yield module.nx, module.nf


def head_flops(model: PreTrainedModel, work: Lengths) -> int:
    """Return those of `needed_flops` that make logits."""
    scored = sum(n for _, candidates in work for n in candidates)
    if model.config.is_encoder_decoder:
        scored += sum(len(candidates) for _, candidates in work)  # the end tokens
    return int(2 * model.config.hidden_size * model.config.vocab_size * scored)


def weight_bytes(model: PreTrainedModel) -> int:
    """Return the memory of a model's weights, each counted once."""
    return sum(weight.numel() * weight.element_size() for weight in model.parameters())


def checksum(model: PreTrainedModel) -> float:
    """Return the sum of a model's weights: it tells whether two processes built the same model."""
    return sum(float(weight.sum(dtype=torch.float64)) for weight in model.parameters())
