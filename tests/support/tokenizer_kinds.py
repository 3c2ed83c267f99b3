"""One tokenizer per way of writing the blank between a context and a candidate.

All are built on the spot; those of the families in `tiny_models` are taken from there.
"""

# ruff: noqa: S106 (an unk_token is no password)

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from support.tiny_models import SENTENCES, Family
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers
from transformers import AutoTokenizer, PreTrainedTokenizerFast

LEGACY = {
    "type": "Sequence",
    "normalizers": [
        {"type": "Prepend", "prepend": "▁"},
        {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
    ],
}
"""What SentencePiece files of 2023 were converted to: a blank before every text that is encoded."""


def save_with_legacy_tokenizer(family: Family, folder: Path) -> None:
    """Save a model of a SentencePiece family as Mistral-7B lies on the Hub."""
    family.model.save_pretrained(folder)
    family.tokenizer.save_pretrained(folder)
    path = folder / "tokenizer.json"
    state = json.loads(path.read_text(encoding="utf-8"))
    state |= {"normalizer": LEGACY, "pre_tokenizer": None}
    path.write_text(json.dumps(state), encoding="utf-8")


def bytes_only() -> Any:
    """Every byte is a token."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    backend = Tokenizer(models.BPE({"<eos>": 0} | {c: n for n, c in enumerate(alphabet, 1)}, []))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    return _wrapped(backend)


def characters() -> Any:
    """Every character of the sentences is a token, and every other is unknown."""
    alphabet = sorted({*"".join(SENTENCES), "\n", ":", "."})
    vocabulary = {"<eos>": 0, "<unk>": 1} | {c: n for n, c in enumerate(alphabet, 2)}
    backend = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    backend.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\s\S]"), "isolated")
    return _wrapped(backend)


def joining(*joined: str) -> Any:
    """Characters, of which some two next to each other are one token, blanks included."""
    alphabet = sorted({*"".join(SENTENCES), *"".join(joined), "\n", ":", "."})
    tokens = ["<eos>", "<unk>", *alphabet, *joined]
    merges = [(two[0], two[1]) for two in joined]
    vocabulary = {token: number for number, token in enumerate(tokens)}
    backend = Tokenizer(models.BPE(vocabulary, merges, unk_token="<unk>"))
    return _wrapped(backend)


def without_line_breaks() -> Any:
    """Characters, line breaks left out."""
    tokenizer = characters()
    tokenizer.backend_tokenizer.normalizer = normalizers.Replace("\n", "")
    return tokenizer


def _wrapped(backend: Tokenizer) -> Any:
    return PreTrainedTokenizerFast(tokenizer_object=backend, eos_token="<eos>", unk_token=None)


KINDS = (
    "byte-level",
    "byte-level, digits split",
    "SentencePiece",
    "SentencePiece, Prepend",
    "Unigram",
    "bytes",
    "characters",
)


def build_kind(name: str, tiny: Callable[[str], Family], folder: Path) -> Any:
    """Build one of KINDS; an empty `folder` takes the files of a model, where one is loaded."""
    if name == "SentencePiece, Prepend":
        save_with_legacy_tokenizer(tiny("mistral"), folder)
        return AutoTokenizer.from_pretrained(folder)
    if name in ("bytes", "characters"):
        return {"bytes": bytes_only, "characters": characters}[name]()
    families = dict(zip(KINDS, ("gpt2", "qwen2", "llama", "", "xglm"), strict=False))
    return tiny(families[name]).tokenizer
