"""The key of a stored result: a digest of what its numbers depend on, found without torch.

Nothing is loaded for it, so it covers more than it must: all files that loading may read, and the
code of nnd. A key that changes for no reason costs the time to load the model.
"""

import hashlib
import inspect
import json
import os
import platform
import sys
from collections.abc import Mapping
from dataclasses import asdict, replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

import polars as pl

from nnd.metric.data import PairSet
from nnd.metric.likelihood import (
    Loading,
    Scoring,
    file_state,
    places_read,
    split_gguf,
)
from nnd.schemas import NNDError

_LIBRARIES: Final = (
    *("torch", "transformers", "tokenizers", "sentencepiece", "numpy", "jinja2", "accelerate"),
    *("peft", "bitsandbytes", "gptqmodel", "gguf", "kernels"),
)
"""Libraries whose version may change tokens or weights."""

_VISIBLE: Final = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES")
_DEVICES: Final = ("nvidia[0-9]*", "kfd", "dxg")
"""What /dev has for the GPUs of NVIDIA and AMD, and for those of Windows under Linux."""

_ROWS_AT_ONCE: Final = 100_000


def model_key(name: str, model: object, scoring: Scoring, loading: Loading) -> str | None:
    """Return a digest of a model's state (`state_key`), its name and the options.

    It is None if a result is not stored: of a model in memory, whose weights may change at any
    time; with custom code, which may come from anywhere; with tokens, or if the user says so.
    """
    state = None if scoring.keep_tokens or not scoring.cache else state_key(model, loading)
    if state is None:
        return None
    chat = scoring.chat.file
    try:
        chat_text = None if chat is None else hashlib.sha256(chat.read_bytes()).hexdigest()
    except OSError:  # loading says what is wrong
        return None
    return _digest({"state": state, "name": name, "scoring": asdict(scoring), "chat": chat_text})


def state_key(model: object, loading: Loading) -> str | None:
    """Return a digest of a model's files, how they are loaded, and the libraries and devices.

    It is None for a model in memory, for one with custom code, and in a process that changed the
    code of libraries.
    """
    if not isinstance(model, str | Path) or loading.trust_remote_code or _libraries_changed():
        return None
    try:
        files = [
            file_state(name) or _commit(*split_gguf(name), revision)
            for name, revision in places_read(model, loading)
        ]
    except (OSError, ValueError, LookupError, TypeError, NNDError):  # loading says what is wrong
        return None
    facts = {
        "model": str(model),
        "files": files,
        "loading": asdict(loading),
        "libraries": {library: _version(library) for library in _LIBRARIES},
        "machine": [platform.machine(), platform.system(), platform.python_version()],
        "devices": sorted(str(path) for each in _DEVICES for path in Path("/dev").glob(each)),
        "visible": [os.environ.get(name) for name in _VISIBLE],
        "code": _code_state(),
    }
    return _digest(facts)


def _libraries_changed() -> bool:
    """Whether this process changed the code of models; it cannot before it imports them."""
    if "transformers.modeling_utils" not in sys.modules:
        return False
    from nnd.metric.likelihood import changed_libraries  # noqa: PLC0415 - imports torch

    return bool(changed_libraries())


def data_key(pairs: PairSet) -> str:
    """Return a digest of pairs in their order, with all columns, and of what is said of them."""
    about = replace(pairs, pairs=pairs.pairs.clear(), human_scores=None, sets=(), home=None)
    digest = hashlib.sha256(_text(_facts(about)).encode())
    _add_rows(digest, pairs.pairs)
    for each in pairs.sets:
        digest.update(_text([each.name, each.kind, each.operation]).encode())
        _add_rows(digest, each.pairs)
    return digest.hexdigest()


def _facts(about: PairSet) -> dict[str, Any]:
    names = ("name", "version", "part", "splits", "equal", "n_whole", "has_contexts", "cluster")
    instruction = None if about.instruction is None else asdict(about.instruction)
    return {name: getattr(about, name) for name in names} | {"instruction": instruction}


def _add_rows(digest: "hashlib._Hash", rows: pl.DataFrame) -> None:
    for piece in rows.iter_slices(_ROWS_AT_ONCE):
        stream = piece.rechunk().write_ipc_stream(None, compat_level=pl.CompatLevel.oldest())
        digest.update(stream.getbuffer())


def _commit(repo: str, gguf: str | None, revision: str | None) -> list[str]:
    """Return the commit of a model on the Hub, which is asked unless the revision is one."""
    from huggingface_hub import hf_hub_download  # noqa: PLC0415 - slow, and needed only here

    path = Path(hf_hub_download(repo, gguf or "config.json", revision=revision))
    commit = path.parts[path.parts.index("snapshots") + 1]
    try:  # whether it calls itself a base model is read there
        card = Path(hf_hub_download(repo, "README.md", revision=commit)).name
    except OSError as error:
        card = type(error).__name__
    return [repo, gguf or "", commit, card]


def _version(library: str) -> str | None:
    try:
        return version(library)
    except PackageNotFoundError:
        return None


@cache
def _code_state() -> list[list[Any]]:
    """Return the state of the code that numbers depend on, in two of the rooms."""
    roots = (Path(inspect.getfile(of)).parents[1] for of in (data_key, NNDError))
    files = (path for root in roots for path in sorted(root.rglob("*.py")))
    return [[path.name, (state := path.stat()).st_size, state.st_mtime_ns] for path in files]


def _digest(facts: Mapping[str, Any]) -> str:
    return hashlib.sha256(_text(facts).encode()).hexdigest()


def _text(facts: Any) -> str:  # noqa: ANN401 - JSON
    return json.dumps(facts, sort_keys=True, default=str)
