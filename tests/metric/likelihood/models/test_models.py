"""Models: loaded from folders, refused with a reason, handed back as they were."""

import copy
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers as hf
from support.refusals import refusal
from support.tiny_models import Family

from nnd.metric.likelihood import Loading
from nnd.metric.likelihood.engine.engine import Engine
from nnd.metric.likelihood.models.load_model import (
    best_device,
    evaluation_mode,
    load_config,
    load_model,
    load_skeleton,
    wrap_model,
)
from nnd.metric.likelihood.models.loaded_model import LoadedModel
from nnd.metric.likelihood.models.model_digests import weights_digest

Saved = Callable[[str], Path]
Tiny = Callable[[str], Family]
REQUESTS = [("Who wrote the book?", "the cat"), ("the river", "a dog in London")]


def check_refused(model_id: str | Path, code: str, fact: str = "", **options: Any) -> None:
    """Check that a model cannot be loaded, and that a short sentence says so."""
    with refusal(code) as caught:
        load_model(model_id, Loading(device="cpu", **options))
    assert fact in caught.value.what
    assert len(str(caught.value)) < 500


# Loading


@pytest.mark.parametrize("name", ["gpt2", "bart"])
def test_a_saved_model_scores_as_before(name: str, saved: Saved, tiny: Tiny) -> None:
    before = Engine(wrap_model(tiny(name).model, tiny(name).tokenizer))(REQUESTS)
    after = Engine(load_model(saved(name), Loading(device="cpu")))(REQUESTS)
    assert after.log_likelihood.tolist() == pytest.approx(before.log_likelihood.tolist(), abs=1e-6)
    assert after.tokens.tolist() == before.tokens.tolist()


def test_on_cpu_weights_are_float32_whatever_the_checkpoint(tiny: Tiny, tmp_path: Path) -> None:
    copy.deepcopy(tiny("gpt2").model).bfloat16().save_pretrained(tmp_path)
    tiny("gpt2").tokenizer.save_pretrained(tmp_path)
    assert load_model(tmp_path, Loading(device="cpu")).dtype == "float32"
    assert load_model(tmp_path, Loading(device="cpu", dtype="auto")).dtype == "bfloat16"


def test_bfloat16_can_be_asked_for_and_scores(saved: Saved, tiny: Tiny) -> None:
    loaded = load_model(saved("gpt2"), Loading(device="cpu", dtype="bfloat16"))
    assert loaded.dtype == "bfloat16"
    exact = Engine(wrap_model(tiny("gpt2").model, tiny("gpt2").tokenizer))(REQUESTS)
    found = Engine(loaded)(REQUESTS)
    # 8 bits of mantissa: close, and not the same.
    assert found.log_likelihood.tolist() == pytest.approx(exact.log_likelihood.tolist(), abs=0.1)
    assert found.log_likelihood.tolist() != exact.log_likelihood.tolist()


def test_the_best_device_can_be_used() -> None:
    assert torch.empty(1, device=best_device()).shape == (1,)


def test_the_weights_learnt_are_all_there_is_to_load(tiny: Tiny, tmp_path: Path) -> None:
    # Pegasus counts positions by a formula, and many a checkpoint of it leaves them out.
    pegasus = tiny("pegasus")
    weights = {
        name: weight
        for name, weight in pegasus.model.state_dict().items()
        if "embed_positions" not in name
    }
    pegasus.model.save_pretrained(tmp_path, state_dict=weights)
    pegasus.tokenizer.save_pretrained(tmp_path)
    positions = load_model(tmp_path, Loading(device="cpu")).model.get_encoder().embed_positions
    # Vaswani et al. 2017: sin(position / 10000^0) comes first, so sin(0) and sin(1).
    assert positions.weight[:2, 0].tolist() == pytest.approx([0.0, 0.841471], abs=1e-6)


# Refusing


@pytest.mark.parametrize("dtype", ["banana", "int8", "nn", "float31"])
def test_an_unknown_dtype_lists_the_usual_ones(dtype: str, saved: Saved) -> None:
    check_refused(saved("gpt2"), "option.unknown-value", f'"{dtype}"', dtype=dtype)


