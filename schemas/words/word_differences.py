"""Where two texts differ, by whole words."""

import re
from difflib import SequenceMatcher
from typing import NamedTuple

NO_SPACES = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
"""Characters of scripts that write no spaces between words, as in a regular expression."""

_LONG = 2_000
"""Number of words from which `difflib` may skip frequent ones, which would take it minutes."""

_WORD = re.compile(rf"[{NO_SPACES}]|[^\s{NO_SPACES}]+")
"""What stands between white space, or a character of a script that writes none between words."""


class ChangedWords(NamedTuple):
    """Words of one text, and those of another that stand in their place.

    `start` and `end` are characters of the first text, `other_start` and `other_end` of the second;
    all are None of a text that has no words there.
    """

    start: int | None
    end: int | None
    other_start: int | None
    other_end: int | None


def word_differences(text: str, other: str) -> list[ChangedWords]:
    """Return in order where the words of two texts differ (difflib's longest matching blocks)."""
    words, others = [*_WORD.finditer(text)], [*_WORD.finditer(other)]
    return [
        ChangedWords(*_place(words[start:end]), *_place(others[other_start:other_end]))
        for tag, start, end, other_start, other_end in word_steps(words, others)
        if tag != "equal"
    ]


def word_steps(
    words: list[re.Match[str]], others: list[re.Match[str]]
) -> list[tuple[str, int, int, int, int]]:
    """Return the steps from some words to others, as `difflib` names them."""
    is_long = max(len(words), len(others)) > _LONG
    one, other = ([word[0] for word in each] for each in (words, others))
    return [*SequenceMatcher(None, one, other, autojunk=is_long).get_opcodes()]


def _place(words: list[re.Match[str]]) -> tuple[int, int] | tuple[None, None]:
    return (words[0].start(), words[-1].end()) if words else (None, None)


def words_opposite(text: str, other: str, start: int, end: int) -> tuple[int, int] | None:
    """Return the characters of `other` whose words stand where `text[start:end]` stands in `text`.

    Equal words stand for each other, and words that were replaced for those that replace them. None
    if the other text has no words there.
    """
    words, others = [*_WORD.finditer(text)], [*_WORD.finditer(other)]
    chosen = [n for n, word in enumerate(words) if word.start() < end and word.end() > start]
    opposite = [
        place
        for tag, first, last, other_first, other_last in word_steps(words, others)
        for n in chosen
        if first <= n < last
        for place in (
            [other_first + n - first] if tag == "equal" else range(other_first, other_last)
        )
    ]
    if not opposite:
        return None
    return others[min(opposite)].start(), others[max(opposite)].end()


def count_words(text: str) -> int:
    """Return the number of words."""
    return len(_WORD.findall(text))
