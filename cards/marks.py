"""Cards that nnd and an owner write: nnd owns the text between two marks, the owner the rest.

In the metadata, nnd owns the keys that it writes, except for tags that the owner adds. The second
mark has a digest of nnd's part, so that changes made there by hand are found before they are lost.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from huggingface_hub import DatasetCardData

from nnd.cards.card_parser import read_metadata, split_head
from nnd.schemas import PublishError, excerpt, load_yaml

_BEGIN = (
    "<!-- nnd: begin; publishing again replaces what is between these two marks, and keeps "
    "what you write above or below them -->"
)
_MARKED = re.compile(
    r"^<!-- nnd: begin\b[^\n]*-->[ \t]*\n(.*?)\n<!-- nnd: end ([0-9a-f]+) -->[ \t]*$",
    re.DOTALL | re.MULTILINE,
)
_ANY_MARK = re.compile(r"^<!-- nnd: (?:begin|end)\b", re.MULTILINE)
_KEYS = {
    "pretty_name",
    "language",
    "language_details",
    "license",
    "license_name",
    "license_link",
    "task_categories",
    "size_categories",
    "source_datasets",
    "annotations_creators",
    "configs",
}
"""The keys that `front_matter.metadata` writes, except for the tags, which both sides add to."""
_LAST_SENTENCE = "`manifest.json` beside this card holds every fact and count on it"


class _Parts(NamedTuple):
    metadata: dict[str, Any]
    head: str | None
    above: str
    ours: str
    below: str
    digest: str | None


def marked_card(metadata: DatasetCardData, body: str) -> str:
    """Return a card that has only nnd's part."""
    head = metadata.to_yaml()
    end = f"<!-- nnd: end {_digest(load_yaml(head), body)} -->"
    return f"---\n{head}\n---\n\n{_BEGIN}\n\n{body}\n\n{end}\n"


def is_marked(path: Path) -> bool:
    """Say whether a file has nnd's marks."""
    return b"\n<!-- nnd: begin" in path.read_bytes()


def merge_card(held: str, ours: str, place: str) -> str:
    """Return a card with a new part of nnd, and the rest unchanged.

    Raises:
        PublishError: If nnd's part was changed by hand, its marks are damaged, a version without
            marks wrote it, or its metadata is not valid YAML.
    """
    there, new = _parts(held, place), _parts(ours, "the new card")
    _check_unchanged(there, new, place)
    metadata = _merged(there.metadata, new.metadata)
    same = there.head is not None and metadata == there.metadata
    head = there.head if same else DatasetCardData(**metadata).to_yaml()
    block = ours[ours.index(_BEGIN) :].rstrip()
    body = "\n\n".join(filter(None, (there.above.strip(), block, there.below.strip())))
    return f"---\n{head}\n---\n\n{body}\n"


def _parts(text: str, place: str) -> _Parts:
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    head, body = split_head(text)
    metadata = read_metadata(head or "", place)
    marked = _MARKED.search(body)
    marks = len(_ANY_MARK.findall(body))
    if marked is None and not marks:
        return _Parts(metadata, head, body, "", "", None)
    if marked is None or marks != 2:  # noqa: PLR2004 - where it begins, where it ends
        raise PublishError(
            "card.marks",
            "the marks around nnd's part are damaged",
            place,
            "restore the lines `<!-- nnd: begin … -->` and `<!-- nnd: end … -->`, or "
            "delete the file to have it written again",
        )
    above, below = body[: marked.start()], body[marked.end() :]
    return _Parts(metadata, head, above, marked[1].strip(), below, marked[2])


def _check_unchanged(there: _Parts, new: _Parts, place: str) -> None:
    if there.digest is None and _LAST_SENTENCE in there.above:
        raise PublishError(
            "card.marks",
            "an earlier version of nnd wrote it without marks, so text that was added by "
            "hand cannot be recognised",
            place,
            "save that text, and delete the file to have it written again",
        )
    if there.digest in (None, _digest(there.metadata, there.ours)):
        return
    pairs = zip_longest(there.ours.splitlines(), new.ours.splitlines(), fillvalue="")
    differ = [f'"{excerpt(line or "the end")}"' for line, other in pairs if line != other]
    differ += [key for key in sorted(_KEYS) if there.metadata.get(key) != new.metadata.get(key)]
    if differ:
        raise PublishError(
            "card.marks",
            "the text between nnd's marks, or its metadata, was changed by hand (first "
            f"difference from the new card: {differ[0]})",
            place,
            "move your own text above or below the marks and restore the rest, or delete "
            "the file to have it written again",
        )


def _merged(there: Mapping[str, Any], ours: Mapping[str, Any]) -> dict[str, Any]:
    theirs = {key: value for key, value in there.items() if key not in _KEYS | {"tags"}}
    held, tags = there.get("tags"), ours["tags"]
    if isinstance(held, list):
        tags = [*tags, *(tag for tag in held if tag not in tags)]
        tags = held if sorted(map(str, held)) == sorted(tags) else tags
    return {**ours, "tags": tags, **theirs}


def _digest(metadata: Mapping[str, Any], body: str) -> str:
    own = {key: metadata[key] for key in sorted(_KEYS & metadata.keys())}
    text = json.dumps([own, body], default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
