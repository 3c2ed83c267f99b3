"""GGUF files of tiny models with a byte-level tokenizer, as llama.cpp's converter writes them."""

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import gguf
import numpy as np
import torch

Keys = Mapping[str, Any]


def write_gguf(
    model: Any,
    tokenizer: Any,
    path: Path,
    architecture: str = "llama",
    *,
    keys: Keys = MappingProxyType({}),
    without: Collection[str] = (),
    tensors: Mapping[str, torch.Tensor] = MappingProxyType({}),
) -> Path:
    """Write a model in float32.

    `keys` are added to those of the configuration or replace them: one without a point in front is
    of the architecture, `.tokenizer.ggml.pre` of another namespace. Keys and tensors named in
    `without` are left out; `tensors` are added.
    """
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    own = {f"{architecture}.{name}": each for name, each in _keys(model, architecture).items()}
    given = {
        name.removeprefix(".") if name.startswith(".") else f"{architecture}.{name}": each
        for name, each in keys.items()
    }
    left = {f"{architecture}.{name}" for name in without} | {each[1:] for each in without}
    for name, value in (own | _tokenizer(tokenizer) | given).items():
        if name not in left:
            _add(writer, name, value)
    for name, tensor in (_tensors(model, architecture) | dict(tensors)).items():
        if name not in without:
            writer.add_tensor(name, np.ascontiguousarray(tensor.detach().float().numpy()))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _add(writer: Any, name: str, value: Any) -> None:
    kinds = {bool: writer.add_bool, int: writer.add_uint32, float: writer.add_float32}
    kinds |= {str: writer.add_string, list: writer.add_array}
    kinds[type(value)](name, value)


def _keys(model: Any, architecture: str) -> dict[str, Any]:
    config = model.config
    sizes = {"vocab_size": config.vocab_size, "embedding_length": config.hidden_size}
    sizes["block_count"] = config.num_hidden_layers
    if architecture == "mamba":
        return sizes | {
            "context_length": 1048576,
            "feed_forward_length": 0,
            "attention.head_count": 0,
            "ssm.conv_kernel": config.conv_kernel,
            "ssm.inner_size": config.intermediate_size,
            "ssm.state_size": config.state_size,
            "ssm.time_step_rank": config.time_step_rank,
            "ssm.dt_b_c_rms": False,
            "attention.layer_norm_rms_epsilon": config.layer_norm_epsilon,
        }
    sizes |= {"context_length": config.max_position_embeddings}
    sizes |= {"attention.head_count": config.num_attention_heads}
    if architecture == "gpt2":
        inner = config.n_inner or 4 * config.hidden_size
        sizes |= {"feed_forward_length": inner}
        return sizes | {"attention.layer_norm_epsilon": config.layer_norm_epsilon}
    rope = config.rope_parameters
    head = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    sizes |= {
        "feed_forward_length": config.intermediate_size,
        "attention.head_count_kv": config.num_key_value_heads,
        "attention.key_length": head,
        "attention.value_length": head,
        "attention.layer_norm_rms_epsilon": config.rms_norm_eps,
        "rope.dimension_count": int(head * rope.get("partial_rotary_factor", 1)),
        "rope.freq_base": float(rope.get("full_attention", rope)["rope_theta"]),
    }
    if getattr(config, "sliding_window", None):
        sizes |= {"attention.sliding_window": config.sliding_window}
    return sizes


def _tensors(model: Any, architecture: str) -> dict[str, torch.Tensor]:
    """Return the tensors by llama.cpp's names, laid out as it reads them."""
    arch = {name: each for each, name in gguf.MODEL_ARCH_NAMES.items()}[architecture]
    names, found = gguf.get_tensor_name_map(arch, model.config.num_hidden_layers), {}
    tied = model.config.tie_word_embeddings
    for name, tensor in model.state_dict().items():
        stem, point, end = name.rpartition(".")
        if end not in {"weight", "bias"}:
            stem, point, end = name, "", ""
        if tied and stem == "lm_head":
            continue
        place = names.get_name(stem)
        assert place is not None, name
        found[f"{place}{point}{end}"] = _laid_out(place, tensor, model.config, architecture)
    return found


def _laid_out(place: str, tensor: torch.Tensor, config: Any, architecture: str) -> torch.Tensor:
    kind = place.rpartition(".")[2]
    if architecture == "llama" and kind in {"attn_q", "attn_k"}:
        query = kind == "attn_q"
        heads = config.num_attention_heads if query else config.num_key_value_heads
        return _in_pairs(tensor, heads)
    if architecture.startswith("gemma") and "norm" in kind:
        return tensor + 1
    turned = {"attn_qkv", "attn_output", "ffn_up", "ffn_down"}
    if architecture == "gpt2" and kind in turned and tensor.dim() > 1:
        return tensor.T
    if kind == "ssm_a":
        return -torch.exp(tensor)
    return tensor.squeeze(1) if kind == "ssm_conv1d" and tensor.dim() > 1 else tensor


def _in_pairs(tensor: torch.Tensor, heads: int) -> torch.Tensor:
    """llama.cpp turns neighbouring numbers, transformers the halves of a head."""
    rows, *rest = tensor.shape
    halves = tensor.reshape(heads, 2, rows // heads // 2, *rest)
    return halves.swapaxes(1, 2).reshape(tensor.shape)


def _tokenizer(tokenizer: Any) -> dict[str, Any]:
    state = json.loads(tokenizer.backend_tokenizer.to_str())
    special = {each["content"] for each in state["added_tokens"]}
    tokens = sorted(state["model"]["vocab"], key=state["model"]["vocab"].__getitem__)
    keys = {
        "ggml.model": "gpt2",
        "ggml.pre": "gpt-2",
        "ggml.tokens": tokens,
        "ggml.token_type": [3 if token in special else 1 for token in tokens],
        "ggml.merges": [" ".join(merge) for merge in state["model"]["merges"]],
        "ggml.bos_token_id": 0,
        "ggml.eos_token_id": 0,
        "ggml.add_bos_token": False,
    }
    if tokenizer.chat_template:
        keys["chat_template"] = tokenizer.chat_template
    return {f"tokenizer.{name}": each for name, each in keys.items()}
