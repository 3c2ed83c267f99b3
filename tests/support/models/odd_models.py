"""Tiny models whose numbers depend on more than the tokens a path hands them.

On the length of the whole request (`phi3`, `dynamic`), on padding and on what was read
before (`bigbird_pegasus`), on a state beside keys and values (`falcon_h1`), or on chance and on
later tokens (`reformer`).
"""

from collections.abc import Callable

import transformers as hf
from support.tiny_models import (
    Family,
    bart_shape,
    causal,
    llama_tokenizer,
    plain_ids,
    randomised,
    rope_shape,
    seeded,
    unigram,
)

LIMIT = 37
"""Tokens beyond which Phi-3's positions are others."""

WINDOW = 160
"""Most tokens that the models read."""


def _phi3() -> Family:
    tokenizer = llama_tokenizer()
    shape = rope_shape(len(tokenizer), WINDOW) | {"pad_token_id": 0}
    del shape["head_dim"]
    rope = {
        "rope_type": "longrope",
        "rope_theta": 10_000.0,
        "short_factor": [1.0] * 4,
        "long_factor": [4.0, 8.0, 16.0, 32.0],
        "original_max_position_embeddings": LIMIT,
    }
    config = hf.Phi3Config(**shape, original_max_position_embeddings=LIMIT, rope_parameters=rope)
    model = hf.Phi3ForCausalLM(config)
    return causal("phi3", model, tokenizer, bos=(1,), laban=(1, 2), window=WINDOW)


def _dynamic() -> Family:
    tokenizer = llama_tokenizer()
    rope = {"rope_type": "dynamic", "rope_theta": 10_000.0, "factor": 4.0}
    config = hf.LlamaConfig(**rope_shape(len(tokenizer), WINDOW), rope_parameters=rope)
    model = hf.LlamaForCausalLM(config)
    return causal("dynamic", model, tokenizer, bos=(1,), laban=(1, 2), window=WINDOW)


def _falcon_h1() -> Family:
    tokenizer = llama_tokenizer()
    config = hf.FalconH1Config(
        **rope_shape(len(tokenizer), WINDOW),
        mamba_d_ssm=32,
        mamba_n_heads=4,
        mamba_d_head=8,
        mamba_d_state=8,
        mamba_n_groups=1,
        mamba_chunk_size=8,
    )
    model = hf.FalconH1ForCausalLM(config)
    return causal("falcon_h1", model, tokenizer, bos=(1,), laban=(1, 2), window=WINDOW)


def _bigbird_pegasus() -> Family:
    """Sparse from 37 tokens on; at the first shorter text it gives that up for good."""
    vocab = unigram(["<pad>", "</s>", "<unk>", "<mask_1>", "<mask_2>"])
    tokenizer = hf.PegasusTokenizer(vocab=vocab, offset=2)
    config = hf.BigBirdPegasusConfig(
        **bart_shape(len(tokenizer), WINDOW),
        pad_token_id=0,
        bos_token_id=0,
        eos_token_id=1,
        decoder_start_token_id=0,
        block_size=4,
        num_random_blocks=2,
    )
    model = randomised(hf.BigBirdPegasusForConditionalGeneration(config))
    ids, around = plain_ids(tokenizer), ((), (1,))
    return Family("bigbird_pegasus", model, tokenizer, ids, ids, around, around, (0, 1), 0, WINDOW)


def reformer(hash_seed: int | None = None) -> Family:
    """Its hashes are random where there is no seed; with one, it looks ahead in long texts."""
    tokenizer = llama_tokenizer()
    config = hf.ReformerConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        attention_head_size=8,
        num_attention_heads=4,
        feed_forward_size=48,
        is_decoder=True,
        attn_layers=["local", "lsh"],
        axial_pos_embds=False,
        max_position_embeddings=WINDOW,
        lsh_attn_chunk_length=16,
        local_attn_chunk_length=16,
        num_buckets=8,
        hash_seed=hash_seed,
        pad_token_id=0,
        eos_token_id=2,
        use_cache=False,  # type: ignore[call-arg]  # any config takes it
    )
    with seeded():
        model = hf.ReformerModelWithLMHead(config)
        return causal("reformer", model, tokenizer, bos=(1,), laban=(1, 2), window=WINDOW)


def gemma3n() -> Family:
    """Its feed-forward layers have widths of their own, which the config lists."""
    tokenizer = llama_tokenizer()
    shape = rope_shape(len(tokenizer), WINDOW)
    shape |= {"intermediate_size": [48, 64, 48, 64], "num_hidden_layers": 4, "pad_token_id": 0}
    config = hf.Gemma3nTextConfig(
        **shape,
        vocab_size_per_layer_input=len(tokenizer),
        hidden_size_per_layer_input=8,
        num_kv_shared_layers=2,
        layer_types=["sliding_attention", "full_attention"] * 2,
        sliding_window=16,
        activation_sparsity_pattern=[0.95, 0.95, 0.0, 0.0],
        laurel_rank=4,
    )
    with seeded():
        model = hf.Gemma3nForCausalLM(config)
        return causal("gemma3n", model, tokenizer, bos=(1,), laban=(1, 2), window=WINDOW)


def gpt_oss() -> Family:
    """Sinks in every layer, and a window in every other one."""
    tokenizer = llama_tokenizer()
    config = hf.GptOssConfig(
        **rope_shape(len(tokenizer), WINDOW),
        num_local_experts=4,
        num_experts_per_tok=2,
        sliding_window=8,
        rope_parameters={"rope_type": "default", "rope_theta": 10_000.0},
    )
    with seeded():
        model = randomised(hf.GptOssForCausalLM(config))
        model.set_experts_implementation("eager")  # the others have no float64
        return causal("gpt_oss", model, tokenizer, bos=(1,), laban=(1, 2), window=WINDOW)


def deepseek_v32() -> Family:
    """Each token reads the 4 that an indexer prefers; which of equal ones depends on the row."""
    tokenizer = llama_tokenizer()
    shape = rope_shape(len(tokenizer), WINDOW) | {"num_key_value_heads": 4, "pad_token_id": 0}
    del shape["head_dim"]
    config = hf.DeepseekV32Config(
        **shape,
        index_topk=4,
        index_head_dim=8,
        index_n_heads=2,
        q_lora_rank=8,
        kv_lora_rank=8,
        qk_nope_head_dim=4,
        qk_rope_head_dim=4,
        v_head_dim=8,
        n_routed_experts=4,
        num_experts_per_tok=2,
        n_group=1,
        topk_group=1,
        moe_intermediate_size=16,
        first_k_dense_replace=1,
    )
    with seeded():
        model = hf.DeepseekV32ForCausalLM(config)
        return causal("deepseek_v32", model, tokenizer, bos=(1,), laban=(1, 2), window=WINDOW)


ODD: dict[str, Callable[[], Family]] = {
    "phi3": _phi3,
    "dynamic": _dynamic,
    "falcon_h1": _falcon_h1,
    "bigbird_pegasus": _bigbird_pegasus,
}


def build_odd(name: str) -> Family:
    """Build one of `ODD`, with the same weights each time."""
    with seeded():
        return ODD[name]()
