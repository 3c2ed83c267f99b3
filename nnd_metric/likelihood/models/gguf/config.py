"""The configuration that a GGUF file's keys mean."""

from collections.abc import Callable, Iterable, Mapping
from math import isclose, sqrt
from types import MappingProxyType
from typing import Any

from transformers import AutoConfig, PretrainedConfig

from nnd.metric.likelihood.models.gguf.foreign import check_known
from nnd.metric.likelihood.models.gguf.gguf_file import GGUFFile
from nnd.metric.likelihood.models.gguf.keys import (
    ARCHITECTURES,
    NAMESPACES,
    REQUIRED,
    Must,
    Rules,
    Sets,
)
from nnd.metric.likelihood.models.gguf.rope import rope_parameters

_SPECIAL = MappingProxyType(
    {
        "bos_token_id": "bos",
        "eos_token_id": "eos",
        "pad_token_id": "padding",
        "unk_token_id": "unknown",
    }
)
_GEMMA = MappingProxyType({"gemma2": 46, "gemma3": 62})
"""The layers of the 27B, which llama.cpp scales by the width for each head, not by the head."""
_EVERY = MappingProxyType({"gemma2": 2, "gemma3": 6})
"""Every how many layers one reads everything, where the file does not say."""


def read_config(file: GGUFFile) -> PretrainedConfig | None:
    """Return the configuration of a file; None if transformers has to build it, from known keys.

    Raises:
        ScoringError: If the file is not a model, or has a key of its architecture that is not
            known, or a value that transformers cannot compute with.
    """
    _check_namespaces(file)
    known = ARCHITECTURES.get(file.architecture)
    if known is None:
        check_known(file)
        return None
    kind, rules = known
    _check(file, rules)
    fields = {
        "_model_name_or_path": file.field("general.name", ""),
        "vocab_size": file.rows("token_embd.weight"),
        "tie_word_embeddings": "output.weight" not in file.tensor_names,
        **_fields(file, rules),
        **_special(file),
    }
    shaped = _SHAPES[file.architecture](file, fields)
    kind = str(shaped.pop("model_type", kind))
    try:
        config: PretrainedConfig = AutoConfig.for_model(kind, **shaped)
    except Exception as error:  # configurations may raise anything
        raise file.damaged(f"its metadata make no {kind} model: {error}") from error
    return config


def _check_namespaces(file: GGUFFile) -> None:
    if file.field("general.type", "model") != "model":
        raise file.refusal("general.type", "only a model is read", whole=True)
    for key in file.reader.fields:
        if reason := NAMESPACES.get(key.partition(".")[0]):
            raise file.refusal(key, reason, whole=True)


def _check(file: GGUFFile, rules: Rules) -> None:
    for key in file.keys:
        rule = rules.get(key)
        if rule is None:
            raise file.refusal(key, "what it changes is not known")
        if isinstance(rule, Must) and file.key(key, None) not in rule.be:
            raise file.refusal(key, rule.why)


def _fields(file: GGUFFile, rules: Rules) -> dict[str, Any]:
    found = {}
    for key, rule in rules.items():
        if not isinstance(rule, Sets):
            continue
        value = file.key(key, rule.default)
        if value is REQUIRED:
            raise file.damaged(f"it lacks {file.architecture}.{key}")
        found[rule.field] = value
    return found


def _special(file: GGUFFile) -> dict[str, int | None]:
    """Return the special tokens; a default where the file has none would be of another model."""
    ids = {
        field: file.field(f"tokenizer.ggml.{name}_token_id", None)
        for field, name in _SPECIAL.items()
    }
    return {
        field: each for field, each in ids.items() if each is not None or field != "unk_token_id"
    }


def _share(file: GGUFFile) -> int | None:
    """Return the width for each head."""
    width, heads = file.key("embedding_length", 0), file.key("attention.head_count", 0)
    return width // heads if heads else None


def _decoder(file: GGUFFile, fields: dict[str, Any]) -> dict[str, Any]:
    """Add heads, positions, biases and windows, for all but gpt2 and mamba."""
    share = _share(file)
    if not share:
        raise file.damaged("its attention has no heads")
    head = file.key("attention.key_length", share)
    if file.key("attention.value_length", head) != head:
        raise file.refusal("attention.value_length", "transformers makes values as long as keys")
    always = file.architecture in {"llama", "qwen3", "gemma2", "gemma3"}
    return {
        **fields,
        "num_key_value_heads": file.key("attention.head_count_kv", fields["num_attention_heads"]),
        **({"head_dim": head} if always or head != share else {}),
        **_scale(file, head, fields),
        "rope_parameters": rope_parameters(file, head),
        **_original(file),
        **_biases(file),
        **_window(file, fields),
    }


