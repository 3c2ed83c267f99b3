"""Normal forms of texts: they change how a text is written, not what it says."""

import re
import unicodedata
from collections.abc import Callable
from functools import partial

_BRACKETS = {"l": "([{", "r": ")]}"}
_TOKENS = (
    # `` word '' → "word"
    (re.compile(r"`` ?"), '"'),
    (re.compile(r" ''(?=\s|$)"), '"'),
    # ( word ) , → (word),   A mark of several characters, such as :) or ..., is left alone.
    (re.compile(r"(?<!\S)([(\[{]) +(?=\S)"), r"\1"),
    (re.compile(r" +([.,;:!?])(?=\s|$)"), r"\1"),
    (re.compile(r" +([)\]}])(?=[\s.,;:!?]|$)"), r"\1"),
    # do n't, it 's → don't, it's
    (re.compile(r" +(n['\u2019]t|['\u2019](?:s|re|ve|ll|d|m))\b", re.IGNORECASE), r"\1"),
)


def _detokenise(text: str) -> str:
    """Return a text without the spaces that a Penn Treebank tokeniser puts in.

    The few rules do not change plain English. Moses' detokeniser (sacremoses) splits and joins
    every text by the rules of a language, which must be given, and ignores `-lrb-`. Spaces inside
    plain quotation marks stay, because opening and closing ones look the same.
    """
    text = re.sub(r"-([lr])([rsc])b-", _bracket, text, flags=re.IGNORECASE)
    for pattern, replacement in _TOKENS:
        text = pattern.sub(replacement, text)
    return text


def _bracket(match: re.Match[str]) -> str:
    return _BRACKETS[match[1].lower()]["rsc".index(match[2].lower())]


def _fold_blanks(text: str) -> str:
    return re.sub(r"[^\S\n]+", " ", re.sub(r"\r\n?", "\n", text)).strip()


NORMAL_FORMS: dict[str, Callable[[str], str]] = {
    "nfc": partial(unicodedata.normalize, "NFC"),
    "whitespace": _fold_blanks,
    "detokenise": _detokenise,
}
"""Name → function that returns that form of a text.

`nfc` composes characters (Unicode NFC); `whitespace` makes every run of blanks within a line one
space, every line end a plain one, and removes both at the ends of a text; `detokenise` undoes the
spaces and brackets of Penn Treebank tokens.
"""
