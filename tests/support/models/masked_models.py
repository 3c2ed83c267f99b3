"""Tiny masked models of four families, equal in every environment, and their texts.

The weights are numpy's, in the order of the names of the parameters, so that no version of torch
changes them; the vocabularies are written down or trained by what gives the same everywhere.
`tests/benchmarks/minicons_masked.py` saves them for minicons, which needs an older transformers.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers as hf
from support.tiny_models import SENTENCES, byte_level, unigram

WINDOW = 120

CONTEXT = SENTENCES[0]
CANDIDATES = (
    "The dog sat on the mat, while nobody is looking.",
    "unbelievably lazy foxes",
    "Tesla moved to New York in 1884; the end.",
    "in",
)


def with_numpy_weights(model: Any) -> Any:
    """Give a model weights that are large enough for a wrong mask to show."""
    draw = np.random.RandomState(20221207)  # its stream is fixed for good
    with torch.no_grad():
        for name, weight in sorted(model.named_parameters()):
            spread = 1.8 * weight.shape[-1] ** -0.5 if weight.dim() > 1 else 0.2
            values = draw.standard_normal(tuple(weight.shape)) * spread
            if "LayerNorm.weight" in name or name.endswith("layer_norm.weight"):
                values += 1.0
            weight.copy_(torch.tensor(values))
    return model.float().eval()


def _shape(tokenizer: Any) -> dict[str, Any]:
    return {
        "vocab_size": len(tokenizer),
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "intermediate_size": 48,
        "max_position_embeddings": WINDOW,
        "pad_token_id": tokenizer.pad_token_id,
    }


def bert() -> tuple[Any, Any]:
    """WordPiece, lower case, and segments."""
    letters = "abcdefghijklmnopqrstuvwxyz0123456789.,;:?!"
    words = ("the", "cat", "sat", "on", "mat", "dog", "and", "river", "un", "##ly", "##able", "fox")
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *words]
    pieces += [f"##{letter}" for letter in letters]
    vocab = {piece: number for number, piece in enumerate(pieces)}
    tokenizer = hf.BertTokenizer(vocab=vocab, do_lower_case=True)
    return hf.BertForMaskedLM(hf.BertConfig(**_shape(tokenizer))), tokenizer


def roberta() -> tuple[Any, Any]:
    """Byte-level BPE; positions count from that of padding."""
    vocab, merges = byte_level(["<s>", "<pad>", "</s>", "<unk>", "<mask>"])
    tokenizer = hf.RobertaTokenizer(vocab=vocab, merges=merges)
    config = hf.RobertaConfig(**_shape(tokenizer), type_vocab_size=1)
    return hf.RobertaForMaskedLM(config), tokenizer


def albert() -> tuple[Any, Any]:
    """A Unigram model, segments, one layer used twice, and embeddings of another size."""
    pieces = unigram(["<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]"])
    tokenizer = hf.AlbertTokenizer(vocab=pieces)
    config = hf.AlbertConfig(**_shape(tokenizer), embedding_size=16, type_vocab_size=2)
    return hf.AlbertForMaskedLM(config), tokenizer


def modernbert() -> tuple[Any, Any]:
    """Rotary positions, local attention in every other layer, no segments."""
    _, tokenizer = roberta()
    config = hf.ModernBertConfig(
        **_shape(tokenizer),
        bos_token_id=0,
        eos_token_id=2,
        cls_token_id=0,
        sep_token_id=2,
        local_attention=8,
        global_attn_every_n_layers=2,
    )
    return hf.ModernBertForMaskedLM(config), tokenizer


FAMILIES: dict[str, Callable[[], tuple[Any, Any]]] = {
    "bert": bert,
    "roberta": roberta,
    "albert": albert,
    "modernbert": modernbert,
}


def build_masked(name: str) -> tuple[Any, Any]:
    """Return a model with its tokenizer."""
    with torch.random.fork_rng():
        model, tokenizer = FAMILIES[name]()
    tokenizer.model_max_length = WINDOW
    return with_numpy_weights(model), tokenizer


def save_masked(folder: Path) -> None:
    """Save every model, and the texts, for `tests/benchmarks/minicons_masked.py`."""
    for name in FAMILIES:
        model, tokenizer = build_masked(name)
        model.save_pretrained(folder / name)
        tokenizer.save_pretrained(folder / name)
    texts = {"contexts": [CONTEXT] * len(CANDIDATES), "candidates": CANDIDATES}
    (folder / "texts.json").write_text(json.dumps(texts), encoding="utf-8")


if __name__ == "__main__":
    save_masked(Path(sys.argv[1]))
