"""The metadata keys of each architecture, as llama.cpp reads them, and what becomes of each.

transformers ignores keys that it does not map. Here every key of an architecture is in its table,
or the file is refused: an unknown key may change the numbers, and its namespace is
llama.cpp's own. The keys are those of `gguf.constants.Keys` that llama.cpp reads for the
architecture (`llama_model::load_hparams`), and their defaults are its own.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

REQUIRED = object()


class Sets(NamedTuple):
    """The key is a field of transformers' configuration; without a default it must be there."""

    field: str
    default: object = REQUIRED


class Read(NamedTuple):
    """The key is read together with others, by a function of `config` or `rope`."""

    of: str


class Must(NamedTuple):
    """Only these values are what transformers computes; with others the file is refused."""

    be: tuple[object, ...]
    why: str


class Idle(NamedTuple):
    """No likelihood depends on the key."""

    why: str


Rule = Sets | Read | Must | Idle
Rules = Mapping[str, Rule]

_SIZES: Rules = MappingProxyType(
    {
        "context_length": Sets("max_position_embeddings"),
        "embedding_length": Sets("hidden_size"),
        "block_count": Sets("num_hidden_layers"),
        "vocab_size": Idle("the rows of the embeddings are counted"),
    }
)
_ROPE: Rules = MappingProxyType(
    {
        f"rope.{name}": Read("rope")
        for name in (
            "dimension_count",
            "freq_base",
            "scale_linear",
            "scaling.type",
            "scaling.factor",
            "scaling.attn_factor",
            "scaling.original_context_length",
            "scaling.yarn_ext_factor",
            "scaling.yarn_attn_factor",
            "scaling.yarn_beta_fast",
            "scaling.yarn_beta_slow",
            "scaling.yarn_log_multiplier",
        )
    }
    | {"rope.scaling.finetuned": Idle("it says how the model was trained")}
)
_DECODER: Rules = MappingProxyType(
    {
        **_SIZES,
        **_ROPE,
        "feed_forward_length": Sets("intermediate_size"),
        "attention.head_count": Sets("num_attention_heads"),
        "attention.head_count_kv": Read("heads"),
        "attention.key_length": Read("heads"),
        "attention.value_length": Read("heads"),
        "attention.layer_norm_rms_epsilon": Sets("rms_norm_eps"),
        "attention.scale": Read("scale"),
        "attention.causal": Must((True,), "the model reads from left to right"),
        "expert_count": Must((0,), "the architecture is read without experts"),
        "expert_used_count": Must((0,), "the architecture is read without experts"),
        "pooling_type": Must((0,), "a model of embeddings predicts no tokens"),
    }
)
_WINDOW: Rules = MappingProxyType(
    {
        "attention.sliding_window": Read("window"),
        "attention.sliding_window_pattern": Read("window"),
    }
)
_NO_ROPE: Rules = MappingProxyType(
    {
        "rope.dimension_count": Idle("the architecture turns no vectors"),
        "rope.freq_base": Idle("the architecture turns no vectors"),
    }
)

ARCHITECTURES: Mapping[str, tuple[str, Rules]] = MappingProxyType(
    {
        "llama": (
            "llama",
            {
                **_DECODER,
                **_WINDOW,
                "tensor_data_layout": Must(
                    ("Meta AI original pth",), "the rows of q and k are in pairs"
                ),
            },
        ),
        "qwen2": ("qwen2", {**_DECODER, **_WINDOW}),
        "qwen3": ("qwen3", {**_DECODER, **_WINDOW}),
        "gemma2": (
            "gemma2",
            {
                **_DECODER,
                **_WINDOW,
                "attn_logit_softcapping": Sets("attn_logit_softcapping", 50.0),
                "final_logit_softcapping": Sets("final_logit_softcapping", 30.0),
            },
        ),
        "gemma3": (
            "gemma3_text",
            {
                **_DECODER,
                **_WINDOW,
                "rope.freq_base_swa": Read("rope"),
                "attn_logit_softcapping": Sets("attn_logit_softcapping", None),
                "final_logit_softcapping": Sets("final_logit_softcapping", None),
            },
        ),
        "phi3": ("phi3", {**_DECODER, **_WINDOW}),
        "gpt2": (
            "gpt2",
            {
                **_SIZES,
                **_NO_ROPE,
                "context_length": Sets("n_positions"),
                "embedding_length": Sets("n_embd"),
                "block_count": Sets("n_layer"),
                "feed_forward_length": Sets("n_inner"),
                "attention.head_count": Sets("n_head"),
                "attention.head_count_kv": Read("heads"),
                "attention.layer_norm_epsilon": Sets("layer_norm_epsilon"),
                "attention.causal": Must((True,), "the model reads from left to right"),
                "pooling_type": Must((0,), "a model of embeddings predicts no tokens"),
            },
        ),
        "mamba": (
            "mamba",
            {
                **_SIZES,
                **_NO_ROPE,
                "feed_forward_length": Must((0,), "a Mamba block has no such layer"),
                "attention.head_count": Must((0,), "a Mamba block has no attention"),
                "attention.head_count_kv": Must((0,), "a Mamba block has no attention"),
                "attention.layer_norm_rms_epsilon": Sets("layer_norm_epsilon"),
                "ssm.conv_kernel": Sets("conv_kernel"),
                "ssm.state_size": Sets("state_size"),
                "ssm.time_step_rank": Sets("time_step_rank"),
                "ssm.inner_size": Sets("intermediate_size"),
                "ssm.dt_b_c_rms": Must((False,), "FalconMamba's norms are not read"),
                "ssm.group_count": Must((0,), "it is a key of Mamba 2"),
            },
        ),
    }
)
"""Architecture of llama.cpp → model type of transformers, and what becomes of each key."""

NAMESPACES: Mapping[str, str] = MappingProxyType(
    {
        "adapter": "it is an adapter, not a model",
        "clip": "it is the part of a model that reads images or sound",
        "diffusion": "a diffusion model defines no likelihood of a text",
        "imatrix": "it is an importance matrix, not a model",
        "xielu": "its activation is not read",
    }
)
"""Namespaces of llama.cpp beside the architecture's that change what the file is.

Keys of `general` describe the file, those of `quantize` and of strangers (`mradermacher.*`) how it
was made; `tokenizer` is checked in `tokenizer`, `split` in `parts`.
"""