@pytest.mark.parametrize("device", ["banana", "cuda:99", "cpu:x"])
def test_a_device_that_is_not_there_is_named(device: str, saved: Saved) -> None:
    with refusal("model.device"):
        load_model(saved("gpt2"), Loading(device=device))


def without(*names: str) -> Callable[[Path], None]:
    def remove(folder: Path) -> None:
        for name in names:
            (folder / name).unlink()

    return remove


def half_of(name: str) -> Callable[[Path], None]:
    def cut(folder: Path) -> None:
        os.truncate(folder / name, (folder / name).stat().st_size // 2)

    return cut


WEIGHTS = "model.safetensors"
TOKENIZER_FILES = ["tokenizer.json", "tokenizer_config.json"]


@pytest.mark.parametrize(
    ("name", "damage", "code"),
    [
        ("gpt2", without("config.json", WEIGHTS, *TOKENIZER_FILES), "model.unknown"),
        ("gpt2", half_of("config.json"), "file.cut-off"),
        ("gpt2", without(WEIGHTS), "model.damaged"),
        ("gpt2", half_of(WEIGHTS), "model.damaged"),
        # For most of these transformers makes up a tokenizer that knows no word.
        *(
            (name, without(*TOKENIZER_FILES), "model.tokenizer")
            for name in ("gpt2", "bart", "t5", "llama")
        ),
        ("gpt2", half_of("tokenizer.json"), "model.tokenizer"),
    ],
)
def test_a_folder_without_a_whole_model_is_refused(
    name: str, damage: Callable[[Path], None], code: str, folder: Saved
) -> None:
    mine = folder(name)
    damage(mine)
    check_refused(mine, code)


@pytest.mark.parametrize(
    "named",
    [
        {"_attn_implementation": "kernels-community/flash-attn2"},
        {"attn_implementation": "stranger/kernel@main:attention"},
        {"_attn_implementation": {"": "stranger/kernel"}},
        {"_attn_implementation": "flash_attention_2"},
        {"_experts_implementation": "stranger/kernel"},
        {"experts_implementation": "sonicmoe"},
    ],
)
def test_a_kernel_in_a_config_is_not_loaded(
    named: dict[str, Any], saved: Saved, folder: Saved
) -> None:
    mine = folder("llama")
    config = json.loads((mine / "config.json").read_text())
    (mine / "config.json").write_text(json.dumps(config | named))

    loaded = load_model(mine, Loading(device="cpu"))
    skeleton = load_skeleton(mine, Loading(device="cpu"))

    plain = load_model(saved("llama"), Loading(device="cpu"))
    for model in (loaded.model, skeleton.model):
        assert model.config._attn_implementation == plain.model.config._attn_implementation
    found, expected = (Engine(each)(REQUESTS).log_likelihood for each in (loaded, plain))
    assert found.tolist() == expected.tolist()


def test_what_torch_computes_may_be_named_in_a_config(folder: Saved) -> None:
    mine = folder("llama")
    config = json.loads((mine / "config.json").read_text())
    (mine / "config.json").write_text(json.dumps(config | {"_attn_implementation": "eager"}))

    assert load_model(mine, Loading(device="cpu")).model.config._attn_implementation == "eager"


def test_a_tokenizer_without_words_is_refused_when_handed_over(tiny: Tiny, folder: Saved) -> None:
    mine = folder("gpt2")
    without(*TOKENIZER_FILES)(mine)
    empty = hf.AutoTokenizer.from_pretrained(mine)
    with refusal("model.tokenizer", "mine"):
        wrap_model(tiny("gpt2").model, empty, name="mine")


def test_a_model_without_a_head_is_refused_since_a_random_one_would_score(
    tiny: Tiny, tmp_path: Path
) -> None:
    tiny("llama").model.base_model.save_pretrained(tmp_path)
    tiny("llama").tokenizer.save_pretrained(tmp_path)
    check_refused(tmp_path, "model.damaged", "lm_head.weight")


def test_a_checkpoint_that_lacks_several_weights_says_how_many(tiny: Tiny, tmp_path: Path) -> None:
    gpt2 = tiny("gpt2")
    weights = {
        name: weight
        for name, weight in gpt2.model.state_dict().items()
        if not name.startswith("transformer.h.1.ln_") and name != "lm_head.weight"
    }
    gpt2.model.save_pretrained(tmp_path, state_dict=weights)
    gpt2.tokenizer.save_pretrained(tmp_path)
    # Two norms, each with weight and bias; the head is the embedding, so it is not missing.
    check_refused(tmp_path, "model.damaged", "3 others")


def test_a_base_model_whose_head_is_its_embedding_is_whole(tiny: Tiny, tmp_path: Path) -> None:
    tiny("bart").model.base_model.save_pretrained(tmp_path)
    tiny("bart").tokenizer.save_pretrained(tmp_path)
    assert load_model(tmp_path, Loading(device="cpu")).is_encoder_decoder


def test_a_family_that_is_no_language_model(tmp_path: Path, tiny: Tiny) -> None:
    hf.ViTConfig(hidden_size=8, num_hidden_layers=1, num_attention_heads=1).save_pretrained(
        tmp_path
    )
    tiny("gpt2").tokenizer.save_pretrained(tmp_path)
    check_refused(tmp_path, "model.not-a-language-model", "vit: it reads images")


def test_the_config_alone_tells_whether_there_is_a_model(folder: Saved, tmp_path: Path) -> None:
    mine = folder("gpt2")
    without(*TOKENIZER_FILES, WEIGHTS)(mine)
    assert load_config(mine).model_type == "gpt2"
    with refusal("model.unknown", "test_the_config_alone_tells_wh0"):
        load_config(tmp_path)


# What does not fit


def masked(tokenizer: Any, *, is_decoder: bool) -> LoadedModel:
    config = hf.BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=48,
        is_decoder=is_decoder,
    )
    with torch.random.fork_rng():
        torch.manual_seed(1)
        model = hf.BertLMHeadModel(config)
    return wrap_model(model, tokenizer, name="bert")


