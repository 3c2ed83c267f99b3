"""Small facts that one run stores for later runs, in JSON files of the cache folder.

A lost fact only costs the time to compute it again. So a missing, damaged or unwritable file raises
no error, and if two processes write at once, one may lose its fact. Each fact has a digest: a
changed one counts as lost.
"""

import hashlib
import json
import os
from pathlib import Path
from typing import Any, Final

from nnd.schemas.files.atomic import write_whole
from nnd.schemas.reading.records import read_json
from nnd.schemas.words.errors import SourceError

_MOST: Final = 1_000
"""Most facts in one file; the newest are kept. Each has about a hundred bytes."""


def cache_folder() -> Path:
    """Return the folder of files that may be deleted: `$NND_CACHE`, else `~/.cache/nnd`."""
    return Path(os.environ.get("NND_CACHE") or Path.home() / ".cache" / "nnd")


def read_facts(file: str) -> dict[str, Any]:
    """Return the undamaged facts in a file of the cache folder, the oldest first."""
    try:
        stored = read_json(cache_folder() / file, with_nul=True)
    except (RuntimeError, SourceError):
        return {}
    if not isinstance(stored, dict):
        return {}
    return {
        key: entry[0]
        for key, entry in stored.items()
        if entry == _with_digest(key, entry[0] if isinstance(entry, list) and entry else None)
    }


def add_fact(file: str, key: str, value: object) -> None:
    """Add a fact to a file of the cache folder, in place of an older one under the same key."""
    facts = read_facts(file)
    facts.pop(key, None)
    facts[key] = value
    entries = {key: _with_digest(key, fact) for key, fact in [*facts.items()][-_MOST:]}
    try:
        folder = cache_folder()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_whole(folder / file, json.dumps(entries))
    except (OSError, RuntimeError):
        return


def _with_digest(key: str, value: object) -> list[Any]:
    return [value, hashlib.sha256(json.dumps([key, value]).encode()).hexdigest()[:16]]


def forget_oldest(folder: Path, most: int) -> None:
    """Delete the oldest files of a folder of the cache that is larger than so many bytes."""
    states = [(path, path.stat()) for path in folder.iterdir() if path.is_file()]
    total = 0
    for path, state in sorted(states, key=lambda each: -each[1].st_mtime_ns):
        total += state.st_size
        if total > most:
            path.unlink()
