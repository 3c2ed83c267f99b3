"""A GGUF file of a tiny Llama with a byte-level tokenizer, as llama.cpp's converter writes it."""

import json
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import torch

_NAMES = {
    "model.embed_tokens": "token_embd",
    "model.norm": "output_norm",
    "lm_head": "output",
    "input_layernorm": "attn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}


def write_gguf(model: Any, tokenizer: Any, path: Path) -> Path:
    """Write a model in float32."""
    writer, config = gguf.GGUFWriter(path, "llama"), model.config
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_dimension_count(config.head_dim)
    writer.add_rope_freq_base(config.rope_parameters["rope_theta"])
    writer.add_vocab_size(config.vocab_size)
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    _add_tokenizer(writer, tokenizer)
    heads = {"attn_q": config.num_attention_heads, "attn_k": config.num_key_value_heads}
    for name, tensor in model.state_dict().items():
        layer, place = _place(name)
        found = _in_pairs(tensor, heads[place]) if place in heads else tensor
        writer.add_tensor(f"{layer}{place}.weight", np.ascontiguousarray(found.numpy()))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _place(name: str) -> tuple[str, str]:
    module = name.removesuffix(".weight")
    if not module.startswith("model.layers."):
        return "", _NAMES[module]
    number, _, inner = module.removeprefix("model.layers.").partition(".")
    return f"blk.{number}.", _NAMES[inner]


def _in_pairs(tensor: torch.Tensor, heads: int) -> torch.Tensor:
    """llama.cpp turns neighbouring numbers, transformers the halves of a head."""
    rows, columns = tensor.shape
    return tensor.reshape(heads, 2, rows // heads // 2, columns).swapaxes(1, 2).reshape(rows, -1)


def _add_tokenizer(writer: Any, tokenizer: Any) -> None:
    state = json.loads(tokenizer.backend_tokenizer.to_str())
    special = {each["content"] for each in state["added_tokens"]}
    tokens = sorted(state["model"]["vocab"], key=state["model"]["vocab"].__getitem__)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    writer.add_token_types([3 if token in special else 1 for token in tokens])
    writer.add_token_merges([" ".join(merge) for merge in state["model"]["merges"]])
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(0)
    writer.add_add_bos_token(False)
    if tokenizer.chat_template:
        writer.add_chat_template(tokenizer.chat_template)
