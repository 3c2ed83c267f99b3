"""Spans of a text that no random operation changes: who speaks, addresses, numbers."""

import re
from collections.abc import Iterator

SPEAKER = r"(?:^|(?<=\|))[^\S\n]*(?P<name>\w[\w.'’()-]*(?: [\w.'’()-]+){0,3}):(?=\s|$)"  # noqa: RUF001
"""The name of a speaker at the beginning of a turn, in a multi-line pattern."""

_PROTECTED = re.compile(
    rf"{SPEAKER}"
    r"|(?:https?://|www\.)\S+"
    r"|(?<!\S)\S*\d\S*",
    re.MULTILINE,
)
"""A speaker's name, an address, a word with a digit."""


def free_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of the stretches of a text that may be changed."""
    end = 0
    for found in _PROTECTED.finditer(text):
        if found.start() > end:
            yield end, found.start()
        end = found.end()
    if end < len(text):
        yield end, len(text)
