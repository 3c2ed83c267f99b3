"""Spans of a text: those that random operations may change, and replacing some."""

import re
from collections.abc import Iterable, Iterator

NAME = r"\w[\w.'’()-]*(?: [\w.'’()-]+){0,3}"  # noqa: RUF001
"""Pattern of the name of a speaker."""

SPEAKER = rf"(?:^|(?<=\|))[^\S\n]*(?P<name>{NAME}):(?=\s|$)"
"""Multi-line pattern of the name of a speaker at the beginning of a turn."""

_PROTECTED = re.compile(
    rf"{SPEAKER}[^\S\n]*"  # without a space after it, a name is not a speaker
    r"|(?:https?://|www\.)\S+"
    r"|(?<!\S)\S*\d\S*",
    re.MULTILINE,
)
"""Matches the name of a speaker with the blanks after it, an address, or a word with a digit."""


def free_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of the parts of a text that may be changed."""
    end = 0
    for found in _PROTECTED.finditer(text):
        if found.start() > end:
            yield end, found.start()
        end = found.end()
    if end < len(text):
        yield end, len(text)


def splice(text: str, edits: Iterable[tuple[int, int, str]]) -> str:
    """Return a text with some spans replaced: (start, end, new text), in order."""
    pieces, after = list[str](), 0
    for start, end, new in edits:
        pieces += [text[after:start], new]
        after = end
    return "".join([*pieces, text[after:]])
