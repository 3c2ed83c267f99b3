"""Tiny builds of families of 2026: state-space and hybrid models, experts, and dense ones."""

# ruff: noqa: C408

from collections.abc import Callable
from typing import Any

import torch
import transformers as hf
from support.tiny_models import Family, causal, llama_tokenizer, rope_shape

W = 160
TOK = llama_tokenizer()
DROP = object()


def lm(
    kind: str, window: int | None = W, exact: torch.dtype = torch.float64, **more: Any
) -> Callable[[], Family]:
    def make() -> Family:
        s = rope_shape(len(TOK), W) | {"pad_token_id": 0} | more
        s = {k: v for k, v in s.items() if v is not DROP}
        config = hf.AutoConfig.for_model(kind, **s)
        model = hf.AutoModelForCausalLM.from_config(config)
        return causal(
            kind, model, llama_tokenizer(), bos=(1,), laban=(1, 2), window=window, exact=exact
        )

    return make


MOE = dict(num_experts=4, num_local_experts=4, num_experts_per_tok=2, moe_intermediate_size=16)
DS = dict(
    num_key_value_heads=4,
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
    head_dim=DROP,
)
M2 = dict(mamba_n_heads=8, mamba_d_head=8, mamba_d_state=8, mamba_n_groups=1, mamba_chunk_size=8)
FAMILIES = {
    "mamba2": lm(
        "mamba2", num_heads=8, head_dim=8, state_size=8, n_groups=1, chunk_size=8, window=None
    ),
    "falcon_mamba": lm("falcon_mamba", state_size=4, window=None),
    "jamba": lm(
        "jamba",
        num_hidden_layers=4,
        attn_layer_period=2,
        attn_layer_offset=1,
        expert_layer_period=2,
        expert_layer_offset=1,
        num_experts=4,
        mamba_d_state=4,
        mamba_dt_rank=4,
        use_mamba_kernels=False,
        head_dim=DROP,
    ),
    "bamba": lm("bamba", attn_layer_indices=[1], **M2, head_dim=DROP),
    "zamba": lm(
        "zamba",
        num_hidden_layers=4,
        layers_block_type=["mamba", "hybrid", "mamba", "hybrid"],
        mamba_d_state=4,
        mamba_dt_rank=4,
        n_mamba_heads=2,
        use_mamba_kernels=False,
        attention_head_dim=16,
        attention_hidden_size=64,
        num_key_value_heads=4,
        head_dim=DROP,
    ),
    "zamba2": lm(
        "zamba2",
        num_hidden_layers=4,
        layers_block_type=["mamba", "hybrid", "mamba", "hybrid"],
        mamba_d_state=8,
        mamba_headdim=8,
        mamba_ngroups=1,
        n_mamba_heads=8,
        chunk_size=8,
        num_mem_blocks=1,
        use_mamba_kernels=False,
        num_key_value_heads=4,
        attention_head_dim=16,
        attention_hidden_size=64,
        head_dim=DROP,
    ),
    "recurrent_gemma": lm(
        "recurrent_gemma",
        num_hidden_layers=3,
        lru_width=32,
        attention_window_size=16,
        num_key_value_heads=1,
        head_dim=DROP,
    ),
    "granitemoehybrid": lm(
        "granitemoehybrid",
        layer_types=["mamba", "attention"],
        num_local_experts=4,
        num_experts_per_tok=2,
        shared_intermediate_size=32,
        **M2,
        head_dim=DROP,
    ),
    "nemotron_h": lm(
        "nemotron_h",
        num_hidden_layers=4,
        layers_block_type=["mamba", "attention", "mlp", "mamba"],
        mamba_num_heads=8,
        mamba_head_dim=8,
        ssm_state_size=8,
        n_groups=1,
        chunk_size=8,
    ),
    "lfm2": lm(
        "lfm2",
        num_hidden_layers=3,
        layer_types=["conv", "full_attention", "conv"],
        block_auto_adjust_ff_dim=False,
        head_dim=DROP,
    ),
    "lfm2_moe": lm(
        "lfm2_moe",
        num_hidden_layers=3,
        layer_types=["conv", "full_attention", "conv"],
        num_dense_layers=1,
        num_experts=4,
        num_experts_per_tok=2,
        moe_intermediate_size=16,
        head_dim=DROP,
    ),
    "rwkv": lm("rwkv", attention_hidden_size=32, context_length=W, window=None),
    "xlstm": lm(
        "xlstm",
        num_heads=4,
        num_blocks=2,
        embedding_dim=32,
        qk_dim_factor=0.5,
        v_dim_factor=1.0,
        chunk_size=16,
        mode="inference",
        window=None,
    ),
    "qwen3_next": lm(
        "qwen3_next",
        layer_types=["linear_attention", "full_attention"],
        linear_num_key_heads=2,
        linear_num_value_heads=4,
        linear_key_head_dim=8,
        linear_value_head_dim=8,
        num_experts=4,
        num_experts_per_tok=2,
        moe_intermediate_size=16,
        shared_expert_intermediate_size=16,
        partial_rotary_factor=0.5,
    ),
    "qwen3_5_text": lm(
        "qwen3_5_text",
        layer_types=["linear_attention", "full_attention"],
        linear_num_key_heads=2,
        linear_num_value_heads=4,
        linear_key_head_dim=8,
        linear_value_head_dim=8,
    ),
    "olmo_hybrid": lm(
        "olmo_hybrid",
        layer_types=["linear_attention", "full_attention"],
        linear_num_key_heads=2,
        linear_num_value_heads=4,
        linear_key_head_dim=8,
        linear_value_head_dim=8,
        head_dim=DROP,
    ),
    "minimax": lm(
        "minimax", **MOE, layer_types=["linear_attention", "full_attention"], block_size=16
    ),
    # moe
    "olmoe": lm("olmoe", num_experts=4, num_experts_per_tok=2, head_dim=DROP),
    "qwen2_moe": lm(
        "qwen2_moe",
        num_experts=4,
        num_experts_per_tok=2,
        moe_intermediate_size=16,
        shared_expert_intermediate_size=16,
        head_dim=DROP,
    ),
    "qwen3_moe": lm("qwen3_moe", num_experts=4, num_experts_per_tok=2, moe_intermediate_size=16),
    "mixtral": lm("mixtral", num_local_experts=4, num_experts_per_tok=2),
    "deepseek_v2": lm("deepseek_v2", **DS),
    "deepseek_v3": lm("deepseek_v3", **DS),
    "glm4_moe": lm(
        "glm4_moe",
        n_routed_experts=4,
        num_experts_per_tok=2,
        moe_intermediate_size=16,
        first_k_dense_replace=1,
        n_group=1,
        topk_group=1,
    ),
    "ernie4_5_moe": lm(
        "ernie4_5_moe",
        moe_num_experts=4,
        moe_k=2,
        moe_intermediate_size=16,
        moe_layer_start_index=1,
        head_dim=DROP,
    ),
    "dots1": lm(
        "dots1",
        n_routed_experts=4,
        n_shared_experts=1,
        num_experts_per_tok=2,
        moe_intermediate_size=16,
        first_k_dense_replace=1,
        n_group=1,
        topk_group=1,
    ),
    "hunyuan_v1_moe": lm("hunyuan_v1_moe", num_experts=4, moe_topk=2),
    "minimax_m2": lm("minimax_m2", num_local_experts=4, num_experts_per_tok=2),
    "phimoe": lm("phimoe", num_local_experts=4, num_experts_per_tok=2, head_dim=DROP),
    "llama4_text": lm(
        "llama4_text",
        num_local_experts=4,
        num_experts_per_tok=1,
        intermediate_size_mlp=48,
        attention_chunk_size=16,
        no_rope_layers=[1, 0],
    ),
    "flex_olmo": lm("flex_olmo", num_experts=4, num_experts_per_tok=2, head_dim=DROP),
    "granitemoe": lm("granitemoe", num_local_experts=4, num_experts_per_tok=2, head_dim=DROP),
    "jetmoe": lm(
        "jetmoe",
        num_local_experts=4,
        num_experts_per_tok=2,
        kv_channels=8,
        num_attention_heads=DROP,
        num_key_value_heads=2,
    ),
    # dense
    "olmo2": lm("olmo2", head_dim=DROP),
    "olmo3": lm(
        "olmo3",
        layer_types=["sliding_attention", "full_attention"],
        sliding_window=8,
        head_dim=DROP,
    ),
    "smollm3": lm("smollm3", no_rope_layers=[1, 0], head_dim=DROP),
    "arcee": lm("arcee"),
    "seed_oss": lm("seed_oss"),
    "apertus": lm("apertus", head_dim=DROP),
    "helium": lm("helium"),
    "exaone4": lm("exaone4", sliding_window=8, sliding_window_pattern=2, head_dim=DROP),
    "cohere": lm("cohere", head_dim=DROP),
    "cohere2": lm(
        "cohere2",
        sliding_window=8,
        layer_types=["sliding_attention", "full_attention"],
        head_dim=DROP,
    ),
    "ernie4_5": lm("ernie4_5"),
    "vaultgemma": lm("vaultgemma", sliding_window=8, query_pre_attn_scalar=8),
    "modernbert-decoder": lm(
        "modernbert-decoder",
        local_attention=16,
        global_attn_every_n_layers=2,
        num_key_value_heads=DROP,
        head_dim=DROP,
    ),
    "doge": lm("doge", head_dim=DROP),
    "glm": lm("glm"),
    "glm4": lm("glm4"),
    "nemotron": lm("nemotron"),
    "granite": lm("granite", head_dim=DROP, logits_scaling=4.0, residual_multiplier=0.5),
    "starcoder2": lm("starcoder2", sliding_window=8, head_dim=DROP),
    "stablelm": lm("stablelm", head_dim=DROP),
    "gemma3_text": lm(
        "gemma3_text",
        sliding_window=8,
        layer_types=["sliding_attention", "full_attention"],
        query_pre_attn_scalar=8,
    ),
    "gemma4_text": lm(
        "gemma4_text",
        sliding_window=8,
        layer_types=["sliding_attention", "full_attention"],
        vocab_size_per_layer_input=len(TOK),
        hidden_size_per_layer_input=8,
        num_kv_shared_layers=0,
        global_head_dim=8,
    ),
    "qwen3": lm("qwen3"),
    "ministral": lm(
        "ministral", sliding_window=8, layer_types=["sliding_attention", "full_attention"]
    ),
    "mpt": lm("mpt", d_model=32, n_heads=4, n_layers=2, max_seq_len=W),
    "falcon": lm("falcon", new_decoder_architecture=False, head_dim=DROP, num_key_value_heads=DROP),
    "falcon_alibi": lm(
        "falcon",
        alibi=True,
        new_decoder_architecture=False,
        head_dim=DROP,
        num_key_value_heads=DROP,
    ),
    "hunyuan_v1_dense": lm("hunyuan_v1_dense"),
    "nanochat": lm("nanochat"),
    "gpt_neo": lm(
        "gpt_neo",
        attention_types=[[["global", "local"], 1]],
        num_layers=2,
        num_heads=4,
        window_size=8,
    ),
    "gpt_neox": lm("gpt_neox", head_dim=DROP, num_key_value_heads=DROP),
    "gptj": lm("gptj", n_embd=32, n_layer=2, n_head=4, n_positions=W, rotary_dim=4),
    "gpt_bigcode": lm("gpt_bigcode", n_embd=32, n_layer=2, n_head=4, n_positions=W),
    "codegen": lm("codegen", n_embd=32, n_layer=2, n_head=4, n_positions=W, rotary_dim=4),
    "biogpt": lm("biogpt", head_dim=DROP),
    "persimmon": lm("persimmon", head_dim=DROP, num_key_value_heads=DROP),
    "bitnet": lm("bitnet", head_dim=DROP),
    "minicpm3": lm("minicpm3", **DS),
    "youtu": lm("youtu", **DS),
    "lfm3": lm("lfm3"),
    "roformer": lm("roformer", is_decoder=True, embedding_size=32),
    "ctrl": lm("ctrl", n_embd=32, n_layer=2, n_head=4, dff=48, n_positions=W),
    "openai-gpt": lm("openai-gpt", n_embd=32, n_layer=2, n_head=4, n_positions=W),
    "bert-generation": lm("bert-generation", is_decoder=True),
}
