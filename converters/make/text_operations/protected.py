"""Spans of a text that random operations do not change: speakers, addresses, numbers."""

import re
from collections.abc import Iterator

SPEAKER = r"(?:^|(?<=\|))[^\S\n]*(?P<name>\w[\w.'’()-]*(?: [\w.'’()-]+){0,3}):(?=\s|$)"  # noqa: RUF001
"""Multi-line pattern of the name of a speaker at the beginning of a turn."""

_PROTECTED = re.compile(
    rf"{SPEAKER}"
    r"|(?:https?://|www\.)\S+"
    r"|(?<!\S)\S*\d\S*",
    re.MULTILINE,
)
"""Matches the name of a speaker, an address, or a word with a digit."""


def free_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of the parts of a text that may be changed."""
    end = 0
    for found in _PROTECTED.finditer(text):
        if found.start() > end:
            yield end, found.start()
        end = found.end()
    if end < len(text):
        yield end, len(text)
