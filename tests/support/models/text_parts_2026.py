"""Tiny models of images and text, of which only the text is read; those that cannot; and XLNet."""

from collections.abc import Callable
from typing import Any

import transformers as hf
from support.models.families_2026 import DROP, TOKENS, WINDOW, lm
from support.tiny_models import Family, causal, llama_tokenizer, rope_shape


def reads_images(
    kind: str, vision: dict[str, Any], text: dict[str, Any] | None = None, **more: Any
) -> Callable[[], Family]:
    """Return a builder of a model with Llama's shape in its text part, but for `text`."""

    def make() -> Family:
        shape = rope_shape(TOKENS, WINDOW) | {"pad_token_id": 0} | (text or {})
        shape = {name: value for name, value in shape.items() if value is not DROP}
        special = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
        parts = {"text_config": shape, "vision_config": vision}
        config = hf.AutoConfig.for_model(kind, **parts, **special, **more)
        model = hf.AutoModelForImageTextToText.from_config(config)
        return causal(kind, model, llama_tokenizer(), bos=(1,), laban=(1, 2), window=WINDOW)

    return make


_SIGHT = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "image_size": 16,
    "patch_size": 8,
}
_SIGLIP = _SIGHT | {"model_type": "siglip_vision_model"}
_CLIP = _SIGHT | {"model_type": "clip_vision_model", "projection_dim": 32}
_PIXTRAL = _SIGHT | {"model_type": "pixtral", "head_dim": 8}
_SIGLIP_2 = _SIGHT | {"model_type": "siglip2_vision_model", "num_patches": 16}
_QWEN = {
    "depth": 2,
    "hidden_size": 32,
    "embed_dim": 32,
    "intermediate_size": 48,
    "num_heads": 4,
    "patch_size": 8,
    "out_hidden_size": 32,
    "in_channels": 3,
}
_MLLAMA = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_global_layers": 1,
    "attention_heads": 4,
    "image_size": 16,
    "patch_size": 8,
    "vision_output_dim": 64,
    "intermediate_layers_indices": [0],
    "supported_aspect_ratios": [[1, 1]],
    "max_num_tiles": 1,
}

_LLAMA, _GEMMA = {"model_type": "llama"}, {"model_type": "gemma"}
_QWEN_2 = {"model_type": "qwen2", "head_dim": DROP}
_SLIDING = {"sliding_window": 8, "layer_types": ["sliding_attention", "full_attention"]}
_COHERE = {"model_type": "cohere2", "head_dim": DROP} | _SLIDING
_LFM = {
    "model_type": "lfm2",
    "head_dim": DROP,
    "num_hidden_layers": 3,
    "layer_types": ["conv", "full_attention", "conv"],
    "block_auto_adjust_ff_dim": False,
}
_ROPE: dict[str, Any] = {"rope_type": "default", "rope_theta": 10_000.0}
_M_ROPE = {"rope_parameters": _ROPE | {"mrope_section": [1, 1, 2]}}
_QWEN_3_ROPE = {"rope_parameters": _M_ROPE["rope_parameters"] | {"mrope_interleaved": True}}
_CROSSED = {"num_hidden_layers": 3, "cross_attention_layers": [1], "rope_parameters": _ROPE}

_INDEX, _LAST = {"image_token_index": 5}, {"vision_feature_layer": -1}
_IMAGE = {"image_token_id": 5}
_VIDEO = _IMAGE | {"video_token_id": 6, "vision_start_token_id": 7, "vision_end_token_id": 8}
_DEEP = {"num_position_embeddings": 16, "deepstack_visual_indexes": [0]}
_INTERN = _SIGHT | {"image_size": [16, 16], "patch_size": [8, 8]}
_GEMMA_3 = _SLIDING | {"query_pre_attn_scalar": 8}

TEXT_PARTS: dict[str, Callable[[], Family]] = {
    "gemma3": reads_images("gemma3", _SIGLIP, _GEMMA_3, mm_tokens_per_image=4, **_INDEX),
    "llava": reads_images("llava", _CLIP, _LLAMA, **_INDEX, **_LAST),
    "llava_next": reads_images("llava_next", _CLIP, _LLAMA, **_INDEX, **_LAST),
    "llava_onevision": reads_images("llava_onevision", _SIGLIP, _QWEN_2, **_INDEX),
    "mistral3": reads_images("mistral3", _PIXTRAL, {"model_type": "mistral"}, **_INDEX),
    "internvl": reads_images("internvl", _INTERN, _QWEN_2, **_IMAGE),
    "idefics3": reads_images("idefics3", _SIGHT, _LLAMA, **_IMAGE),
    "smolvlm": reads_images("smolvlm", _SIGHT, _LLAMA, **_IMAGE),
    "qwen2_vl": reads_images("qwen2_vl", _QWEN, _M_ROPE | {"head_dim": DROP}, **_VIDEO),
    "qwen2_5_vl": reads_images("qwen2_5_vl", _QWEN, _M_ROPE | {"head_dim": DROP}, **_VIDEO),
    "qwen3_vl": reads_images("qwen3_vl", _QWEN | _DEEP, _QWEN_3_ROPE, **_VIDEO),
    "mllama": reads_images("mllama", _MLLAMA, _CROSSED, **_INDEX),
    "aya_vision": reads_images("aya_vision", _SIGLIP, _COHERE, **_INDEX),
    "lfm2_vl": reads_images("lfm2_vl", _SIGLIP_2, _LFM, **_IMAGE),
}
REFUSED: dict[str, tuple[Callable[[], Family], str, str]] = {
    "paligemma": (
        reads_images("paligemma", _SIGLIP, _GEMMA, projection_dim=32, **_INDEX),
        "model.not-a-language-model",
        "looks ahead",  # its text is a prefix, all of which each token sees
    ),
    "xlnet": (
        lm(
            "xlnet",
            window=None,
            d_model=32,
            n_layer=2,
            n_head=4,
            d_inner=48,
            max_position_embeddings=DROP,
        ),
        "model.not-a-language-model",
        "looks ahead",
    ),
    "kosmos-2": (
        reads_images("kosmos-2", _SIGHT, {"layers": 1, "embed_dim": 32, "ffn_dim": 48}),
        "model.damaged",
        "pixel_values",
    ),
    "longcat_flash": (
        lm("longcat_flash", head_dim=DROP, num_hidden_layers=DROP, num_layers=2, q_lora_rank=8),
        "model.damaged",
        "size",  # of queries and positions, which the config leaves apart
    ),
}
"""Builders of models without likelihoods of a text, the code of the error, and what it names."""
