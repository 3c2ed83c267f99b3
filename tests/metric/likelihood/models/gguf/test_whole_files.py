"""Every key and tensor of a GGUF file is used, or refused by name.

The oracle is transformers' model with the configuration that a key means, and the same weights.
"""

from collections.abc import Callable
from math import log, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers as hf
from support.models.gguf_files import write_gguf
from support.refusals import refusal
from support.tiny_models import Family, seeded

from nnd.metric.likelihood import Loading, load_model

CPU = Loading(device="cpu")
IDS = [5, 17, 3, 88, 41, 7, 19, 23, 2, 61, 11, 30, 9, 14, 55, 70, 6, 29, 33, 12, 8, 90, 4, 77]
WINDOW, THETA = 64, 10000.0
SHAPE = {
    "vocab_size": 0,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": WINDOW,
    "initializer_range": 0.3,
    "bos_token_id": 0,
    "eos_token_id": 0,
    "pad_token_id": None,
    "rms_norm_eps": 1e-5,
}
HEAD = {"head_dim": 8}
ROPE: Callable[..., dict[str, Any]] = lambda **more: {  # noqa: E731
    "rope_parameters": {"rope_type": "default", "rope_theta": THETA} | more
}
GEMMA3 = {"sliding_window": 6, "query_pre_attn_scalar": 8, **HEAD}
LOCAL = {"rope_type": "default", "rope_theta": THETA}
MAMBA = {
    "vocab_size": 0,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "state_size": 4,
    "initializer_range": 0.3,
    "layer_norm_epsilon": 1e-5,
    "time_step_rank": 3,
}
GPT2 = {
    "vocab_size": 0,
    "n_embd": 32,
    "n_layer": 2,
    "n_head": 4,
    "n_positions": WINDOW,
    "initializer_range": 0.3,
}
FACTORS = [1.0, 1.5, 4.0, 8.0]
SHORT, LONG = [1.0, 1.2, 1.5, 2.0], [1.0, 2.0, 5.0, 9.0]
LONGROPE = {"short_factor": SHORT, "long_factor": LONG, "rope_type": "longrope"}
SAYS_LONGROPE = {"rope.scaling.type": "longrope", "rope.scaling.attn_factor": 1.25}
PHI3_TENSORS = {
    "rope_factors_short.weight": torch.tensor(SHORT),
    "rope_factors_long.weight": torch.tensor(LONG),
}
YARN = {
    "rope.scaling.type": "yarn",
    "rope.scaling.factor": 4.0,
    "rope.scaling.original_context_length": 16,
}
IS_YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16}
LINEAR = {"rope.scaling.type": "linear", "rope.scaling.factor": 4.0}
FREQS = {"rope_freqs.weight": torch.tensor(FACTORS)}


def made(kind: type, config: type, fields: dict[str, Any], vocabulary: int) -> Any:
    """Return a model with random weights, norms and biases too."""
    with seeded():
        model = kind(config(**fields | {"vocab_size": vocabulary})).eval()
        for name, each in model.named_parameters():
            if name.endswith("bias"):
                torch.nn.init.normal_(each, 0, 0.2)
            elif "norm" in name:
                torch.nn.init.normal_(each, 0.5, 0.2)
    return model


def log_likelihoods(model: Any) -> list[float]:
    """Score each token by a pass of its own over those before it, in float64."""
    model, found = model.double().eval(), []
    for n in range(1, len(IDS)):
        with torch.no_grad():
            logits = model(torch.tensor([IDS[:n]])).logits[0, -1]
        found.append((logits[IDS[n]] - logits.logsumexp(0)).item())
    return found


def check(tokenizer: Any, folder: Path, architecture: str, model: Any, **parts: Any) -> list[float]:
    file = write_gguf(model, tokenizer, folder / "m.gguf", architecture, **parts)
    right = log_likelihoods(model)
    found = log_likelihoods(load_model(file, CPU).model)
    assert np.abs(np.array(found) - right).max() < 1e-6
    return right


