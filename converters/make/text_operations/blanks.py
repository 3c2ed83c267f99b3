"""Doubling or removing blanks between words."""

import re
from random import Random

from nnd.converters.make.text_operations.drawing import draw
from nnd.converters.make.text_operations.protected import free_spans

_BETWEEN_WORDS = re.compile(r"(?<=\S) (?=\S)")


def change_blanks(text: str, random: Random, *, rate: float) -> str:
    """Return a text in which each single blank is doubled or removed with probability `rate`.

    Both are equally likely. Line breaks stay, and so do blanks next to names of speakers, addresses
    and words with digits.
    """
    blanks = [
        found.start()
        for start, end in free_spans(text)
        for found in _BETWEEN_WORDS.finditer(text, start, end)
    ]
    changed = list(text)
    for number in draw(len(blanks), rate, random):
        changed[blanks[number]] = random.choice(("", "  "))
    return "".join(changed)
