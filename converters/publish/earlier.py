"""What a repository on the Hub holds of an earlier publish, and what others put there.

Anybody may have changed it since: what nnd did not write, or not like that, stays.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from huggingface_hub.hf_api import RepoFile

from nnd.cards import merge_card
from nnd.converters.hub import Repository, State, fetch
from nnd.converters.publish.release import CARD, SCHEMAS
from nnd.schemas import MANIFEST, VALIDITY, PublishError, is_published_path

_NOBODYS_DATA = {
    ".gitattributes",
    ".gitignore",
    "README.md",
    "LICENSE",
    "LICENSE.txt",
    "LICENSE.md",
}
"""What a repository may hold before a dataset is first published there."""

_OURS = {VALIDITY, *(f"schemas/{name}.schema.json" for name in SCHEMAS)}
"""What only nnd gives such a name, though no manifest lists it."""


def with_card_there(repository: Repository, card: Path, state: State | None) -> dict[str, Path]:
    """Return the card to send, which keeps what others wrote into the one that is there."""
    there = card_there(repository, state)
    if there is None:
        return {}
    text = merge_card(there, card.read_text(encoding="utf-8"), f"{repository.name}/{CARD}")
    merged = card.with_name("merged.md")
    merged.write_bytes(text.encode())
    return {CARD: merged}


def card_there(repository: Repository, state: State | None) -> str | None:
    """Return the card that is there, or None where there is none."""
    if state is None or CARD not in state.files:
        return None
    try:
        return fetch(repository, state.commit, CARD).decode()
    except UnicodeDecodeError as error:
        raise PublishError(
            f"{repository.name}/{CARD}: is not UTF-8 (byte {error.start}); save it as UTF-8, or "
            "delete it to have it written again"
        ) from error


def earlier_files(repository: Repository, source: Mapping[str, Any], state: State) -> Iterator[str]:
    """Yield the files of an earlier publish; raise where this is no place for the dataset."""
    if MANIFEST not in state.files:
        others = sorted(state.files.keys() - _NOBODYS_DATA)
        if others:
            raise PublishError(
                f"{repository.name}: contains files that nnd did not publish ({others[0]}); name "
                "another repository, or empty this one"
            )
        return
    manifest = _read_manifest(repository, state)
    found, ours = (_named(one) for one in (manifest.get("source"), source))
    if found != ours:
        raise PublishError(
            f"{repository.name}: holds {found or 'what nnd did not publish'}, and this is {ours}; "
            "name another repository, or empty this one"
        )
    for path, held in state.files.items():
        if _is_listed(repository, state, manifest, held) or path in _OURS:
            yield path


def _is_listed(
    repository: Repository, state: State, manifest: Mapping[str, Any], held: RepoFile
) -> bool:
    """Whether a manifest there tells of a file that nnd writes, and as it is there.

    Anybody may have written the manifest: what has no name of ours, or another content, stays.
    """
    outputs = manifest.get("outputs")
    told = outputs.get(held.path) if isinstance(outputs, Mapping) else None
    if not isinstance(told, Mapping) or not is_published_path(held.path):
        return False
    if held.lfs is not None:
        return held.lfs.sha256 == told.get("sha256")
    data = fetch(repository, state.commit, held.path)
    return hashlib.sha256(data).hexdigest() == told.get("sha256")


def _read_manifest(repository: Repository, state: State) -> dict[str, Any]:
    try:
        manifest = json.loads(fetch(repository, state.commit, MANIFEST))
    except (ValueError, RecursionError):
        return {}
    return manifest if isinstance(manifest, dict) else {}


def _named(source: object) -> str:
    """Return the name of a source with its set and variant, or nothing where it is none."""
    if not isinstance(source, Mapping) or not isinstance(source.get("name"), str):
        return ""
    parts = [source["name"]]
    parts += [f"{kind} {source[kind]}" for kind in ("set", "variant") if source.get(kind)]
    return ", ".join(parts)
