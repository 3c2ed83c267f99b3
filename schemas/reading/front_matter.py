"""The metadata at the head of a card, README.md of a dataset or a model: YAML between two lines."""

import re
from typing import Any

from nnd.schemas.reading.yaml import load_yaml
from nnd.schemas.words.errors import NNDError
from nnd.schemas.words.texts import excerpt

_HEAD = re.compile(r"\A---[ \t]*\r?\n(.*?)\r?\n---[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_LONGEST_REASON = 200


def split_head(text: str) -> tuple[str | None, str]:
    """Return the YAML of a card's metadata, or None, and the rest of its text."""
    head = _HEAD.match(text)
    return (head[1], text[head.end() :]) if head else (None, text)


def read_metadata(head: str | None, place: str, family: type[NNDError] = NNDError) -> Any:  # noqa: ANN401
    """Return the metadata of a card as a dict, which is empty without a head.

    Raises:
        NNDError: If it is not YAML (`load_yaml`), or not a mapping; of the type `family`.
    """
    try:
        metadata = load_yaml(head or "")
    except Exception as error:  # PyYAML lets ValueError, KeyError and others through
        reason = excerpt(" ".join(str(error).split()), _LONGEST_REASON)
        what = f"its metadata is not valid YAML: {reason}"
        raise family("file.not-yaml", what, place) from error
    if metadata is not None and not isinstance(metadata, dict):
        raise family("file.not-yaml", "its metadata is not a mapping", place)
    return metadata or {}