KINDS = {
    "llama": (hf.LlamaForCausalLM, hf.LlamaConfig, SHAPE | HEAD),
    "qwen2": (hf.Qwen2ForCausalLM, hf.Qwen2Config, SHAPE),
    "qwen3": (hf.Qwen3ForCausalLM, hf.Qwen3Config, SHAPE | HEAD),
    "gemma2": (hf.Gemma2ForCausalLM, hf.Gemma2Config, SHAPE | GEMMA3),
    "gemma3": (hf.Gemma3ForCausalLM, hf.Gemma3TextConfig, SHAPE | GEMMA3),
    "phi3": (hf.Phi3ForCausalLM, hf.Phi3Config, SHAPE),
    "gpt2": (hf.GPT2LMHeadModel, hf.GPT2Config, GPT2),
    "mamba": (hf.MambaForCausalLM, hf.MambaConfig, MAMBA),
}

# architecture, fields of the configuration that the keys mean, keys of the file, tensors of it
CASES: dict[str, tuple[str, dict[str, Any], dict[str, Any], dict[str, torch.Tensor]]] = {
    **{name: (name, {}, {}, {}) for name in KINDS},
    "llama, linear": ("llama", ROPE(rope_type="linear", factor=4.0), LINEAR, {}),
    "llama, linear by default": (
        "llama",
        ROPE(rope_type="linear", factor=4.0),
        {"rope.scaling.factor": 4.0},
        {},
    ),
    "llama, linear by the old key": (
        "llama",
        ROPE(rope_type="linear", factor=2.0),
        {"rope.scale_linear": 2.0},
        {},
    ),
    "llama, not scaled": ("llama", {}, LINEAR | {"rope.scaling.type": "none"}, {}),
    "llama, yarn": ("llama", ROPE(**IS_YARN), YARN, {}),
    "qwen2, yarn": ("qwen2", ROPE(**IS_YARN), YARN, {}),
    "qwen3, yarn with all keys": (
        "qwen3",
        ROPE(**IS_YARN, beta_fast=16.0, beta_slow=2.0, attention_factor=0.5 * (1 + 0.1 * log(4))),
        YARN
        | {
            "rope.scaling.yarn_beta_fast": 16.0,
            "rope.scaling.yarn_beta_slow": 2.0,
            "rope.scaling.attn_factor": 0.5,
            "rope.scaling.yarn_ext_factor": 1.0,
            "rope.scaling.finetuned": True,
        },
        {},
    ),
    "llama, other base": ("llama", ROPE(rope_theta=500000.0), {}, {}),
    "llama, tied": ("llama", {"tie_word_embeddings": True}, {}, {}),
    "llama, head of another size": ("llama", {"head_dim": 16}, {}, {}),
    "qwen2, head of another size": ("qwen2", {"head_dim": 16}, {}, {}),
    "llama, biases": ("llama", {"attention_bias": True, "mlp_bias": True}, {}, {}),
    "qwen3, biases": ("qwen3", {"attention_bias": True}, {}, {}),
    "llama, epsilon": ("llama", {"rms_norm_eps": 0.5}, {}, {}),
    "llama, the same scale": ("llama", {}, {"attention.scale": 1 / sqrt(8)}, {}),
    "llama, a number for each layer": ("llama", {}, {"attention.head_count_kv": [2, 2, 2]}, {}),
    "llama, a window as long": ("llama", {}, {"attention.sliding_window": WINDOW}, {}),
    "qwen2, windows": (
        "qwen2",
        {
            "use_sliding_window": True,
            "sliding_window": 5,
            "layer_types": ["sliding_attention", "full_attention", "sliding_attention"],
        },
        {"attention.sliding_window_pattern": [True, False, True]},
        {},
    ),
    "gemma2, caps": (
        "gemma2",
        {"attn_logit_softcapping": 2.0, "final_logit_softcapping": 3.0},
        {"attn_logit_softcapping": 2.0, "final_logit_softcapping": 3.0},
        {},
    ),
    "gemma2, scale": ("gemma2", {"query_pre_attn_scalar": 12}, {"attention.scale": 12**-0.5}, {}),
    "gemma2, the 27B": (
        "gemma2",
        {
            "num_hidden_layers": 46,
            "head_dim": 16,
            "initializer_range": 0.1,
            "query_pre_attn_scalar": 32 // 4,
        },
        {},
        {},
    ),
    "gemma3, scaled": (
        "gemma3",
        {
            "num_hidden_layers": 6,
            "rope_parameters": {
                "sliding_attention": LOCAL,
                "full_attention": LOCAL | {"rope_type": "linear", "factor": 8.0},
            },
        },
        LINEAR | {"rope.scaling.factor": 8.0},
        {},
    ),
    "gemma3, local base": (
        "gemma3",
        {
            "num_hidden_layers": 6,
            "rope_parameters": {
                "sliding_attention": LOCAL | {"rope_theta": 500.0},
                "full_attention": LOCAL | {"rope_theta": 1e6},
            },
        },
        {"rope.freq_base_swa": 500.0},
        {},
    ),
    "gemma3, pattern": (
        "gemma3",
        {"layer_types": ["sliding_attention", "full_attention", "sliding_attention"]},
        {"attention.sliding_window_pattern": 2},
        {},
    ),
    "phi3, window": ("phi3", {"sliding_window": 5}, {}, {}),
    "phi3, part of a head": ("phi3", ROPE(partial_rotary_factor=0.75), {}, {}),
    "phi3, short factors": (
        "phi3",
        ROPE(**LONGROPE, attention_factor=1.25) | {"original_max_position_embeddings": 32},
        SAYS_LONGROPE | {"rope.scaling.original_context_length": 32},
        PHI3_TENSORS,
    ),
    "phi3, long factors": (
        "phi3",
        ROPE(**LONGROPE, attention_factor=1.25) | {"original_max_position_embeddings": 8},
        SAYS_LONGROPE | {"rope.scaling.original_context_length": 8},
        PHI3_TENSORS,
    ),
    "gpt2, inner": ("gpt2", {"n_inner": 40}, {}, {}),
    "mamba, no bias of the convolution": ("mamba", {"use_conv_bias": False}, {}, {}),
    "mamba, biases": ("mamba", {"use_bias": True}, {}, {}),
    "mamba, wider": ("mamba", {"expand": 3}, {}, {}),
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("case", CASES)
def test_a_file_is_the_model_that_its_keys_mean(
    case: str, tiny: Callable[[str], Family], tmp_path: Path
) -> None:
    architecture, fields, keys, tensors = CASES[case]
    kind, config, shape = KINDS[architecture]
    tokenizer = tiny("gpt2").tokenizer
    model = made(kind, config, shape | fields, len(tokenizer))
    check(tokenizer, tmp_path, architecture, model, keys=keys, tensors=tensors)


@pytest.mark.parametrize("factors", [FACTORS, [1.0, 1.0, 3.3, 32.0]])
def test_factors_of_llama_3_divide_frequencies(
    factors: list[float], tiny: Callable[[str], Family], tmp_path: Path
) -> None:
    tokenizer, given = tiny("gpt2").tokenizer, torch.tensor(factors)
    plain = made(*KINDS["llama"], len(tokenizer))
    unscaled = log_likelihoods(plain.float())
    frequencies = plain.model.rotary_emb.inv_freq
    frequencies /= given  # the oracle: what transformers computes with, divided
    right = check(tokenizer, tmp_path, "llama", plain.float(), tensors={"rope_freqs.weight": given})
    assert max(abs(a - b) for a, b in zip(right, unscaled, strict=True)) > 0.01


def test_llama_3s_own_factors(tiny: Callable[[str], Family], tmp_path: Path) -> None:
    rope = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
    rope["original_max_position_embeddings"] = 32
    tokenizer = tiny("gpt2").tokenizer
    kind, config, shape = KINDS["llama"]
    model = made(kind, config, shape | ROPE(**rope), len(tokenizer))
    unscaled = THETA ** -(torch.arange(0, 8, 2, dtype=torch.float64) / 8)
    factors = (unscaled / model.model.rotary_emb.inv_freq).float()
    assert factors[0] == 1 < factors[-1]
    check(tokenizer, tmp_path, "llama", model, tensors={"rope_freqs.weight": factors})


def test_a_llama_with_a_window_is_a_mistral(tiny: Callable[[str], Family], tmp_path: Path) -> None:
    tokenizer = tiny("gpt2").tokenizer
    model = made(
        hf.MistralForCausalLM,
        hf.MistralConfig,
        SHAPE | HEAD | {"sliding_window": 5},
        len(tokenizer),
    )
    check(tokenizer, tmp_path, "llama", model)


@pytest.mark.parametrize(
    ("architecture", "left"),
    [("llama", "attn_output"), ("qwen2", "attn_q"), ("llama", "ffn_gate")],
)
def test_a_bias_that_no_layer_has_is_zero(
    architecture: str, left: str, tiny: Callable[[str], Family], tmp_path: Path
) -> None:
    tokenizer = tiny("gpt2").tokenizer
    kind, config, shape = KINDS[architecture]
    biases = {"attention_bias": True, "mlp_bias": True} if architecture == "llama" else {}
    model = made(kind, config, shape | biases, len(tokenizer))
    place = {"attn_output": "o_proj", "attn_q": "q_proj", "ffn_gate": "gate_proj"}[left]
    for name, each in model.named_parameters():
        if name.endswith(f"{place}.bias"):
            torch.nn.init.zeros_(each)
    gone = [f"blk.{layer}.{left}.bias" for layer in range(3)]
    check(tokenizer, tmp_path, architecture, model, without=gone)
    write_gguf(model, tokenizer, tmp_path / "cut.gguf", architecture, without=gone[:1])
    with refusal("model.damaged"):
        load_model(tmp_path / "cut.gguf", CPU)


@pytest.mark.parametrize(
    ("architecture", "key"),
    [
        ("llama", "rope.freq_base"),
        ("llama", "attention.key_length"),
        ("llama", "rope.dimension_count"),
        ("llama", "vocab_size"),
        ("qwen3", "attention.key_length"),
        ("gemma2", "rope.freq_base"),
        ("phi3", "rope.dimension_count"),
    ],
)
def test_a_key_that_is_absent_has_llama_cpps_default(
    architecture: str, key: str, tiny: Callable[[str], Family], tmp_path: Path
) -> None:
    kind, config, shape = KINDS[architecture]
    tokenizer = tiny("gpt2").tokenizer
    model = made(kind, config, shape | ROPE(), len(tokenizer))
    without = [key, "attention.value_length"] if "length" in key else [key]
    check(tokenizer, tmp_path, architecture, model, without=without)


REFUSED: dict[str, tuple[str, dict[str, Any], dict[str, torch.Tensor], str]] = {
    "a key that nobody knows": ("llama", {"attention.wobble": 2}, {}, "llama.attention.wobble = 2"),
    "experts": ("llama", {"expert_count": 8}, {}, "llama.expert_count = 8"),
    "scale": ("llama", {"attention.scale": 0.5}, {}, "llama.attention.scale = 0.5"),
    "clamp": ("llama", {"attention.clamp_kqv": 8.0}, {}, "attention.clamp_kqv"),
    "alpha": ("llama", {"rope.scaling.alpha": 2.0}, {}, "rope.scaling.alpha"),
    "another scaling": ("llama", {"rope.scaling.type": "ntk"}, {}, "rope.scaling.type = ntk"),
    "longrope without factors": ("llama", {"rope.scaling.type": "longrope"}, {}, "longrope"),
    "yarn and factors": ("llama", YARN, FREQS, "yarn"),
    "a mixture": ("qwen2", YARN | {"rope.scaling.yarn_ext_factor": 0.5}, {}, "ext_factor"),
    "phi3 yarn": ("phi3", YARN, {}, "phi3.rope.scaling.factor"),
    "a part of a head": ("qwen3", {"rope.dimension_count": 4}, {}, "rope.dimension_count = 4"),
    "values of another length": ("llama", {"attention.value_length": 16}, {}, "value_length"),
    "heads that differ": ("llama", {"attention.head_count_kv": [2, 4, 2]}, {}, "head_count_kv"),
    "a window of some layers": ("qwen2", {"attention.sliding_window": 5}, {}, "sliding_window"),
    "both directions": ("qwen3", {"attention.causal": False}, {}, "attention.causal"),
    "embeddings": ("qwen3", {"pooling_type": 3}, {}, "pooling_type"),
    "FalconMamba": ("mamba", {"ssm.dt_b_c_rms": True}, {}, "ssm.dt_b_c_rms"),
    "an adapter": ("llama", {".general.type": "adapter"}, {}, "general.type"),
    "LoRA": ("llama", {".adapter.lora.alpha": 8.0}, {}, "adapter.lora.alpha"),
    "one more tensor": (
        "llama",
        {},
        {"blk.0.attn_sinks.weight": torch.ones(4)},
        "the tensor blk.0.attn_sinks.weight",
    ),
    "one more layer": ("qwen2", {}, {"blk.3.attn_norm.weight": torch.ones(32)}, "blk.3.attn_norm"),
    "factors of gpt2": ("gpt2", {}, FREQS, "rope_freqs.weight"),
    "scale of an input": ("llama", {}, {"blk.1.attn_q.scale": torch.ones(1)}, "attn_q.scale"),
    "biases that the model lacks": (
        "phi3",
        {},
        {"blk.0.ffn_down.bias": torch.ones(32)},
        "blk.0.ffn_down.bias",
    ),
    "a tokenizer of BERT": ("llama", {".tokenizer.ggml.model": "bert"}, {}, "ggml.model = bert"),
    "of RWKV": ("llama", {".tokenizer.ggml.model": "rwkv"}, {}, "tokenizer.ggml.model = rwkv"),
    "an unknown pattern": ("llama", {".tokenizer.ggml.pre": "nonsense"}, {}, "pre = nonsense"),
    "a pattern by code": ("llama", {".tokenizer.ggml.pre": "kimi-k2"}, {}, "pre = kimi-k2"),
    "no pattern known": ("qwen2", {".tokenizer.ggml.pre": "default"}, {}, "pre = default"),
    "an unknown key of it": ("llama", {".tokenizer.ggml.fold_case": True}, {}, "ggml.fold_case"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_used_is_named(
    case: str, tiny: Callable[[str], Family], tmp_path: Path
) -> None:
    architecture, keys, tensors, words = REFUSED[case]
    tokenizer = tiny("gpt2").tokenizer
    model = made(*KINDS[architecture], len(tokenizer))
    file = write_gguf(
        model, tokenizer, tmp_path / "m.gguf", architecture, keys=keys, tensors=tensors
    )
    with refusal("model.gguf", "m.gguf") as caught:
        load_model(file, CPU)
    assert words in caught.value.what


@pytest.mark.parametrize(
    "key",
    [
        "attention.layer_norm_rms_epsilon",
        "block_count",
        "embedding_length",
        "context_length",
        "attention.head_count",
    ],
)
def test_a_key_that_llama_cpp_needs_is_missed(
    key: str, tiny: Callable[[str], Family], tmp_path: Path
) -> None:
    tokenizer = tiny("gpt2").tokenizer
    model = made(*KINDS["llama"], len(tokenizer))
    write_gguf(model, tokenizer, tmp_path / "m.gguf", without=[key])
    with refusal("model.damaged", "m.gguf") as caught:
        load_model(tmp_path / "m.gguf", CPU)
    assert key in caught.value.what


@pytest.mark.parametrize("base", [THETA, 1e6])
def test_what_transformers_leaves_out_of_others_is_set(
    base: float, tiny: Callable[[str], Family], tmp_path: Path
) -> None:
    tokenizer, shape = tiny("gpt2").tokenizer, SHAPE | {"norm_epsilon": 0.25}
    rope = {"rope_parameters": {"rope_type": "default", "rope_theta": base}}
    model = made(hf.Starcoder2ForCausalLM, hf.Starcoder2Config, shape | rope, len(tokenizer))
    keys, gone = {"attention.layer_norm_epsilon": 0.25}, "attention.layer_norm_rms_epsilon"
    check(tokenizer, tmp_path, "starcoder2", model, keys=keys, without=[gone])
    keys |= {"attention.wobble": 2}
    write_gguf(model, tokenizer, tmp_path / "n.gguf", "starcoder2", keys=keys, without=[gone])
    with refusal("model.gguf", "n.gguf") as caught:
        load_model(tmp_path / "n.gguf", CPU)
    assert "starcoder2.attention.wobble = 2" in caught.value.what


def test_without_a_number_of_key_heads_each_head_has_its_own(
    tiny: Callable[[str], Family], tmp_path: Path
) -> None:
    kind, config, shape = KINDS["llama"]
    tokenizer = tiny("gpt2").tokenizer
    model = made(kind, config, shape | {"num_key_value_heads": 4}, len(tokenizer))
    check(tokenizer, tmp_path, "llama", model, without=["attention.head_count_kv"])


def test_keys_of_strangers_and_of_what_is_generated_change_nothing(
    tiny: Callable[[str], Family], tmp_path: Path
) -> None:
    keys = {
        ".mradermacher.quantized_by": "somebody",
        ".quantize.imatrix.chunks_count": 7,
        ".general.sampling.temp": 0.5,
        ".tokenizer.ggml.eot_token_id": 1,
        ".tokenizer.ggml.fim_pre_token_id": 1,
    }
    tokenizer = tiny("gpt2").tokenizer
    check(tokenizer, tmp_path, "llama", made(*KINDS["llama"], len(tokenizer)), keys=keys)
