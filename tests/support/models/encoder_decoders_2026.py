"""Tiny builds of encoder-decoders beyond those of `tiny_models`: kin of T5, BART and Pegasus."""

from collections.abc import Callable
from typing import Any

import torch
import transformers as hf
from support.tiny_models import Family, bart_shape, bart_tokenizer, encoder_decoder, unigram

W = 160
_T5_SHAPE = {
    "d_model": 32,
    "d_kv": 8,
    "d_ff": 48,
    "num_layers": 2,
    "num_heads": 4,
    "dropout_rate": 0.5,
    "pad_token_id": 0,
    "eos_token_id": 1,
    "decoder_start_token_id": 0,
    "relative_attention_num_buckets": 8,
    "relative_attention_max_distance": 20,
}


def like_t5(kind: str, **more: Any) -> Callable[[], Family]:
    """Relative positions; the decoder starts with the padding token."""

    def make() -> Family:
        tokenizer = hf.T5Tokenizer(vocab=unigram(["<pad>", "</s>", "<unk>"]), extra_ids=0)
        config = hf.AutoConfig.for_model(kind, vocab_size=len(tokenizer), **_T5_SHAPE, **more)
        model = hf.AutoModelForSeq2SeqLM.from_config(config)
        found = encoder_decoder(model, tokenizer, ((), (1,)), (0, 1), start=0, window=None)
        with torch.no_grad():  # a tied head divides by sqrt(d_model)
            model.get_input_embeddings().weight.mul_(config.d_model**0.5)
        return found

    return make


def like_bart(kind: str, start: int = 2, **more: Any) -> Callable[[], Family]:
    """Learnt positions; the decoder starts with </s>, unless its config says otherwise."""

    def make() -> Family:
        tokenizer = bart_tokenizer()
        shape = bart_shape(len(tokenizer), W) | {"pad_token_id": 1, "eos_token_id": 2} | more
        config = hf.AutoConfig.for_model(
            kind, bos_token_id=0, decoder_start_token_id=start, **shape
        )
        model = hf.AutoModelForSeq2SeqLM.from_config(config)
        return encoder_decoder(
            model, tokenizer, ((0,), (2,)), (0, 2), start=start, window=more.get("window", W)
        )

    return make


FAMILIES = {
    "mt5": like_t5("mt5"),
    "umt5": like_t5("umt5"),
    "longt5, local": like_t5("longt5", local_radius=4, encoder_attention_type="local"),
    "longt5, transient global": like_t5(
        "longt5", local_radius=4, global_block_size=4, encoder_attention_type="transient-global"
    ),
    "switch_transformers": like_t5(
        "switch_transformers", num_experts=4, num_sparse_encoder_layers=1
    ),
    "plbart": like_bart("plbart"),
    "mvp": like_bart("mvp"),
    "led": like_bart(
        "led",
        attention_window=[8, 8],
        max_encoder_position_embeddings=W,
        max_decoder_position_embeddings=W,
    ),
    "bigbird_pegasus": like_bart("bigbird_pegasus", attention_type="original_full"),
    "pegasus_x": like_bart("pegasus_x", block_size=8, num_global_tokens=2),
    "blenderbot": like_bart("blenderbot"),
    "blenderbot-small": like_bart("blenderbot-small"),
    "nllb-moe": like_bart("nllb-moe", num_experts=4, encoder_sparse_step=1, decoder_sparse_step=1),
}
