"""Spans of a text that no random operation changes: who speaks, addresses, numbers."""

import re
from collections.abc import Iterator

_PROTECTED = re.compile(
    r"(?:^|(?<=\|))[^\S\n]*\w[\w.'’()-]*(?: [\w.'’()-]+){0,3}:(?=\s|$)"  # noqa: RUF001 - a name's
    r"|(?:https?://|www\.)\S+"
    r"|(?<!\S)\S*\d\S*",
    re.MULTILINE,
)
"""A speaker's name at the beginning of a turn, an address, a word with a digit."""


def free_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of the stretches of a text that may be changed."""
    end = 0
    for found in _PROTECTED.finditer(text):
        if found.start() > end:
            yield end, found.start()
        end = found.end()
    if end < len(text):
        yield end, len(text)