def test_a_masked_language_model_is_refused_since_it_sees_what_it_predicts(tiny: Tiny) -> None:
    tokenizer = tiny("gpt2").tokenizer
    with refusal("model.not-a-language-model", "bert"):
        Engine(masked(tokenizer, is_decoder=False))(REQUESTS)
    # The same network with a causal mask is one that can be asked.
    assert Engine(masked(tokenizer, is_decoder=True))(REQUESTS).log_likelihood.max() < 0


@pytest.mark.parametrize(
    ("family", "kind"),
    [
        ("gpt2", hf.GPT2ForSequenceClassification),
        ("gpt2", hf.GPT2Model),
        ("llama", hf.LlamaForTokenClassification),
        ("bart", hf.BartForSequenceClassification),
        ("t5", hf.T5EncoderModel),
    ],
)
def test_a_model_that_predicts_no_tokens_is_refused(family: str, kind: Any, tiny: Tiny) -> None:
    model = kind(copy.deepcopy(tiny(family).model.config))
    with refusal("model.not-a-language-model"):
        wrap_model(model, tiny(family).tokenizer)


@pytest.mark.parametrize(
    ("family", "kind"),
    [
        ("gpt2", hf.GPT2ForSequenceClassification),  # its embeddings would be the head
        ("t5", hf.T5ForSequenceClassification),
    ],
)
def test_a_classifiers_checkpoint_is_refused(
    family: str, kind: Any, tiny: Tiny, tmp_path: Path
) -> None:
    kind(copy.deepcopy(tiny(family).model.config)).save_pretrained(tmp_path)
    tiny(family).tokenizer.save_pretrained(tmp_path)

    check_refused(tmp_path, "model.not-a-language-model", kind.__name__)


