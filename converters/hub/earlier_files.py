"""Which files of a repository on the Hub are from an earlier publish, and which are not.

Others may have changed it since: what nnd did not write, or not with this content, stays.
"""

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from huggingface_hub.hf_api import RepoFile

from nnd.cards import merge_card
from nnd.converters.hub.release_folder import CARD, EVAL_YAML, SCHEMAS
from nnd.converters.hub.repository_state import Repository, State, digest, fetch, is_same
from nnd.schemas import (
    MANIFEST,
    VALIDITY,
    PublishError,
    SourceError,
    decode,
    find_change,
    is_published_path,
    load_json,
)

_FILES_OF_NEW_REPOSITORIES = {
    ".gitattributes",
    ".gitignore",
    "README.md",
    "LICENSE",
    "LICENSE.txt",
    "LICENSE.md",
}
"""Files that a repository may hold before a dataset is first published there."""

_SCHEMA_FILES = {f"schemas/{name}.schema.json" for name in SCHEMAS}


def with_card_there(repository: Repository, card: Path, state: State | None) -> dict[str, Path]:
    """Return the card to send, which keeps what others wrote into the existing one."""
    there = card_there(repository, state)
    if there is None:
        return {}
    text = merge_card(there, card.read_text(encoding="utf-8"), f"{repository.name}/{CARD}")
    merged = card.with_name("merged.md")
    merged.write_bytes(text.encode())
    return {CARD: merged}


def card_there(repository: Repository, state: State | None) -> str | None:
    """Return the existing card, or None."""
    if state is None or CARD not in state.files:
        return None
    try:
        return fetch(repository, state.commit, CARD).decode()
    except UnicodeDecodeError as error:
        raise PublishError(
            "file.not-utf8",
            f"is not UTF-8 (byte {error.start}), so nothing can be put into it",
            f"{repository.name}/{CARD}",
        ) from error


def earlier_files(
    repository: Repository, source: Mapping[str, Any], sent: Mapping[str, Path], state: State
) -> Iterator[str]:
    """Yield the files of an earlier publish.

    It is an error if the repository holds another dataset, or if a file would be replaced that nnd
    did not publish, or that was changed since.
    """
    if MANIFEST not in state.files:
        others = sorted(state.files.keys() - _FILES_OF_NEW_REPOSITORIES)
        if others:
            raise PublishError(
                "hub.foreign-files",
                f"contains files that nnd did not publish ({others[0]})",
                repository.name,
            )
        return
    manifest = _fetch_object(repository, state, MANIFEST)
    if "source" in manifest and find_change(manifest, MANIFEST) is not None:
        raise PublishError(
            "hub.foreign-files",
            "changed since nnd published it",
            f"{repository.name}/{MANIFEST}",
            "restore it, or name another repository",
        )
    found, ours = (_named(one) for one in (manifest.get("source"), source))
    if found != ours:
        raise PublishError(
            "hub.foreign-files",
            f"holds {found or 'what nnd did not publish'}, and this is {ours}",
            repository.name,
        )
    same = {path for path in sent if is_same(digest(sent[path]), state.files.get(path))}
    there = {path: state.files[path] for path in state.files.keys() - same - {MANIFEST, CARD}}
    own = {path for path, held in there.items() if _is_listed(repository, state, manifest, held)}
    validity = _fetch_object(repository, state, VALIDITY) if VALIDITY in there else {}
    if validity and find_change(validity, VALIDITY) is None:
        own.add(VALIDITY)
    foreign = sorted(sent.keys() & there.keys() - own)
    if foreign:
        raise PublishError(
            "hub.foreign-files",
            "nnd did not publish this file, or it was changed since",
            f"{repository.name}/{foreign[0]}",
            "rename or delete it there, or name another repository",
        )
    yield from own


def _is_listed(
    repository: Repository, state: State, manifest: Mapping[str, Any], held: RepoFile
) -> bool:
    """Say whether the manifest there lists a file that nnd writes, with its present content.

    Others may have written the manifest: files with other names or other content stay.
    """
    outputs = manifest.get("outputs")
    entry = outputs.get(held.path) if isinstance(outputs, Mapping) else None
    is_ours = is_published_path(held.path) or held.path in {*_SCHEMA_FILES, EVAL_YAML}
    if not isinstance(entry, Mapping) or not is_ours:
        return False
    if held.lfs is not None:
        return held.lfs.sha256 == entry.get("sha256")
    data = fetch(repository, state.commit, held.path)
    return hashlib.sha256(data).hexdigest() == entry.get("sha256")


def _fetch_object(repository: Repository, state: State, path: str) -> dict[str, Any]:
    """Return a JSON object on the Hub; an empty one if the file is something else."""
    try:
        found = load_json(decode(fetch(repository, state.commit, path), path), path)
    except SourceError:
        return {}
    return found if isinstance(found, dict) else {}


def _named(source: object) -> str:
    """Return the name of a source with its set and variant; the empty text if it is invalid."""
    if not isinstance(source, Mapping) or not isinstance(source.get("name"), str):
        return ""
    parts = [source["name"]]
    parts += [f"{kind} {source[kind]}" for kind in ("set", "variant") if source.get(kind)]
    return ", ".join(parts)
