"""Tiny encoder-decoders that `tiny_models` does not have, with its tokenizers."""

from collections.abc import Callable
from typing import Any

import torch
import transformers as hf
from support.tiny_models import (
    Family,
    bart_shape,
    bart_tokenizer,
    encoder_decoder,
    rope_shape,
    unigram,
)

WINDOW = 160


def like_bart(kind: str, **more: Any) -> Callable[[], Family]:
    """`<s> text </s>`, and </s> starts the decoder."""

    def make() -> Family:
        tokenizer = bart_tokenizer()
        special = {"bos_token_id": 0, "pad_token_id": 1, "eos_token_id": 2}
        shape = bart_shape(len(tokenizer), WINDOW) | special | {"decoder_start_token_id": 2}
        model = _of_config(kind, shape | more)
        return encoder_decoder(model, tokenizer, ((0,), (2,)), (0, 2), start=2, window=WINDOW)

    return make


def like_t5(kind: str, **more: Any) -> Callable[[], Family]:
    """`text </s>`, and the pad token, which is 0, starts the decoder."""

    def make() -> Family:
        tokenizer = _t5_tokenizer()
        shape = {
            "vocab_size": len(tokenizer),
            "d_model": 32,
            "d_kv": 8,
            "d_ff": 48,
            "num_layers": 2,
            "num_decoder_layers": 2,
            "num_heads": 4,
            "dropout_rate": 0.5,
            "pad_token_id": 0,
            "eos_token_id": 1,
            "decoder_start_token_id": 0,
            "relative_attention_num_buckets": 8,
            "relative_attention_max_distance": 20,
        }
        model = _of_config(kind, shape | more)
        found = encoder_decoder(model, tokenizer, ((), (1,)), (0, 1), start=0, window=None)
        with torch.no_grad():  # a tied head divides by sqrt(d_model)
            model.get_input_embeddings().weight.mul_(32**0.5)
        return found

    return make


def _pegasus_x() -> Family:
    """Attention in blocks of 8, and 4 tokens that see and are seen by all."""
    vocab = unigram(["<pad>", "</s>", "<unk>", "<mask_1>", "<mask_2>"])
    tokenizer = hf.PegasusTokenizer(vocab=vocab, offset=2)
    special = {"pad_token_id": 0, "bos_token_id": 0, "eos_token_id": 1, "decoder_start_token_id": 0}
    shape = bart_shape(len(tokenizer), WINDOW) | special | {"block_size": 8, "num_global_tokens": 4}
    model = _of_config("pegasus_x", shape)
    return encoder_decoder(model, tokenizer, ((), (1,)), (0, 1), start=0, window=WINDOW)


def _t5gemma() -> Family:
    """Two Gemma-2s; the start token, 2, starts the decoder."""
    tokenizer = _t5_tokenizer()
    shape = rope_shape(len(tokenizer), WINDOW) | {
        "pad_token_id": 0,
        "eos_token_id": 1,
        "bos_token_id": 2,
        "sliding_window": 8,
        "query_pre_attn_scalar": 8,
        "layer_types": ["sliding_attention", "full_attention"],
    }
    config = hf.T5GemmaConfig(encoder={**shape}, decoder={**shape}, vocab_size=len(tokenizer))
    model = hf.T5GemmaForConditionalGeneration(config)
    return encoder_decoder(model, tokenizer, ((), (1,)), (2, 1), start=2, window=WINDOW)


def _two_robertas() -> Family:
    tokenizer = bart_tokenizer()
    shape = {
        "model_type": "roberta",
        "vocab_size": len(tokenizer),
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "max_position_embeddings": WINDOW + 2,
        "type_vocab_size": 1,
        "pad_token_id": 1,
    }
    config = hf.EncoderDecoderConfig(
        encoder=shape,
        decoder=shape | {"is_decoder": True, "add_cross_attention": True},
        pad_token_id=1,
        eos_token_id=2,
        decoder_start_token_id=0,
    )
    model = hf.EncoderDecoderModel(config)
    return encoder_decoder(model, tokenizer, ((0,), (2,)), (0, 2), start=0, window=WINDOW)


def _t5_tokenizer() -> Any:
    return hf.T5Tokenizer(vocab=unigram(["<pad>", "</s>", "<unk>"]), extra_ids=0)


def _of_config(kind: str, fields: dict[str, Any]) -> Any:
    return hf.AutoModelForSeq2SeqLM.from_config(hf.AutoConfig.for_model(kind, **fields))


_LED = {
    "attention_window": 8,
    "max_encoder_position_embeddings": WINDOW,
    "max_decoder_position_embeddings": WINDOW,
}
_NLLB = {
    "num_experts": 4,
    "encoder_sparse_step": 2,
    "decoder_sparse_step": 2,
    "expert_capacity": 64,
}
_SWITCH = {
    "num_experts": 4,
    "num_sparse_encoder_layers": 1,
    "num_sparse_decoder_layers": 1,
    "expert_capacity": 64,
}
_LONG = {"local_radius": 4, "global_block_size": 4}
ENCODER_DECODERS: dict[str, Callable[[], Family]] = {
    "t5gemma": _t5gemma,
    "encoder-decoder": _two_robertas,
    "mvp": like_bart("mvp"),
    "plbart": like_bart("plbart"),
    "bigbird_pegasus": like_bart("bigbird_pegasus", attention_type="original_full"),
    "blenderbot": like_bart("blenderbot"),
    "blenderbot-small": like_bart("blenderbot-small"),
    "led": like_bart("led", **_LED),
    "m2m_100": like_bart("m2m_100"),
    "nllb-moe": like_bart("nllb-moe", **_NLLB),
    "pegasus_x": _pegasus_x,
    "longt5": like_t5("longt5", **_LONG, encoder_attention_type="local"),
    "longt5_global": like_t5("longt5", **_LONG, encoder_attention_type="transient-global"),
    "umt5": like_t5("umt5"),
    "mt5": like_t5("mt5"),
    "switch_transformers": like_t5("switch_transformers", **_SWITCH),
}
