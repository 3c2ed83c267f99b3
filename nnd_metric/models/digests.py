"""Digests of what decides a model's numbers: its weights, its tokenizer and its config."""

import hashlib
import json
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import torch
from transformers import PretrainedConfig, PreTrainedModel, PreTrainedTokenizerBase

_UNRELATED = ("_name_or_path", "architectures", "dtype", "transformers_version")
"""Where a config comes from, and the precision, which results state by itself."""

_LAST_CALL = ("truncation", "padding")
"""How a tokenizer was last called, which it remembers."""


def weights_digest(model: PreTrainedModel) -> str:
    """Return the SHA-256 over names, dtypes, shapes and bytes of a model's weights."""
    if is_offloaded(model):
        from accelerate.utils.modeling import get_state_dict_offloaded_model  # noqa: PLC0415 - extra

        return tensors_digest(get_state_dict_offloaded_model(model))
    return tensors_digest(model.state_dict())


def is_offloaded(model: PreTrainedModel) -> bool:
    """Whether some weights are on the device only while they are used."""
    return any(weights.is_meta for weights in model.parameters())


def tensors_digest(state: Mapping[str, torch.Tensor], facts: Mapping[str, Any] = {}) -> str:
    """Return the SHA-256 over names, dtypes, shapes and bytes of tensors, and over facts, if any.

    Args:
        state: The tensors by name.
        facts: What decides beside them.
    """
    digest = hashlib.sha256(_text(facts).encode() if facts else b"")
    for name, tensor in sorted(state.items()):
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        raw = tensor.detach().cpu().contiguous().view(-1).view(torch.uint8)
        digest.update(raw.numpy().data)
    return digest.hexdigest()


def files_digest(paths: Iterable[Path]) -> str:
    """Return the SHA-256 over the names and bytes of files, whatever their order."""
    digest = hashlib.sha256()
    for path in sorted(paths):
        with path.open("rb") as opened:
            digest.update(path.name.encode())
            digest.update(hashlib.file_digest(opened, "sha256").digest())
    return digest.hexdigest()


def config_digest(config: PretrainedConfig) -> str:
    """Return the SHA-256 of a model's configuration, wherever it was loaded from."""
    facts = {name: value for name, value in config.to_dict().items() if name not in _UNRELATED}
    return _digest(facts)


def tokenizer_digest(tokenizer: PreTrainedTokenizerBase) -> str:
    """Return the SHA-256 of all from which a tokenizer makes tokens, and of its window."""
    state = _fast_state(tokenizer) if tokenizer.is_fast else _slow_state(tokenizer)
    special = tokenizer.special_tokens_map
    return _digest({"state": state, "special": special, "window": tokenizer.model_max_length})


def _fast_state(tokenizer: PreTrainedTokenizerBase) -> dict[str, Any]:
    state: dict[str, Any] = json.loads(tokenizer.backend_tokenizer.to_str())
    return {name: part for name, part in state.items() if name not in _LAST_CALL}


def _slow_state(tokenizer: PreTrainedTokenizerBase) -> dict[str, Any]:
    """Python decides what such a tokenizer does; what it reads are its files and its settings."""
    with tempfile.TemporaryDirectory() as folder:
        tokenizer.save_vocabulary(folder)
        files = {
            path.name: hashlib.sha256(path.read_bytes()).hexdigest()
            for path in Path(folder).iterdir()
        }
    # A setting that is a text may be a path; those that matter show in the example.
    settings = {name: v for name, v in tokenizer.init_kwargs.items() if not isinstance(v, str)}
    example = tokenizer("A b")["input_ids"]
    kind = type(tokenizer).__name__
    return {"kind": kind, "files": files, "settings": settings, "example": example}


def _digest(facts: dict[str, Any]) -> str:
    return hashlib.sha256(_text(facts).encode()).hexdigest()


def _text(facts: Mapping[str, Any]) -> str:
    return json.dumps(facts, sort_keys=True, default=_plain)


def _plain(value: object) -> Any:  # noqa: ANN401 - whatever JSON can write
    return sorted(map(str, value)) if isinstance(value, set | frozenset) else str(value)
