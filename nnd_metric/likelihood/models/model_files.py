"""The content of a model's files: what tells one model from another, found without torch.

Names, places and times of files say nothing of a model: two may share all of them. Every file that
is read is hashed in every process, except for the largest, whose digests are remembered.
"""

import hashlib
import os
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

from nnd.metric.likelihood.models.loading import Loading
from nnd.metric.likelihood.models.model_places import (
    ADAPTER_CONFIG,
    resolve_revision,
    split_gguf,
)
from nnd.schemas import (
    ScoringError,
    SourceError,
    digest_once,
    is_inside,
    leads_out,
    outside,
    read_json,
)

_LARGE: Final = 1_000_000_000
"""Size in bytes from which the digest of a file is stored for other processes."""

_PART_BYTES: Final = 1 << 26
_BLOCK_BYTES: Final = 1 << 20

_MOST_BESIDE: Final = 1 << 28
"""Largest file beside the weights that is hashed; larger ones are weights in other formats."""

_WEIGHTS: Final = ("model.safetensors", "pytorch_model.bin")
_OF_ADAPTERS: Final = ("adapter_model.safetensors", "adapter_model.bin")
_SUBFOLDERS: Final = ("tokenizer", "additional_chat_templates")
"""Folders in that of a model that are read with it."""

_CONFIG: Final = "config.json"
_TOKENIZER: Final = "tokenizer_config.json"

_BESIDE_GGUF: Final = {".json", ".jinja", ".model", ".txt"}


def weight_files(folder: Path) -> list[Path]:
    """Return the files that transformers reads the weights in a folder from, in order of names.

    An index lists them; beside them may be the same weights in other formats.
    """
    named: Any = _read(folder / _CONFIG).get("transformers_weights")
    names: list[str] = [named, *_WEIGHTS] if is_inside(named) else [*_WEIGHTS]
    for name in names:
        if (folder / name).is_file() and not name.endswith(".index.json"):
            return [folder / name]
        listed = _read(folder / f"{name.removesuffix('.index.json')}.index.json").get("weight_map")
        if isinstance(listed, dict):
            return sorted({folder / each for each in listed.values() if is_inside(each)})
    return sorted(folder.glob("*.safetensors")) or sorted(folder.glob("*.bin"))


def content_digest(path: Path) -> str:
    """Return a SHA-256 of what is in a file: beyond 64 MiB, that of the digests of its parts."""
    return digest_once(path, _hash, kind="parts", large=_LARGE)


def joint_digest(files: Iterable[Path]) -> str:
    """Return one digest of the contents of files in this order, whatever their names."""
    digests = [content_digest(path) for path in files]
    if len(digests) == 1:
        return digests[0]
    return hashlib.sha256("\n".join(digests).encode()).hexdigest()


def _hash(path: Path) -> str:
    starts = range(0, max(1, path.stat().st_size), _PART_BYTES)
    if len(starts) == 1:
        return _hash_part(path, 0).hex()
    with ThreadPoolExecutor() as threads:
        parts = threads.map(lambda start: _hash_part(path, start), starts)
        return hashlib.sha256(b"".join(parts)).hexdigest()


def _hash_part(path: Path, start: int) -> bytes:
    digest, block, left = hashlib.sha256(), bytearray(_BLOCK_BYTES), _PART_BYTES
    with path.open("rb", buffering=0) as file:
        file.seek(start)
        while count := file.readinto(memoryview(block)[:left]):
            digest.update(memoryview(block)[:count])
            left -= count
    return digest.digest()


def places_read(model: str | Path, loading: Loading) -> Iterator[tuple[str, str | None]]:
    """Yield the places that a model is read from, each with its revision, a folder or a Hub id.

    They are those of the model, of its adapter, and of the base that an adapter in a folder names.

    Raises:
        OSError, ValueError, LookupError, TypeError: If an adapter's settings cannot be read.
        ScoringError: If a folder is named with a revision.
    """
    name, own = resolve_revision(model, loading)
    yield name, own.revision
    if loading.adapter is not None:
        adapter, of_adapter = resolve_revision(loading.adapter, Loading())
        yield adapter, of_adapter.revision
    elif (Path(name) / ADAPTER_CONFIG).is_file():
        named = _read(Path(name) / ADAPTER_CONFIG)
        yield named["base_model_name_or_path"], named.get("revision")


def file_state(name: str) -> list[Any] | None:
    """Return what changes with the local files of a model, as JSON; None if it is not here.

    Of files that loading does not read, only what the file system says of them is taken.

    Raises:
        OSError: If a file cannot be read.
    """
    place, gguf = split_gguf(name)
    folder = Path(place)
    if not folder.exists():
        return None
    if gguf is not None:
        beside = (path for path in folder.iterdir() if path.suffix in _BESIDE_GGUF)
        files = [folder / gguf, *beside]
        return [[path.name, content_digest(path)] for path in sorted(files)]
    weights = {*weight_files(folder), *(folder / name for name in _OF_ADAPTERS)}
    return [
        [
            path.relative_to(folder).as_posix(),
            content_digest(path) if path in weights or _is_read(path, folder) else _stat(path),
        ]
        for path in sorted(_files_below(folder))
    ]


def _is_read(path: Path, folder: Path) -> bool:
    """Whether loading may read a file that has no weights."""
    above = path.relative_to(folder).parts[:-1]
    return above[:1] in [(), *((name,) for name in _SUBFOLDERS)] and (
        path.stat().st_size <= _MOST_BESIDE
    )


def _files_below(folder: Path, above: frozenset[str] = frozenset()) -> Iterator[Path]:
    """Yield the files of a folder; links to folders are followed, but not back to one above."""
    here = os.path.realpath(folder)
    if here in above:
        return
    for path in folder.iterdir():
        if path.is_dir():
            yield from _files_below(path, above | {here})
        elif path.is_file():
            yield path


def _stat(path: Path) -> list[int]:
    """Return the size of a file, its times and its inode: they change whenever it is written."""
    state = path.stat()
    return [state.st_size, state.st_mtime_ns, state.st_ctime_ns, state.st_ino, state.st_dev]


def check_named_files(folder: Path) -> None:
    """Check that indexes of weights and tokenizers in a folder name only files inside of it.

    Raises:
        ScoringError: If one names another file, or is a link out of its Hub repository.
    """
    for path in sorted(folder.glob("*.json")):
        if leads_out(folder, path):
            raise outside(path.name, folder, ScoringError)
        for name in _names_in(path):
            if not is_inside(name) or leads_out(folder, folder / name):
                raise outside(name, path, ScoringError)


def _names_in(path: Path) -> list[str]:
    """Return the names of files in a JSON file that loading would open."""
    named: Any = []
    if path.name.endswith(".index.json"):
        named = _read(path).get("weight_map")
    elif path.name == _TOKENIZER:
        named = _read(path).get("fast_tokenizer_files")
    elif path.name == _CONFIG:
        named = [_read(path).get("transformers_weights")]
    names = named.values() if isinstance(named, dict) else named if isinstance(named, list) else ()
    return sorted({str(name) for name in names if name is not None})


def _read(path: Path) -> dict[str, Any]:
    """Return the object in a JSON file; without one, and if it holds another value, none."""
    if not path.is_file():
        return {}
    try:
        found = read_json(path, with_nul=True)
    except SourceError as error:
        raise error.inside(path.parent, ScoringError) from error
    return found if isinstance(found, dict) else {}
