"""A model whose layers are spread over two devices, as `--device-map auto` does."""

import pytest
from accelerate import dispatch_model
from support import oracle
from support.engine.cases import REQUESTS, Fresh, assert_same, run
from support.engine.fake_devices import KIND, fake_devices

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

ASKED = REQUESTS[:5]


@pytest.mark.filterwarnings("ignore:The following device_map keys")  # a bias is no module
@pytest.mark.parametrize(
    ("name", "path"), [*((name, "packed") for name in PARTS), ("bart", "shared")]
)
def test_layers_on_two_devices(name: str, path: str, fresh: Fresh) -> None:
    family = fresh(name)
    places = {
        part: f"{KIND}:{number}" for number, parts in enumerate(PARTS[name]) for part in parts
    }
    with fake_devices():
        dispatch_model(family.model, places, main_device=f"{KIND}:0")
        found = run(family, "native", ASKED, path=path)
    assert (found.work.path, found.work.switched_off) == (path, ())
    assert_same(found, oracle.scores(fresh(name), "native", ASKED))
