"""Small facts that one run leaves for later ones, in JSON files in the folder of caches.

A fact costs time to find out and nothing else: a file that is missing, damaged or cannot be written
holds none, and raises nothing. Of two processes that write at once, one may lose its fact.
"""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeAlias

from nnd.schemas.atomic import write_whole

IsSound: TypeAlias = Callable[[Any], bool]
"""Whether a value read from a file can be one that was written."""

_MOST: Final = 1_000
"""Facts in one file, the newest: each is about a hundred bytes."""


def cache_folder() -> Path:
    """Return the folder of everything that may be deleted: `$NND_CACHE`, else `~/.cache/nnd`.

    Raises:
        RuntimeError: If `NND_CACHE` is not set, and the user has no home.
    """
    return Path(os.environ.get("NND_CACHE") or Path.home() / ".cache" / "nnd")


def read_facts(file: str, is_sound: IsSound) -> dict[str, Any]:
    """Return the sound facts in a file of the cache folder, the oldest first."""
    try:
        stored = json.loads((cache_folder() / file).read_bytes())
    except (OSError, RuntimeError, ValueError):
        return {}
    if not isinstance(stored, dict):
        return {}
    return {key: value for key, value in stored.items() if is_sound(value)}


def add_fact(file: str, is_sound: IsSound, key: str, value: object) -> None:
    """Add a fact to a file of the cache folder, in place of an older one under the same key."""
    facts = read_facts(file, is_sound)
    facts.pop(key, None)
    facts[key] = value
    try:
        folder = cache_folder()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_whole(folder / file, json.dumps(dict([*facts.items()][-_MOST:])))
    except (OSError, RuntimeError):
        return