def _scale(file: GGUFFile, head: int, fields: Mapping[str, Any]) -> dict[str, int]:
    """Return what the products of queries and keys are divided by the root of."""
    layers = _GEMMA.get(file.architecture)
    heads, said = fields["num_attention_heads"], file.key("attention.scale", 0.0)
    divisor = fields["hidden_size"] // heads if fields["num_hidden_layers"] == layers else head
    if said and not isclose(said, 1 / sqrt(divisor), rel_tol=1e-6):
        divisor = round(said**-2)
        if layers is None or not isclose(said, 1 / sqrt(divisor), rel_tol=1e-6):
            raise file.refusal("attention.scale", f"transformers scales by 1 / √{head}")
    return {} if layers is None else {"query_pre_attn_scalar": divisor}


def _original(file: GGUFFile) -> dict[str, int]:
    """Return the length that phi3 has its short factors up to, which is a field of its own."""
    length = file.key("rope.scaling.original_context_length", file.key("context_length", None))
    return {"original_max_position_embeddings": length} if file.architecture == "phi3" else {}


def _biases(file: GGUFFile) -> dict[str, bool]:
    """Return which biases the model has; those of qwen2 and phi3 cannot be chosen."""
    fields = {}
    if file.architecture in {"llama", "qwen3", "gemma2", "gemma3"}:
        fields["attention_bias"] = _has(file, ("attn_q", "attn_k", "attn_v", "attn_output"))
    if file.architecture == "llama":
        fields["mlp_bias"] = _has(file, ("ffn_gate", "ffn_up", "ffn_down"))
    return fields


def _has(file: GGUFFile, places: Iterable[str]) -> bool:
    ends = tuple(f".{place}.bias" for place in places)
    return any(name.endswith(ends) for name in file.tensor_names)


def _window(file: GGUFFile, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the window, and which layers read only it."""
    size = file.key("attention.sliding_window", 0) or None
    kind, length = file.architecture, fields["max_position_embeddings"]
    if kind in _EVERY:
        if size is None:
            raise file.damaged(f"it lacks {kind}.attention.sliding_window")
        return {"sliding_window": size, **_layers(file, fields)}
    if size is None or (size >= length and kind != "phi3"):
        return {}
    pattern = _pattern(file)
    if kind in {"llama", "phi3"}:
        if pattern is not None and not _all_slide(pattern):
            raise file.refusal(
                "attention.sliding_window_pattern", "all layers have the same window"
            )
        mistral = {"model_type": "mistral"} if kind == "llama" else {}
        return {"sliding_window": size, **mistral}
    if pattern is None:
        raise file.refusal("attention.sliding_window", "the layers that have it are not named")
    return {"use_sliding_window": True, "sliding_window": size, **_layers(file, fields)}


def _pattern(file: GGUFFile) -> list[Any] | int | None:
    key = "attention.sliding_window_pattern"
    return file.listed(key) or file.key(key, _EVERY.get(file.architecture))


def _all_slide(pattern: list[Any] | int) -> bool:
    return all(pattern) if isinstance(pattern, list) else pattern == 0


def _layers(file: GGUFFile, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the kinds of layers: of a list, true is a window; of n, each n-th reads everything."""
    n, key = fields["num_hidden_layers"], "attention.sliding_window_pattern"
    pattern = _pattern(file)
    if isinstance(pattern, list):
        if len(pattern) != n:
            raise file.refusal(key, f"the model has {n} layers")
        slides = [bool(each) for each in pattern]
    else:
        slides = [not pattern or layer % pattern < pattern - 1 for layer in range(n)]
    return {"layer_types": [f"{'sliding' if each else 'full'}_attention" for each in slides]}


def _gpt2(file: GGUFFile, fields: dict[str, Any]) -> dict[str, Any]:
    if file.key("attention.head_count_kv", fields["n_head"]) != fields["n_head"]:
        raise file.refusal("attention.head_count_kv", "every head has its own keys and values")
    inner = fields["n_inner"]
    return fields | {"n_inner": None if inner == 4 * fields["n_embd"] else inner}


def _mamba(file: GGUFFile, fields: dict[str, Any]) -> dict[str, Any]:
    return fields | {
        "use_bias": _has(file, ("ssm_in", "ssm_out")),
        "use_conv_bias": _has(file, ("ssm_conv1d",)),
    }


_SHAPES: Mapping[str, Callable[[GGUFFile, dict[str, Any]], dict[str, Any]]] = MappingProxyType(
    dict.fromkeys(ARCHITECTURES, _decoder) | {"gpt2": _gpt2, "mamba": _mamba}
)
