"""Digests of the parts that decide a model's numbers: weights, tokenizer and config."""

import hashlib
import json
import tempfile
from collections.abc import Hashable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final, NamedTuple

import torch
from transformers import PretrainedConfig, PreTrainedModel, PreTrainedTokenizerBase

from nnd.schemas import file_digest

_UNRELATED = ("_name_or_path", "architectures", "dtype", "transformers_version")
"""Fields for the origin of a config, and the precision, which results state separately."""

_LAST_CALL = ("truncation", "padding")
"""Settings of a tokenizer's last call, which it remembers."""

_known: dict[str, str] = {}
"""SHA-256 of a tokenizer as it stands, with its last call → its digest, which takes long."""

_PART_BYTES = 1 << 26

_BYTES: Final = 8
_WIDTH: Final = 61
"""Columns that are summed: a prime, so that rows which change places change the sums."""


def weights_digest(model: PreTrainedModel) -> str:
    """Return the SHA-256 over names, dtypes, shapes and bytes of a model's weights."""
    if is_offloaded(model):
        from accelerate.utils.modeling import get_state_dict_offloaded_model  # noqa: PLC0415 - seldom

        return tensors_digest(get_state_dict_offloaded_model(model))
    return tensors_digest(model.state_dict())


def is_offloaded(model: PreTrainedModel) -> bool:
    """Whether some weights are on the device only during their use."""
    return any(weights.is_meta for weights in model.parameters())


def tensors_digest(state: Mapping[str, torch.Tensor], facts: Mapping[str, Any] = {}) -> str:
    """Return the SHA-256 over names, dtypes, shapes and bytes of tensors, and over facts.

    The bytes are hashed in parts of 64 MiB, on all cores, and the digest is that of the parts'
    digests. Weights that are tied have several names and are hashed once.
    """
    tensors = {_place(tensor): tensor for tensor in state.values()}
    with ThreadPoolExecutor() as threads:
        parts = {
            place: [threads.submit(_part_digest, part) for part in _parts(tensor)]
            for place, tensor in tensors.items()
        }
    digest = hashlib.sha256(_text(facts).encode() if facts else b"")
    for name, tensor in sorted(state.items()):
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        for part in parts[_place(tensor)]:
            digest.update(part.result())
    return digest.hexdigest()


def _place(tensor: torch.Tensor) -> Hashable:  # equal for tensors that share memory
    address = tensor.data_ptr() or id(tensor)
    return address, tensor.device, tensor.dtype, tensor.shape, tensor.stride()


def _parts(tensor: torch.Tensor) -> list[torch.Tensor]:
    raw = tensor.detach().contiguous().view(-1).view(torch.uint8)
    return [raw[start : start + _PART_BYTES] for start in range(0, len(raw), _PART_BYTES)]


def _part_digest(part: torch.Tensor) -> bytes:
    return hashlib.sha256(part.cpu().numpy().data).digest()


def config_digest(config: PretrainedConfig) -> str:
    """Return the SHA-256 of a model's configuration, wherever it was loaded from."""
    return _digest(config_facts(config))


def config_facts(config: PretrainedConfig) -> dict[str, Any]:
    """Return the fields of a configuration that numbers depend on: not the name of a GGUF file."""
    facts = {name: value for name, value in config.to_dict().items() if name not in _UNRELATED}
    if isinstance(quantised := facts.get("quantization_config"), Mapping):
        kept = {name: value for name, value in quantised.items() if name != "gguf_file"}
        facts["quantization_config"] = kept
    return facts


def tokenizer_digest(tokenizer: PreTrainedTokenizerBase) -> str:
    """Return the SHA-256 of everything that decides a tokenizer's tokens, and of its window."""
    beside = {"special": tokenizer.special_tokens_map, "window": tokenizer.model_max_length}
    if not tokenizer.is_fast:
        return _digest({"state": _slow_state(tokenizer), **beside})
    text = tokenizer.backend_tokenizer.to_str()
    now = hashlib.sha256(f"{text} {_text(beside)}".encode()).hexdigest()
    if now not in _known:
        whole = json.loads(text)
        state = {name: part for name, part in whole.items() if name not in _LAST_CALL}
        _known[now] = _digest({"state": state, **beside})
    return _known[now]


def _slow_state(tokenizer: PreTrainedTokenizerBase) -> dict[str, Any]:
    """Return the files and settings of a tokenizer that is written in Python."""
    with tempfile.TemporaryDirectory() as folder:
        tokenizer.save_vocabulary(folder)
        files = {path.name: file_digest(path) for path in Path(folder).iterdir()}
    # A text setting may be a path; settings that matter change the example.
    settings = {name: v for name, v in tokenizer.init_kwargs.items() if not isinstance(v, str)}
    example = tokenizer("A b")["input_ids"]
    kind = type(tokenizer).__name__
    return {"kind": kind, "files": files, "settings": settings, "example": example}


def _digest(facts: dict[str, Any]) -> str:
    return hashlib.sha256(_text(facts).encode()).hexdigest()


def _text(facts: Mapping[str, Any]) -> str:
    return json.dumps(
        facts,
        sort_keys=True,
        default=lambda v: sorted(map(str, v)) if isinstance(v, set | frozenset) else str(v),
    )


class Mark(NamedTuple):
    """Shape, dtype and sums of the bits of a tensor: they tell that it was edited since.

    Notebooks edit weights in place, often through `.data`, which torch's counters of versions do
    not see: so contents are compared, by sums that take one pass over the memory.
    """

    shape: tuple[int, ...]
    dtype: torch.dtype
    sums: tuple[int, ...]


def marks_of(tensors: Mapping[str, torch.Tensor]) -> dict[str, Mark]:
    """Return the mark of each tensor that is plain and in memory; tied ones are read once."""
    known: dict[tuple[object, ...], Mark] = {}
    found = {}
    for name, tensor in tensors.items():
        if tensor.is_meta or type(tensor) not in (torch.Tensor, torch.nn.Parameter):
            continue
        place = (tensor.data_ptr(), tensor.device, tensor.dtype, tensor.shape, tensor.stride())
        if place not in known:
            known[place] = Mark(tuple(tensor.shape), tensor.dtype, _sums(tensor))
        found[name] = known[place]
    return found


def edited(before: Mapping[str, Mark], tensors: Mapping[str, torch.Tensor]) -> list[str]:
    """Return the names of the tensors whose contents are not those of their marks.

    Tensors of another shape are left out: an adapter's tokens made room for themselves.
    """
    now = marks_of({name: tensor for name, tensor in tensors.items() if name in before})
    return sorted(
        name
        for name, mark in before.items()
        if name not in now or (now[name] != mark and now[name].shape == mark.shape)
    )


def _sums(tensor: torch.Tensor) -> tuple[int, ...]:
    raw = tensor.detach().contiguous().view(-1).view(torch.uint8)
    if raw.storage_offset() % _BYTES:
        raw = raw.clone()
    end = len(raw) // _BYTES * _BYTES
    words = raw[:end].view(torch.int64)  # the sums may wrap around
    whole = len(words) // _WIDTH * _WIDTH
    columns = words[:whole].view(-1, _WIDTH).sum(0)
    return (*columns.tolist(), *words[whole:].tolist(), *raw[end:].tolist())