def test_what_is_no_model_and_no_tokenizer_is_refused(tiny: Tiny) -> None:
    gpt2 = tiny("gpt2")
    with refusal("model.not-a-language-model", "object"):
        wrap_model(object(), gpt2.tokenizer)  # type: ignore[arg-type]
    with refusal("model.tokenizer"):
        wrap_model(gpt2.model, "gpt2")  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["gpt2", "t5"])
def test_another_models_tokenizer_is_found_out_by_its_ids(name: str, tiny: Tiny) -> None:
    foreign = tiny("llama").tokenizer  # its ids go up to 399
    family = tiny(name)
    with refusal("model.tokenizer"):
        Engine(wrap_model(family.model, foreign))([("Who wrote the book about it?", "a")])


@pytest.mark.parametrize("token_budget", [0, -1])
def test_a_batch_has_at_least_one_request(token_budget: int, loaded: Callable[..., Any]) -> None:
    with refusal("option.bad-value"):
        Engine(loaded("gpt2"), token_budget=token_budget)


# Versions


def test_the_order_of_the_weights_is_not_part_of_the_version() -> None:
    class Shelf(torch.nn.Module):
        def __init__(self, *names: str) -> None:
            super().__init__()
            for name in names:
                self.register_buffer(name, torch.tensor([float(ord(name))]))

    assert weights_digest(Shelf("a", "b")) == weights_digest(Shelf("b", "a"))  # type: ignore[arg-type]
    assert weights_digest(Shelf("a", "b")) != weights_digest(Shelf("a", "c"))  # type: ignore[arg-type]


# Handed over


def test_a_model_loaded_by_transformers_keeps_its_name(saved: Saved, tiny: Tiny) -> None:
    model = hf.AutoModelForCausalLM.from_pretrained(saved("gpt2"))
    assert wrap_model(model, tiny("gpt2").tokenizer).name == str(saved("gpt2"))


def test_each_module_is_handed_back_in_its_own_mode(fresh: Callable[..., Family]) -> None:
    model = fresh("gpt2").model
    model.train()
    model.transformer.h[0].eval()  # as when a part is frozen
    with evaluation_mode(model):
        assert not any(module.training for module in model.modules())
        assert torch.is_inference_mode_enabled()
    assert model.training
    assert model.transformer.h[1].attn.training
    assert not model.transformer.h[0].attn.training


def test_the_mode_comes_back_after_an_error(fresh: Callable[..., Family]) -> None:
    model = fresh("gpt2").model.train()

    def fail() -> None:
        with evaluation_mode(model):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert model.training
    assert not torch.is_inference_mode_enabled()


# Windows


def test_separate_windows_of_encoder_and_decoder_are_told_apart(tiny: Tiny) -> None:
    tokenizer = tiny("bart").tokenizer
    config = hf.LEDConfig(
        vocab_size=len(tokenizer),
        d_model=16,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=16,
        decoder_ffn_dim=16,
        attention_window=8,
        max_encoder_position_embeddings=64,
        max_decoder_position_embeddings=32,
    )
    loaded = wrap_model(hf.LEDForConditionalGeneration(config), tokenizer)
    assert (loaded.encoder_window, loaded.decoder_window) == (64, 32)


@pytest.mark.parametrize("limit", [int(1e30), None])
def test_a_tokenizer_that_knows_no_limit_sets_none(
    limit: int | None, fresh: Callable[..., Family]
) -> None:
    for name, window in (("gpt2", 40), ("bloom", None)):
        family = fresh(name, window=40)
        family.tokenizer.model_max_length = limit
        assert wrap_model(family.model, family.tokenizer).decoder_window == window


@pytest.mark.parametrize("family", ["gpt2", "bart"])
def test_tied_weights_count_once(loaded: Callable[[str], LoadedModel], family: str) -> None:
    found = loaded(family)
    assert found.parameters == found.model.num_parameters()
    stored = sum(tensor.numel() for tensor in found.model.state_dict().values())
    assert found.parameters < stored  # which holds tied weights once for each of their names
