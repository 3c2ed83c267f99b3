r"""Measures of texts: length, novelty, distance, and contents.

Words are runs of letters, digits and underscores (`\w+`), in any case. Languages without spaces
have few of them, so lengths are in characters by default.

    characters  code points
    words       `\w+`
    tokens      as sacrebleu's `13a` cuts them
    sentences   runs of . ! ? … before a space or the end, or of their full-width forms, and what
                words come after the last one
    turns       lines that begin with a speaker: "Ann: ", "#Person1#: "
    components  parts of the input of data-to-text: values of a JSON object or array; triples
                between "&&"; cells, "<cell> … </cell>"; slots, "name[value]". Other texts have none
    novelty     share of the candidate's word types that its context lacks
    edits       1 - difflib's ratio over words and punctuation marks
    lengths     1 - the shorter length over the longer one, in characters
    bigrams     1 - the shared word bigrams over all of both (Jaccard)
"""

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from difflib import SequenceMatcher
from functools import cache
from itertools import pairwise

from nnd.schemas import SourceError, check_extra, load_json

_WORD = re.compile(r"\w+")
_PIECE = re.compile(r"\w+|[^\w\s]")
_SENTENCE_END = re.compile(r"[.!?…]+[\"'”’)\]]*(?=\s|$)|[。！？]+")  # noqa: RUF001 - quotes, too
_SPEAKER = re.compile(r"^[^\S\n]*(?:[^\W\d_]|#)[\w .'’#()-]{0,39}:(?=\s|$)", re.MULTILINE)  # noqa: RUF001

_SLOT = re.compile(r"\w[\w ]*\[[^\[\]]*\]")
_SLOTS = re.compile(rf"{_SLOT.pattern}(?:\s*[,;]\s*{_SLOT.pattern})*")
_NUMBER = re.compile(
    r"\d|\b(?:zero|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|"
    r"hundred|thousand|million|billion)\b",
    re.IGNORECASE,
)
_NEGATION = re.compile(
    r"\b(?:not|no|never|none|nobody|nothing|neither|nor|nowhere|without|cannot)\b|n['’]t\b",  # noqa: RUF001
    re.IGNORECASE,
)
_QUESTION_WORD = re.compile(r"\b(?:what|who|whom|whose|which|when|where|why|how)\b", re.IGNORECASE)


def words(text: str) -> int:
    """Count the words."""
    return len(_WORD.findall(text))


def tokens(text: str) -> int:
    """Count the tokens of sacrebleu's `13a`."""
    return len(_tokenizer()(text).split())


@cache
def _tokenizer() -> Callable[[str], str]:
    check_extra("metrics", "sacrebleu", "counting tokens")
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a  # noqa: PLC0415 - slow to import

    return Tokenizer13a()  # type: ignore[no-untyped-call]


def sentences(text: str) -> int:
    """Count the sentences; an abbreviation before a space, as in "Mr. Smith", counts as an end."""
    ends = list(_SENTENCE_END.finditer(text))
    rest = text[ends[-1].end() :] if ends else text
    return len(ends) + bool(_WORD.search(rest))


def turns(text: str) -> int:
    """Count the turns of a dialogue."""
    return len(_SPEAKER.findall(text))


def components(text: str) -> int | None:
    """Count the components of the input of data-to-text; None for other texts."""
    if text.lstrip().startswith(("{", "[")):
        with suppress(SourceError):
            return _leaves(load_json(text, ""))
    if "&&" in text:
        return sum(1 for triple in text.split("&&") if triple.strip())
    if cells := text.count("<cell>"):
        return cells
    slots = _SLOTS.fullmatch(text.strip())
    return None if slots is None else len(_SLOT.findall(text))


def _leaves(value: object) -> int:
    """Count the values in a JSON value that are neither objects nor arrays; null is none."""
    if isinstance(value, dict):
        return sum(map(_leaves, value.values()))
    if isinstance(value, list):
        return sum(map(_leaves, value))
    return value is not None


LENGTHS: Mapping[str, Callable[[str], int]] = {
    "characters": len,
    "words": words,
    "tokens": tokens,
}
"""Unit → the length of a text in it."""


def novelty(context: str, candidate: str) -> float | None:
    """Return the share of word types of a candidate that its context lacks; None without words."""
    own = {*_WORD.findall(candidate.casefold())}
    known = {*_WORD.findall(context.casefold())}
    return len(own - known) / len(own) if own else None


def _edits(one: str, other: str) -> float:
    a, b = _PIECE.findall(one), _PIECE.findall(other)
    return 1 - SequenceMatcher(None, a, b, autojunk=False).ratio()


def _lengths(one: str, other: str) -> float:
    shorter, longer = sorted((len(one), len(other)))
    return 1 - shorter / longer if longer else 0.0


def _bigrams(one: str, other: str) -> float | None:
    a, b = ({*pairwise(_WORD.findall(text.casefold()))} for text in (one, other))
    return 1 - len(a & b) / len(a | b) if a | b else None


DISTANCES: Mapping[str, Callable[[str, str], float | None]] = {
    "edits": _edits,
    "lengths": _lengths,
    "bigrams": _bigrams,
}
"""Name → distance of two texts, from 0 (equal) to 1; None if undefined."""

SHAPES: Mapping[str, Callable[[str], bool]] = {
    "number": lambda text: _NUMBER.search(text) is not None,
    "negation": lambda text: _NEGATION.search(text) is not None,
    "question word": lambda text: _QUESTION_WORD.search(text) is not None,
    "dialogue": lambda text: turns(text) > 1,
}
"""Shape → whether a text has it: a number (digits, or a word from two to billion), a negation, a
question word, two turns of a dialogue. The words are English."""


def shapes(text: str) -> list[str]:
    """Return the shapes of a text."""
    return [name for name, has in SHAPES.items() if has(text)]
