"""JSON documents that nnd writes and reads again, and the files that they list.

A document states the version that wrote it (`nnd_version`), the other files of its folder
(`outputs`: size and SHA-256) and the SHA-256 of its own content (`digest`): of its JSON without
this field, with sorted keys and without white space, in UTF-8. So a changed byte is found before a
number is read, and only what nnd wrote is ever replaced: a file is nnd's own if a document that
keeps its schema lists its digest, and it still has it.

Versions before 0.3 wrote no `digest`. Their documents are read with a warning.
"""

import hashlib
import importlib
import json
import re
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from nnd.schemas.files.digests import fingerprint
from nnd.schemas.reading.records import read_json
from nnd.schemas.records.marks import Count, Name, Sha256
from nnd.schemas.records.record import Record
from nnd.schemas.words.errors import SchemaError, ScoringWarning, SourceError
from nnd.schemas.words.identity import nnd_version

MANIFEST, VALIDITY, SELFTEST = "manifest.json", "validity.json", "selftest.json"
NEGATIVES_FACTS, REFERENCE_ROWS = "negatives.json", "references.jsonl"
"""The document of a folder of references with negatives, and its table."""

_KINDS: Final[Mapping[str, tuple[str | None, str]]] = {
    MANIFEST: (
        "manifest",
        "convert or build again, or name the Parquet file alone, which is then read as your own",
    ),
    "result.json": ("result", "evaluate again"),
    "metrics.json": ("metrics", "run `nnd metrics` again"),
    "variation.json": ("variation", "run `nnd evaluate --vary` again"),
    VALIDITY: ("validity", "write it again with `nnd compare --by origin --out`, or remove it"),
    SELFTEST: ("selftest", "run `nnd selftest` again"),
    NEGATIVES_FACTS: ("negatives", "derive again"),
    "plan.json": (None, "remove its folder, and start the workers again"),
    "settings.json": (None, "train into another folder"),
    "training.json": ("training", "train again"),
    "nnd_history.jsonl": ("history", "train again"),
}
"""Name of a document → its schema, and how to make the document and its files again."""

UNLISTED: Final = {"result.json": ("cost.json", SELFTEST)}
"""Document → files of its folder that it does not list, because no two runs write the same, or
because they are written later; each has a digest of its own (`seal`)."""

_OLDER_COST = {"model", "loading_seconds", "scoring_seconds", "tokens"}
"""Keys of each entry of a cost.json of 0.3, which wrote no digest into it."""

_DIGEST = "digest"
_VERSION = "nnd_version"
_OLDER = ("0.1.", "0.2.")
"""Beginnings of the versions that wrote no digest."""

_TRIES = 3
_SIGNED = '"nnd|v:'
"""Beginning of the signatures that state the version in documents of 0.2."""

_valid: set[str] = set()
"""Digests of documents that keep their schema."""


@dataclass(frozen=True, slots=True)
class SealedRecord(Record):
    """What nnd adds to each document.

    Attributes:
        nnd_version: Version of nnd that wrote it. Documents before 0.3 lack it.
        digest: SHA-256 of the document without this field: of its JSON with sorted keys and without
            white space, in UTF-8. Documents before 0.3 lack it.
    """

    nnd_version: Name = ""
    digest: Sha256 = ""


@dataclass(frozen=True, slots=True)
class WrittenFile(Record):
    """A file.

    Attributes:
        bytes: Its size.
        sha256: Its SHA-256.
    """

    bytes: Count
    sha256: Sha256


@dataclass(frozen=True, slots=True)
class Document(SealedRecord):
    """What nnd adds to the document of a folder.

    Attributes:
        outputs: The other files of the folder: name → size and SHA-256. Older documents lack it.
    """

    outputs: Mapping[str, WrittenFile] = field(default_factory=dict)


