"""Architectures whose configuration transformers builds, and what it leaves out.

It maps some keys of a file to fields, and keeps the defaults of one checkpoint for the others.
"""

from collections.abc import Mapping
from math import isclose
from types import MappingProxyType
from typing import Any

from transformers import PretrainedConfig
from transformers.integrations import ggml

from nnd.metric.likelihood.models.gguf.gguf_file import GGUFFile
from nnd.metric.likelihood.models.gguf.parts import MERGE
from nnd.schemas import ScoringError

_FIELDS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "context_length": ("max_position_embeddings", "n_positions", "seq_length"),
        "embedding_length": ("hidden_size",),
        "feed_forward_length": ("intermediate_size", "ffn_hidden_size", "d_ff"),
        "vocab_size": ("vocab_size",),
        "attention.head_count": ("num_attention_heads",),
        "attention.head_count_kv": ("num_key_value_heads", "num_kv_heads", "num_heads"),
        "attention.key_length": ("head_dim", "d_kv"),
        "attention.value_length": ("head_dim", "d_kv"),
        "attention.layer_norm_epsilon": (
            *("layer_norm_epsilon", "layer_norm_eps", "norm_epsilon", "norm_eps"),
        ),
        "attention.layer_norm_rms_epsilon": ("rms_norm_eps", "norm_eps"),
        "attention.sliding_window": ("sliding_window",),
        "attention.relative_buckets_count": ("relative_attention_num_buckets",),
        "decoder_start_token_id": ("decoder_start_token_id",),
        "decoder_block_count": ("num_decoder_layers",),
        "use_parallel_residual": ("use_parallel_residual", "parallel_attn"),
        "logit_scale": ("logit_scale",),
        "final_logit_softcapping": ("final_logit_softcapping",),
        "expert_count": ("num_experts", "num_local_experts"),
        "expert_used_count": ("num_experts_per_tok",),
        "expert_feed_forward_length": ("moe_intermediate_size", "intermediate_size"),
        "expert_shared_feed_forward_length": ("shared_expert_intermediate_size",),
        "expert_weights_norm": ("norm_topk_prob",),
        "full_attention_interval": ("full_attention_interval",),
        "shortconv.l_cache": ("conv_L_cache",),
        "ssm.conv_kernel": ("linear_conv_kernel_dim",),
        "ssm.state_size": ("linear_key_head_dim",),
        "ssm.group_count": ("linear_num_key_heads",),
        "ssm.time_step_rank": ("linear_num_value_heads",),
    }
)
"""Fields that mean what a key means; the first that a configuration has counts."""

_SET = frozenset(
    {
        *("rope.freq_base", "attention.layer_norm_epsilon"),
        *("expert_feed_forward_length", "expert_shared_feed_forward_length"),
    }
)
"""Keys that are set; of others, more than a field may follow, so that they have to be equal."""

_IDLE: Mapping[str, str] = MappingProxyType(
    {
        "tensor_data_layout": "it says how the tensors are laid out, as transformers expects them",
        "rope.scaling.finetuned": "it says how the model was trained",
    }
)
_TABLES: Any = ggml.GGUF_CONFIG_MAPPING
_BY_FUNCTION = frozenset({"lfm2", "qwen35", "qwen35moe"})
"""Architectures that transformers has no table for, but a function, and a reader of its own."""
_BUILT_FROM = (
    *("block_count", "nextn_predict_layers", "attention.head_count_kv"),
    *("ssm.inner_size", "rope.dimension_sections"),
)
"""Keys that a function of transformers reads, and that are no field as they stand."""

_NAMES: Mapping[str, str] = MappingProxyType(
    {
        "qwen2moe": "qwen2_moe",
        "qwen3moe": "qwen3_moe",
        "gpt-oss": "gpt_oss",
        "minimax-m2": "minimax_m2",
        "t5encoder": "t5",
    }
)


def check_known(file: GGUFFile) -> None:
    """Raise ScoringError if transformers cannot read the architecture."""
    name = _NAMES.get(file.architecture, file.architecture)
    if name not in _TABLES and file.architecture not in _BY_FUNCTION:
        raise file.refusal("general.architecture", "transformers cannot read it", whole=True)
    if len(file.parts) > 1 and file.architecture in _BY_FUNCTION:
        problem = f"transformers reads no {file.architecture} in parts"
        raise ScoringError("model.gguf", problem, file.path, MERGE)


def complete_config(file: GGUFFile, config: PretrainedConfig) -> None:
    """Let the configuration have the values of all keys that transformers does not read.

    Raises ScoringError that names the key.
    """
    read = _TABLES.get(_NAMES.get(file.architecture, file.architecture), {})
    if file.architecture in _BY_FUNCTION:
        read = dict.fromkeys(_BUILT_FROM, "")
    for key in file.keys:
        if read.get(key) is None and key not in _IDLE:
            _complete(file, key, config)


def _complete(file: GGUFFile, key: str, config: PretrainedConfig) -> None:
    has = _assumed(key, config)
    value = file.listed(key) or file.key(key, None)
    if has is not None and not isinstance(value, list) and _equal(value, has):
        return
    if has is None or key not in _SET:
        why = "transformers does not read it" + ("" if has is None else f", and assumes {has}")
        raise file.refusal(key, why)
    if key == "rope.freq_base":
        config.rope_parameters["rope_theta"] = value
    else:
        setattr(config, _fields(key, config)[0], value)


def _equal(value: object, has: object) -> bool:
    numbers = isinstance(value, int | float) and isinstance(has, int | float)
    return isclose(value, has, rel_tol=1e-6) if numbers else value == has  # type: ignore[arg-type]


def _assumed(key: str, config: PretrainedConfig) -> object:
    """Return what the configuration has for a key; None for an unknown key."""
    rope = getattr(config, "rope_parameters", None) or {}
    heads = getattr(config, "num_attention_heads", None)
    head = getattr(config, "head_dim", None) or (config.hidden_size // heads if heads else None)
    if key == "rope.freq_base":
        return rope.get("rope_theta")
    if key == "rope.dimension_count":
        return head and int(head * rope.get("partial_rotary_factor", 1))
    if key == "rope.scaling.type":
        return {"default": "none"}.get(rope.get("rope_type", "default"))
    if key == "attention.causal":
        return True
    fields = _fields(key, config)
    if key in {"attention.key_length", "attention.value_length"} and not fields:
        return head
    return getattr(config, fields[0]) if fields else None


def _fields(key: str, config: PretrainedConfig) -> list[str]:
    return [field for field in _FIELDS.get(key, ()) if getattr(config, field, None) is not None]
