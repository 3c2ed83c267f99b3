"""Typing errors: replacing letters by a neighbour on the keyboard."""

from random import Random

from nnd.converters.make.text_operations.drawing import draw
from nnd.converters.make.text_operations.protected import free_spans

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
    for number in draw(len(letters), rate, random):
        at = letters[number]
        keys = _NEIGHBOURS_IN_CASE[text[at]]
        changed[at] = keys[int(random.random() * len(keys))]  # `choice` takes three times as long
    return "".join(changed)
