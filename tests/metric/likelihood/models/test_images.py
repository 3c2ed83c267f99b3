"""Models of images and texts: scored by their language model, from text alone."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import transformers as hf
from support.engine.cases import NATS, REQUESTS
from support.metric_runs import write_pairs
from support.models.adapted import formula
from support.refusals import refusal
from support.tiny_models import causal, llama_tokenizer, rope_shape, seeded

from nnd.metric.likelihood import Engine, Loading, load_model
from nnd.metric.run import evaluate

CPU = Loading(device="cpu")
ASKED = [REQUESTS[1], REQUESTS[4], REQUESTS[5]]
TEXT = rope_shape(400, 160) | {"pad_token_id": 0}
VISION = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 1,
    "num_attention_heads": 4,
    "image_size": 16,
    "patch_size": 8,
}


def mistral() -> Any:
    config = hf.Mistral3Config(
        vision_config=hf.PixtralVisionConfig(**VISION),
        text_config=hf.MistralConfig(**TEXT),
        image_token_index=10,
    )
    return hf.Mistral3ForConditionalGeneration(config)


def llava() -> Any:
    config = hf.LlavaConfig(
        vision_config=hf.CLIPVisionConfig(**VISION),
        text_config=hf.LlamaConfig(**TEXT),
        image_token_index=10,
    )
    return hf.LlavaForConditionalGeneration(config)


def qwen() -> Any:
    rope = {"rope_type": "default", "mrope_section": [1, 1, 2], "rope_theta": 1e4}
    config = hf.Qwen2_5_VLConfig(
        text_config=TEXT | {"rope_parameters": rope},
        vision_config={"depth": 1, "hidden_size": 32, "intermediate_size": 48, "num_heads": 4}
        | {"out_hidden_size": 32},
        image_token_id=10,
    )
    return hf.Qwen2_5_VLForConditionalGeneration(config)


def paligemma() -> Any:
    config = hf.PaliGemmaConfig(
        text_config=TEXT | {"model_type": "gemma2"},
        vision_config=VISION | {"model_type": "siglip_vision_model"},
        image_token_index=10,
    )
    return hf.PaliGemmaForConditionalGeneration(config)


def blip() -> Any:
    shape = {"vocab_size": 400, "hidden_size": 32, "ffn_dim": 48, "num_hidden_layers": 1}
    text = {"model_type": "opt", "num_attention_heads": 4, "word_embed_proj_dim": 32} | shape
    former = {name: size for name, size in VISION.items() if "patch" not in name}
    config = hf.Blip2Config(
        text_config=text,
        vision_config=VISION,
        qformer_config=former | {"encoder_hidden_size": 32},
        num_query_tokens=2,
        image_token_index=10,
    )
    return hf.Blip2ForConditionalGeneration(config)


def save(build: Callable[[], Any], folder: Path) -> Any:
    """Save a model; return it as a family, whose weights are large."""
    tokenizer = llama_tokenizer()
    with seeded():
        family = causal("images", build(), tokenizer, bos=(1,), laban=(1, 2), window=160)
    family.model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return family


@pytest.mark.parametrize(
    ("build", "path"),
    [(mistral, "packed"), (llava, "packed"), (qwen, "packed"), (paligemma, "cached")],
)
def test_the_language_model_of_one_that_reads_images(
    build: Callable[[], Any], path: str, tmp_path: Path
) -> None:
    family = save(build, tmp_path)
    loaded = load_model(tmp_path, CPU)
    found = Engine(loaded)(ASKED)
    expected = formula(family, family.model, ASKED)
    assert found.log_likelihood.tolist() == pytest.approx(expected, abs=NATS)
    assert found.work.path == path
    assert loaded.decoder_window == 160


def test_a_result_says_that_images_were_left_out(tmp_path: Path) -> None:
    save(llava, tmp_path / "llava")
    (result,) = evaluate(tmp_path / "llava", write_pairs(tmp_path), loading=CPU).results
    assert (
        "the model also reads images; it was scored with its language model, from text only"
    ) in result.notes


def test_a_kernel_in_the_config_of_a_part_is_not_loaded(tmp_path: Path) -> None:
    family = save(llava, tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    config["text_config"]["_attn_implementation"] = "stranger/kernel"
    (tmp_path / "config.json").write_text(json.dumps(config))

    found = Engine(load_model(tmp_path, CPU))(ASKED)

    expected = formula(family, family.model, ASKED)
    assert found.log_likelihood.tolist() == pytest.approx(expected, abs=NATS)


def test_a_model_that_needs_an_image_is_refused(tmp_path: Path) -> None:
    save(blip, tmp_path)
    with refusal("model.not-a-language-model", str(tmp_path)):
        load_model(tmp_path, CPU)
