"""Weights that a checkpoint has and the model has not: refused if they are its own, else said."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers as hf
from safetensors.torch import load_file, save_file
from support.refusals import refusal
from support.tiny_models import Family, rope_shape, seeded

from nnd.metric.likelihood import Loading, load_model

Tiny = Callable[[str], Family]
Shapes = dict[str, tuple[int, ...]]
CPU = Loading(device="cpu")
HEADS = {"hidden_size": 32, "num_attention_heads": 4, "intermediate_size": 48}


def build(family: str, vocabulary: int) -> Any:
    """Return a tiny model of a family, with two layers."""
    rope = rope_shape(vocabulary, 160) | {"num_hidden_layers": 2}
    gpt = {"vocab_size": vocabulary, "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 160}
    both = {"vocab_size": vocabulary, "d_model": 32, "encoder_layers": 2, "decoder_layers": 2}
    both |= {f"{side}_{name}": n for side in ("encoder", "decoder") for name, n in
             {"attention_heads": 4, "ffn_dim": 48}.items()}  # fmt: skip
    moe = rope | {"num_local_experts": 2, "num_experts_per_tok": 1}
    latent = {"q_lora_rank": 16, "kv_lora_rank": 8, "qk_rope_head_dim": 4, "qk_nope_head_dim": 4}
    latent |= {"v_head_dim": 8, "n_routed_experts": 4, "n_group": 1, "topk_group": 1}
    latent |= {"moe_intermediate_size": 16, "num_experts_per_tok": 2, "first_k_dense_replace": 1}
    latent |= {"num_nextn_predict_layers": 1}
    bert = HEADS | {"vocab_size": vocabulary, "num_hidden_layers": 2}
    kinds: dict[str, tuple[Any, Any, dict[str, Any]]] = {
        "llama": (hf.LlamaForCausalLM, hf.LlamaConfig, rope),
        "mistral": (hf.MistralForCausalLM, hf.MistralConfig, rope),
        "qwen3": (hf.Qwen3ForCausalLM, hf.Qwen3Config, rope | {"head_dim": 8}),
        "gemma2": (hf.Gemma2ForCausalLM, hf.Gemma2Config, rope | {"head_dim": 8}),
        "olmo2": (hf.Olmo2ForCausalLM, hf.Olmo2Config, rope),
        "mixtral": (hf.MixtralForCausalLM, hf.MixtralConfig, moe),
        "deepseek": (hf.DeepseekV3ForCausalLM, hf.DeepseekV3Config, rope | latent),
        "gpt2": (hf.GPT2LMHeadModel, hf.GPT2Config, gpt),
        "gptj": (hf.GPTJForCausalLM, hf.GPTJConfig, gpt | {"rotary_dim": 4}),
        "neox": (hf.GPTNeoXForCausalLM, hf.GPTNeoXConfig, bert),
        "gpt-neo": (
            hf.GPTNeoForCausalLM,
            hf.GPTNeoConfig,
            {"vocab_size": vocabulary, "hidden_size": 32, "num_layers": 2, "num_heads": 4}
            | {"attention_types": [[["global"], 2]], "max_position_embeddings": 160},
        ),
        "opt": (hf.OPTForCausalLM, hf.OPTConfig, bert | {"ffn_dim": 48, "word_embed_proj_dim": 32}),
        "bart": (hf.BartForConditionalGeneration, hf.BartConfig, both),
        "t5": (
            hf.T5ForConditionalGeneration,
            hf.T5Config,
            {"vocab_size": vocabulary, "d_model": 32, "d_kv": 8, "num_heads": 4}
            | {"num_layers": 2, "d_ff": 48},
        ),
        "mamba": (
            hf.MambaForCausalLM,
            hf.MambaConfig,
            {"vocab_size": vocabulary, "hidden_size": 32, "num_hidden_layers": 2, "state_size": 4},
        ),
        "bert": (hf.BertForMaskedLM, hf.BertConfig, bert),
        "roberta": (hf.RobertaForMaskedLM, hf.RobertaConfig, bert),
    }
    model, config, options = kinds[family]
    with seeded():
        return model(config(**options))


@pytest.fixture
def checkpoint(tiny: Tiny, tmp_path: Path) -> Callable[..., Path]:
    """`checkpoint("llama", {"x.bias": (3,)})`: a saved tiny model with more tensors."""

    def save(family: str, more: Shapes, **config: Any) -> Path:
        tokenizer = tiny("gpt2").tokenizer
        build(family, len(tokenizer)).save_pretrained(tmp_path)
        tokenizer.save_pretrained(tmp_path)
        add(tmp_path, more)
        edit(tmp_path, **config)
        return tmp_path

    return save


def add(folder: Path, more: Shapes) -> None:
    path = folder / "model.safetensors"
    tensors = {name: torch.full(shape, 0.5) for name, shape in more.items()}
    save_file(load_file(path) | tensors, path, metadata={"format": "pt"})


def edit(folder: Path, **settings: Any) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | settings))


# Its own: refused


OWN: list[tuple[str, str, tuple[int, ...]]] = [
    ("llama", "model.layers.0.self_attn.q_proj.bias", (32,)),
    ("llama", "model.layers.2.mlp.up_proj.weight", (48, 32)),
    ("llama", "model.layers.1.self_attn.q_norm.weight", (8,)),  # of Qwen3
    ("llama", "model.layers.0.self_attn.sinks", (4,)),  # of gpt-oss
    ("llama", "model.layers.0.pre_feedforward_layernorm.weight", (32,)),  # of Gemma 2
    ("llama", "model.norm.bias", (32,)),
    ("llama", "lm_head.bias", (360,)),
    ("llama", "model.embed_positions.weight", (160, 32)),
    ("llama", "model.embed_norm.weight", (32,)),  # of BLOOM's kind
    ("mistral", "model.layers.0.mlp.down_proj.weight_scale_inv", (1, 1)),  # FP8, config lost
    ("mistral", "model.layers.0.mlp.down_proj.SCB", (32,)),  # int8, config lost
    ("mistral", "model.layers.0.mlp.up_proj.lora_A.default.weight", (4, 32)),
    ("qwen3", "model.layers.0.self_attn.o_proj.bias", (32,)),
    ("gemma2", "model.layers.0.self_attn.k_norm.weight", (8,)),
    ("olmo2", "model.layers.0.input_layernorm.weight", (32,)),
    ("mixtral", "model.layers.0.mlp.gate.e_score_correction_bias", (2,)),
    ("gpt2", "transformer.h.2.ln_1.weight", (32,)),
    ("gpt2", "h.2.ln_1.weight", (32,)),  # as saved without a head
    ("gpt2", "transformer.h.0.ln_cross_attn.weight", (32,)),
    ("neox", "gpt_neox.layers.0.attention.query_key_value.scale", (1,)),
    ("opt", "model.decoder.project_in.weight", (32, 32)),
    ("bart", "model.decoder.layers.2.fc1.weight", (48, 32)),
    ("bart", "model.encoder.layer_norm.weight", (32,)),  # of mBART
    ("t5", "decoder.block.1.layer.0.SelfAttention.relative_attention_bias.weight", (32, 4)),
    ("mamba", "backbone.layers.0.mixer.dt_layernorm.weight", (2,)),  # of FalconMamba
    ("bert", "bert.encoder.layer.2.output.dense.weight", (32, 48)),
]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("family", "name", "shape"), OWN)
def test_a_tensor_that_belongs_to_the_model_is_not_left_out(
    family: str, name: str, shape: tuple[int, ...], checkpoint: Callable[..., Path]
) -> None:
    with refusal("model.damaged") as caught:
        load_model(checkpoint(family, {name: shape}), CPU)
    assert name in caught.value.what


def test_biases_that_the_config_denies(tiny: Tiny, tmp_path: Path) -> None:
    # The checkpoint of case 12: one word of its config changed.
    tokenizer = tiny("gpt2").tokenizer
    config = hf.LlamaConfig(**rope_shape(len(tokenizer), 160), attention_bias=True)
    with seeded():
        hf.LlamaForCausalLM(config).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    assert load_model(tmp_path, CPU).notes == ()
    edit(tmp_path, attention_bias=False)
    with refusal("model.damaged") as caught:
        load_model(tmp_path, CPU)
    assert "k_proj.bias" in caught.value.what


@pytest.mark.parametrize("form", ["shards", "bin"])
def test_shards_and_pickles_are_checked_alike(form: str, tiny: Tiny, tmp_path: Path) -> None:
    tokenizer = tiny("gpt2").tokenizer
    model = build("llama", len(tokenizer))
    state = model.state_dict() | {"model.layers.1.mlp.up_proj.bias": torch.ones(48)}
    if form == "bin":
        model.config.save_pretrained(tmp_path)
        torch.save(state, tmp_path / "pytorch_model.bin")
    else:
        model.save_pretrained(tmp_path, state_dict=state, max_shard_size="20KB")
        assert len([*tmp_path.glob("*.safetensors")]) > 1
    tokenizer.save_pretrained(tmp_path)
    with refusal("model.damaged") as caught:
        load_model(tmp_path, CPU)
    assert "up_proj.bias" in caught.value.what


# Of another task: said


OTHERS: list[tuple[str, str]] = [
    ("llama", "v_head.summary.weight"),  # TRL's value head
    ("llama", "score.weight"),
    ("llama", "vision_tower.encoder.layers.0.mlp.fc1.weight"),
    ("llama", "model.visual.blocks.0.attn.qkv.bias"),
    ("llama", "multi_modal_projector.linear_1.weight"),
    ("llama", "mtp.layers.0.mlp.up_proj.weight"),
    ("llama", "model.mtp_layers.0.input_proj.weight"),  # of MiMo
    ("llama", "model.layers.2.eh_proj.weight"),  # of DeepSeek's kind
    ("gpt2", "multiple_choice_head.summary.weight"),
    ("bart", "classification_head.dense.weight"),
    ("bert", "bert.pooler.dense.weight"),
    ("bert", "cls.seq_relationship.weight"),
    ("roberta", "classifier.dense.weight"),
    ("t5", "v_head.summary.bias"),
]


@pytest.mark.parametrize(("family", "name"), OTHERS)
def test_what_is_of_another_task_is_left_out_with_a_note(
    family: str, name: str, checkpoint: Callable[..., Path]
) -> None:
    (note,) = load_model(checkpoint(family, {name: (4, 4)}), CPU).notes
    assert note.startswith("1 tensor ")
    assert name.split(".", maxsplit=1)[0] in note


def test_layers_that_predict_several_tokens_are_left_out(checkpoint: Callable[..., Path]) -> None:
    names = ("eh_proj.weight", "self_attn.o_proj.weight", "mlp.gate.weight")
    more = {f"model.layers.2.{name}": (4, 4) for name in names}
    (note,) = load_model(checkpoint("deepseek", more), CPU).notes
    assert "3 tensors" in note
    assert "model.layers.2" in note


def test_a_note_of_many_tensors_is_short(checkpoint: Callable[..., Path]) -> None:
    more = {f"head_{n}.layers.{k}.weight": (2,) for n in range(9) for k in range(20)}
    (note,) = load_model(checkpoint("llama", more), CPU).notes
    assert "180 tensors" in note
    assert len(note) < 200


# Formulas and records: nothing to say


COMPUTED: list[tuple[str, str, tuple[int, ...]]] = [
    ("llama", "model.layers.0.self_attn.rotary_emb.inv_freq", (4,)),
    ("mistral", "model.layers.1.self_attn.rotary_emb.cos_cached", (160, 8)),
    ("neox", "gpt_neox.layers.0.attention.rotary_emb.inv_freq", (4,)),
    ("neox", "gpt_neox.layers.0.attention.masked_bias", ()),
    ("neox", "gpt_neox.layers.0.attention.bias", (1, 1, 160, 160)),
    ("gpt2", "transformer.h.0.attn.bias", (1, 1, 160, 160)),
    ("gpt2", "h.0.attn.bias", (1, 1, 160, 160)),
    ("gpt2", "transformer.h.1.attn.masked_bias", ()),
    ("gptj", "transformer.h.0.attn.bias", (1, 1, 160, 160)),
    ("gpt-neo", "transformer.h.0.attn.attention.bias", (1, 1, 160, 160)),
    ("gpt-neo", "transformer.h.0.attn.attention.masked_bias", ()),
    ("opt", "model.decoder.version", (1,)),
    ("bart", "model.encoder.version", (1,)),
    ("bert", "bert.embeddings.position_ids", (1, 512)),
    ("roberta", "roberta.embeddings.position_ids", (1, 514)),
    ("llama", "model.layers.0.mlp._extra_state", (1,)),
    ("t5", "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight", (32, 4)),
]


@pytest.mark.parametrize(("family", "name", "shape"), COMPUTED)
def test_what_follows_from_a_formula_is_not_mentioned(
    family: str, name: str, shape: tuple[int, ...], checkpoint: Callable[..., Path]
) -> None:
    assert load_model(checkpoint(family, {name: shape}), CPU).notes == ()


# Other shapes


@pytest.mark.parametrize(
    ("family", "settings", "fact"),
    [
        ("llama", {"vocab_size": 350}, "lm_head.weight is 360x32, but 350x32"),
        ("gpt2", {"vocab_size": 370}, "wte.weight is 360x32, but 370x32"),
        ("llama", {"intermediate_size": 40}, "down_proj.weight is 32x48, but 32x40"),
        ("t5", {"vocab_size": 300}, "360x32, but 300x32"),
        ("bert", {"max_position_embeddings": 77}, "position_embeddings.weight is 512x32, but 77"),
        ("mamba", {"state_size": 8}, "A_log is 64x4, but 64x8"),
        ("mixtral", {"intermediate_size": 40}, "experts"),
    ],
)
def test_tensors_of_other_shapes_are_named(
    family: str, settings: dict[str, Any], fact: str, checkpoint: Callable[..., Path]
) -> None:
    with refusal("model.damaged") as caught:
        load_model(checkpoint(family, {}, **settings), CPU)
    assert fact in caught.value.what
    assert "above" not in str(caught.value)