def seal(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return a document with the version of nnd and the digest of its content."""
    document = json.loads(json.dumps({_VERSION: nnd_version(), **facts}, ensure_ascii=False))
    return {**document, _DIGEST: _digest(document)}


def write_document(folder: Path, facts: Mapping[str, Any], *, document: str) -> None:
    """Write facts as a document, with its version and its digest (`seal`)."""
    text = json.dumps(seal(facts), indent=2, ensure_ascii=False)
    (folder / document).write_text(f"{text}\n", encoding="utf-8")


def list_files(folder: Path, names: Iterable[str]) -> dict[str, Any]:
    """Return the `outputs` of a document: name → size and SHA-256."""
    return {name: fingerprint(folder / name) for name in names}


def read_document(path: Path) -> dict[str, Any]:
    """Read a document.

    Raises:
        SchemaError: If it is missing, is not a JSON object, or was changed since nnd wrote it.
    """
    document = parse_document(path)
    problem = find_change(document, path.name)
    if problem is not None:
        raise SchemaError("contract.broken", problem, path, _KINDS[path.name][1])
    if _DIGEST not in document:
        warnings.warn(
            f"{path}: written before digests, so a later change to it cannot be found",
            ScoringWarning,
            stacklevel=2,
        )
    version = document.get(_VERSION)
    if isinstance(version, str) and _numbers(version) > _numbers(nnd_version()):
        warnings.warn(
            f"{path}: it says that nnd {version} wrote it, which is later than this version "
            f"({nnd_version()}); only what this one knows was read",
            ScoringWarning,
            stacklevel=2,
        )
    return document


def _numbers(version: str) -> tuple[int, ...]:
    """Return the numbers that a version begins with; of what is no version, none."""
    match = re.match(r"\d{1,9}(\.\d{1,9}){0,3}(?!\d)", version, re.ASCII)
    return tuple(map(int, match[0].split("."))) if match else ()


def find_change(document: Mapping[str, Any], name: str) -> str | None:
    """Return how a document of this name differs from what nnd writes, or None."""
    if _DIGEST in document:
        return None if document[_DIGEST] == _digest(document) else "changed since it was written"
    is_older = str(document.get(_VERSION, _OLDER[0])).startswith(_OLDER)
    if is_older and _KINDS[name][0] is not None:
        return None
    return "written by another version of nnd, or changed since"


def read_with(document: Path, names: Collection[str]) -> dict[str, Any]:
    """Read a document, and check the files of its folder that are about to be read.

    Raises:
        SchemaError: If the document or a file was changed since nnd wrote them.
    """
    found = read_document(document)
    for _ in range(_TRIES):
        problem = next(_changes(document.parent, found, names), None)
        if problem is None:
            return found
        path, what = problem
        before, found = found, read_document(document)
        if found.get(_DIGEST) == before.get(_DIGEST):  # no other process has just replaced both
            break
    raise SchemaError("contract.broken", what, path, _KINDS[document.name][1])


def _changes(
    folder: Path, content: Mapping[str, Any], names: Iterable[str]
) -> Iterator[tuple[Path, str]]:
    outputs = content.get("outputs")
    if not isinstance(outputs, Mapping):
        return
    for name in names:
        recorded = outputs.get(name)
        if not isinstance(recorded, Mapping):
            if _DIGEST in content:
                yield folder / name, "nnd did not write this file"
        elif "sha256" in recorded and not _is_unchanged(folder / name, recorded):
            yield folder / name, "changed since it was written"


def _is_unchanged(path: Path, recorded: Mapping[str, Any]) -> bool:
    try:
        return bool(fingerprint(path)["sha256"] == recorded.get("sha256"))
    except (OSError, ValueError):  # missing, or no name of a file
        return False


def own_files(folder: Path, document: str) -> set[str]:
    """Return the names of a folder's files that nnd wrote and that did not change since.

    The document that lists them is nnd's own if it keeps its schema, states its version, and did
    not change, as far as it has a digest.
    """
    try:
        content = parse_document(folder / document)
    except SchemaError:
        return set()
    if find_change(content, document) is not None or not _keeps_schema(content, document):
        return set()
    outputs = content.get("outputs", {})
    own = {name for name, entry in outputs.items() if _is_unchanged(folder / name, entry)}
    unlisted = {name for name in UNLISTED.get(document, ()) if _is_sealed(folder / name)}
    return {document, *own, *unlisted}


def _is_sealed(path: Path) -> bool:
    """Whether nnd wrote a file that no document lists, and that it was not changed since."""
    try:
        content = read_json(path, with_nul=True)
    except SourceError:
        return False
    if not isinstance(content, dict):
        return False
    if _DIGEST in content:
        return bool(content[_DIGEST] == _digest(content))
    entries = content.get("models")
    return (
        [*content] == ["models"]
        and isinstance(entries, list)
        and entries != []
        and all(isinstance(each, dict) and each.keys() >= _OLDER_COST for each in entries)
    )


def other_version(folder: Path, document: str) -> str | None:
    """Return the other version that wrote a document, if that does not keep our schema.

    It is None if the document keeps the schema, names no version or ours, or was changed since it
    was written.
    """
    try:
        content = parse_document(folder / document)
    except SchemaError:
        return None
    unlike = find_change(content, document) is not None or _KINDS[document][0] is None
    if unlike or _keeps_schema(content, document):
        return None
    signed = re.search(rf'{re.escape(_SIGNED)}([^|"]+)', json.dumps(content))
    version = str(content.get(_VERSION) or (signed and signed[1]) or "")
    return None if version in ("", nnd_version()) else version


def _keeps_schema(content: Mapping[str, Any], document: str) -> bool:
    """Whether a document states its version and keeps its schema; one with a digest: once."""
    # jsonschema is slow to import. The metric of a Space, which writes no folder, has neither this
    # module nor the schemas: `nnd.metric.space.flattening` does not see this import.
    check_rows = importlib.import_module("nnd.schemas.contract.checks").check_rows
    schema, digest = _KINDS[document][0], content.get(_DIGEST, "")
    if digest not in _valid:
        is_versioned = _VERSION in content or _SIGNED in json.dumps(content)
        if schema is None or not is_versioned or any(check_rows(schema, [content])):
            return False
    if digest:
        _valid.add(digest)
    return True


def parse_document(path: Path) -> dict[str, Any]:
    """Return the content of a document, changed or not."""
    try:
        content = read_json(path, with_nul=True)
    except SourceError as error:
        raise SchemaError("contract.broken", error.what, path, _KINDS[path.name][1]) from error
    if not isinstance(content, dict):
        raise SchemaError("contract.broken", "is not a JSON object", path, _KINDS[path.name][1])
    return content


def _digest(document: Mapping[str, Any]) -> str:
    content = {name: value for name, value in document.items() if name != _DIGEST}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()
