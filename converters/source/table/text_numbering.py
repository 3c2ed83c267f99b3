"""Ids for keys that have several texts."""

from collections.abc import Iterable
from typing import NamedTuple


class Named(NamedTuple):
    """A text and its id."""

    name: str
    text: str


def number_texts(found: Iterable[tuple[str, str]]) -> dict[tuple[str, str], Named]:
    """Return the id and the text of every (key, text): a second text of one key is `key#2`.

    Texts that differ only in white space count as one, the shortest of them. The order in which
    texts are found does not matter.
    """
    named: dict[tuple[str, str], Named] = {}
    known: dict[str, dict[str, str]] = {}
    for key, text in sorted(set(found), key=lambda pair: (pair[0], len(pair[1]), pair[1])):
        texts = known.setdefault(key, {})
        folded = " ".join(text.split())
        first = texts.setdefault(folded, text)
        number = list(texts).index(folded) + 1
        named[key, text] = Named(key if number == 1 else f"{key}#{number}", first)
    return named
