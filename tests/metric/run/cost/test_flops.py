"""Floating-point operations: those that torch counts, less what is masked."""

from dataclasses import replace
from typing import Any

import pytest
import torch
import transformers as hf
from torch.utils.flop_counter import FlopCounterMode

from nnd.metric.likelihood import LoadedModel
from nnd.metric.run.cost.flop_shapes import flop_shape
from nnd.metric.run.cost.flops import FlopShape, needed_flops
from nnd.metric.text import Encoded

WIDTH, LAYERS, WORDS = 64, 2, 50
LLAMA = {
    "vocab_size": WORDS,
    "hidden_size": WIDTH,
    "intermediate_size": 96,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
}
MODELS: dict[str, Any] = {
    "gpt2": lambda: hf.GPT2LMHeadModel(
        hf.GPT2Config(vocab_size=WORDS, n_embd=WIDTH, n_layer=LAYERS, n_head=4)
    ),
    "llama": lambda: hf.LlamaForCausalLM(hf.LlamaConfig(**LLAMA)),
    "wide heads": lambda: hf.LlamaForCausalLM(hf.LlamaConfig(**LLAMA, head_dim=32)),
    "mixtral": lambda: hf.MixtralForCausalLM(
        hf.MixtralConfig(**LLAMA, num_local_experts=4, num_experts_per_tok=2)
    ),
    "bart": lambda: hf.BartForConditionalGeneration(
        hf.BartConfig(
            vocab_size=WORDS,
            d_model=WIDTH,
            encoder_layers=1,
            decoder_layers=LAYERS,
            encoder_attention_heads=4,
            decoder_attention_heads=4,
            encoder_ffn_dim=96,
            decoder_ffn_dim=96,
        )
    ),
    "t5": lambda: hf.T5ForConditionalGeneration(
        hf.T5Config(
            vocab_size=WORDS, d_model=WIDTH, d_kv=16, d_ff=96, num_layers=LAYERS, num_heads=4
        )
    ),
}


def as_loaded(model: Any) -> LoadedModel:
    return LoadedModel(model.eval(), None, "made")  # type: ignore[arg-type]


def shape_of(model: Any) -> FlopShape:
    return flop_shape(as_loaded(model))


def row(context: int, candidate: int) -> Encoded:
    ids = tuple(range(3, 3 + candidate))
    return Encoded(tuple(range(3, 3 + context)), ids, ids, (True,) * candidate, truncated=False)


def test_a_masked_row_needs_what_torch_counts() -> None:
    config = hf.BertConfig(
        vocab_size=WORDS,
        hidden_size=WIDTH,
        num_hidden_layers=LAYERS,
        num_attention_heads=4,
        intermediate_size=96,
    )
    model = hf.BertForMaskedLM(config).eval()
    model.set_attn_implementation("eager")
    asked = row(context=9, candidate=5)._replace(scored=(False, True, False, False, False))
    with torch.inference_mode(), FlopCounterMode(display=False) as counter:
        hidden = model.base_model(torch.tensor([asked.context + asked.inputs])).last_hidden_state
        model.get_output_embeddings()(hidden[:, 10:11])
    assert needed_flops(shape_of(model), [asked]) == counter.get_total_flops()


@pytest.mark.parametrize("name", MODELS)
def test_one_request_needs_what_torch_counts(name: str) -> None:
    model = MODELS[name]()
    model.set_attn_implementation("eager")  # torch does not count a CPU's fused kernels
    model.set_experts_implementation("eager")
    asked = row(context=9, candidate=5)
    context, inputs = (torch.tensor([ids]) for ids in (asked.context, asked.inputs))
    decoder = model.eval().get_decoder()
    with torch.inference_mode(), FlopCounterMode(display=False) as counter:
        if model.config.is_encoder_decoder:
            states = model.get_encoder()(context).last_hidden_state
            hidden = decoder(inputs, encoder_hidden_states=states).last_hidden_state
        else:
            hidden = decoder(torch.cat([context, inputs], 1)).last_hidden_state[:, 9:]
        model.get_output_embeddings()(hidden)
    # Torch counts the keys behind a query, which a causal mask hides.
    read = 5 if model.config.is_encoder_decoder else 14
    width = 4 * 32 if name == "wide heads" else WIDTH
    hidden_keys = read * read - read * (read + 1) // 2
    expected = counter.get_total_flops() - 4 * width * LAYERS * hidden_keys
    assert needed_flops(shape_of(model), [asked]) == pytest.approx(expected, rel=1e-3)


def test_a_decoder_without_a_configuration_counts_as_others_do() -> None:
    """FSMT's: the same network as BART's, but every token goes through the head."""
    sizes = {
        "d_model": WIDTH,
        "encoder_layers": 1,
        "decoder_layers": LAYERS,
        "encoder_attention_heads": 4,
        "decoder_attention_heads": 4,
        "encoder_ffn_dim": 96,
        "decoder_ffn_dim": 96,
    }
    words = {"src_vocab_size": WORDS, "tgt_vocab_size": WORDS}
    fsmt = hf.FSMTForConditionalGeneration(hf.FSMTConfig(langs=["en", "de"], **words, **sizes))
    bart = hf.BartForConditionalGeneration(hf.BartConfig(vocab_size=WORDS, **sizes))
    expected = shape_of(bart)
    expected = replace(expected, candidate_weights=expected.candidate_weights + WORDS * WIDTH)
    assert shape_of(fsmt) == expected


def test_requests_share_their_context() -> None:
    model = hf.GPT2LMHeadModel(hf.GPT2Config(vocab_size=10, n_embd=4, n_layer=2, n_head=2))
    # A layer: queries, keys and values 4 x 12, output 4 x 4, up 4 x 16, down 16 x 4.
    weights = 2 * (48 + 16 + 64 + 64)
    # Context of 3, candidate of 2: 5 tokens, which see 1 … 5 keys; 2 of them are scored.
    one = 2 * weights * 5 + 4 * 4 * 2 * (1 + 2 + 3 + 4 + 5) + 2 * 4 * 10 * 2
    assert needed_flops(shape_of(model), [row(3, 2)]) == one
    more = 2 * weights * 3 + 4 * 4 * 2 * (4 + 5 + 6) + 2 * 4 * 10 * 3
    assert needed_flops(shape_of(model), [row(3, 2), row(3, 3)]) == one + more


def test_weights_need_not_be_there() -> None:
    with torch.device("meta"):
        shapes = MODELS["bart"]()
    asked = [row(9, 5), row(4, 2)]
    whole = needed_flops(shape_of(MODELS["bart"]()), asked)
    assert needed_flops(shape_of(shapes), asked) == whole
