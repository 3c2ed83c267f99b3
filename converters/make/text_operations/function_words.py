"""Removing English function words."""

import re
from random import Random

from nnd.converters.make.text_operations.drawing import draw
from nnd.converters.make.text_operations.protected import free_spans

WORDS = (
    "a an the of to in on at by for with from as into about "
    "and that which who this these those there it its "
    "is are was were be been being am has have had do does did will would"
)
"""Articles, prepositions, conjunctions, pronouns and auxiliary verbs. Negations, and words for
amount, certainty or choice, are excluded, because removing them would change the meaning."""

_WORD = re.compile(rf"(?<!\S)(?:{WORDS.replace(' ', '|')}) +", re.IGNORECASE)


def drop_function_words(text: str, random: Random, *, rate: float) -> str:
    """Return a text without each of its function words with probability `rate`.

    A word is removed with the following blanks; words next to punctuation stay.
    """
    words = [
        found.span()
        for start, end in free_spans(text)
        for found in _WORD.finditer(text, start, end)
    ]
    kept, after = list[str](), 0
    for number in draw(len(words), rate, random):
        start, end = words[number]
        kept.append(text[after:start])
        after = end
    return "".join([*kept, text[after:]])
