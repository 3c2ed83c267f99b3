"""The words by which two texts differ, as `difflib` finds them."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from nnd.schemas import NO_SPACES, word_steps

_WORD = re.compile(rf"[{NO_SPACES}]|[^\W{NO_SPACES}]+(?:['\u2019-][^\W{NO_SPACES}]+)*|[^\w\s]")
"""A word, a punctuation mark, or a character of a script that writes no spaces between words."""


class Piece(NamedTuple):
    """A part of a text; it `differs` if the other text has different words there, or none."""

    text: str
    differs: bool


def mark_differences(one: str, other: str) -> tuple[list[Piece], list[Piece]]:
    """Cut two texts into shared and differing pieces.

    Differences in blanks do not count. Joined, the pieces of a text are the text:

        mark_differences("The cat sat.", "The dog sat.")
        # [Piece("The ", False), Piece("cat", True), Piece(" sat.", False)], and with "dog"
    """
    ours, theirs = list(_WORD.finditer(one)), list(_WORD.finditer(other))
    changed = [step for step in word_steps(ours, theirs) if step[0] != "equal"]
    return (
        list(_pieces(one, ours, [step[1:3] for step in changed])),
        list(_pieces(other, theirs, [step[3:5] for step in changed])),
    )


def _pieces(
    text: str, words: Sequence[re.Match[str]], differing: Iterable[tuple[int, int]]
) -> Iterator[Piece]:
    at = 0
    for first, last in ((start, end - 1) for start, end in differing if start < end):
        start, end = words[first].start(), words[last].end()
        if at < start:
            yield Piece(text[at:start], differs=False)
        yield Piece(text[start:end], differs=True)
        at = end
    if at < len(text):
        yield Piece(text[at:], differs=False)
