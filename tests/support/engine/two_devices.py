"""Tiny models whose layers are spread over two devices, as `--device-map auto` does."""

from accelerate import dispatch_model
from support.tiny_models import Family

LLAMA = (
    ["model.embed_tokens", "model.rotary_emb", "model.layers.0"],
    ["model.layers.1", "model.norm", "lm_head"],
)
BART_ENCODER = [f"model.encoder.{part}" for part in ("embed_tokens", "embed_positions", "layers.0")]
BART_DECODER = [f"model.decoder.{part}" for part in ("embed_positions", "layers")]
PARTS = {
    "llama": LLAMA,
    "mistral": LLAMA,
    # The others' heads have the weights of their embeddings.
    "gpt2": (
        ["transformer.wte", "transformer.wpe", "transformer.h.0", "lm_head"],
        ["transformer.h.1", "transformer.ln_f"],
    ),
    "t5": (
        ["shared", "encoder.embed_tokens", "encoder.block.0", "decoder.embed_tokens", "lm_head"],
        [
            "encoder.block.1",
            "encoder.final_layer_norm",
            "decoder.block",
            "decoder.final_layer_norm",
        ],
    ),
    "bart": (
        ["model.shared", *BART_ENCODER, "model.decoder.embed_tokens", "lm_head"],
        [
            *("model.encoder.layers.1", "model.encoder.layernorm_embedding", *BART_DECODER),
            *("model.decoder.layernorm_embedding", "final_logits_bias"),
        ],
    ),
}
"""What is on the first device, and what on the second."""


def spread(family: Family, kind: str) -> None:
    """Spread the layers of one of `PARTS` over the devices 0 and 1 of a kind, such as cuda."""
    places = {
        part: f"{kind}:{number}"
        for number, parts in enumerate(PARTS[family.name])
        for part in parts
    }
    dispatch_model(family.model, places, main_device=f"{kind}:0")
