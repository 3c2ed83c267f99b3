"""Changes of the surface of texts: typos, spaces, function words, letter case, final punctuation.

Names of speakers, addresses and words with digits stay as they are.
"""

import math
import re
from collections.abc import Iterator, Sequence
from random import Random
from typing import TypeVar

from nnd.converters.make.forms.protected import free_spans, splice

Thing = TypeVar("Thing")

NEIGHBOURS = {
    "q": "wa", "w": "qeas", "e": "wrsd", "r": "etdf", "t": "ryfg", "y": "tugh", "u": "yihj",
    "i": "uojk", "o": "ipkl", "p": "ol", "a": "qwsz", "s": "weadzx", "d": "ersfxc",
    "f": "rtdgcv", "g": "tyfhvb", "h": "yugjbn", "j": "uihknm", "k": "iojlm", "l": "opk",
    "z": "asx", "x": "sdzc", "c": "dfxv", "v": "fgcb", "b": "ghvn", "n": "hjbm", "m": "jkn",
}  # fmt: skip
"""Letter → the letters whose keys touch its own on a QWERTY keyboard."""

_NEIGHBOURS_IN_CASE = NEIGHBOURS | {
    letter.upper(): keys.upper() for letter, keys in NEIGHBOURS.items()
}

_LETTERS = frozenset(_NEIGHBOURS_IN_CASE)


def add_typos(text: str, random: Random, *, rate: float) -> str:
    """Return a text in which each letter from a to z is replaced with probability `rate`.

    The neighbours of a letter are equally likely, and upper case stays upper case. Names of
    speakers, addresses and words with digits stay as they are, as do letters of other alphabets.
    """
    letters = [
        at
        for start, end in free_spans(text)
        for at, char in enumerate(text[start:end], start)
        if char in _LETTERS
    ]
    changed = list(text)
    for at in _drawn(letters, rate, random):
        keys = _NEIGHBOURS_IN_CASE[text[at]]
        changed[at] = keys[int(random.random() * len(keys))]  # `choice` takes three times as long
    return "".join(changed)


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
    drawn = _drawn(blanks, rate, random)
    return splice(text, ((at, at + 1, random.choice(("", "  "))) for at in drawn))


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
    return splice(text, ((*word, "") for word in _drawn(words, rate, random)))


CASES = ("lower", "upper")


def change_case(text: str, _random: Random, *, case: str) -> str:
    """Return a text in lower or upper case; names of speakers and addresses stay as they are."""
    write = str.lower if case == "lower" else str.upper
    return splice(text, ((start, end, write(text[start:end])) for start, end in free_spans(text)))


_MARKS = ".?!。！？"  # noqa: RUF001 - full-width marks end sentences too


def drop_final(text: str, _random: Random) -> str:
    """Return a text without the final marks that end sentences; white space stays."""
    body = text.rstrip()
    return body.rstrip(_MARKS) + text[len(body) :]


def _drawn(things: Sequence[Thing], rate: float, random: Random) -> Iterator[Thing]:
    """Yield the things that are drawn, each independently with probability `rate`.

    The number of things skipped before the next draw is geometric, so only drawn things cost a
    random number: L. Devroye (1986), Non-uniform random variate generation, ch. X.2.
    """
    if rate >= 1:
        yield from things
        return
    if rate <= 0:
        return
    scale, at = math.log1p(-rate), -1
    while (passed := math.log(1 - random.random()) / scale) < len(things) - at - 1:
        at += 1 + int(passed)
        yield things[at]
