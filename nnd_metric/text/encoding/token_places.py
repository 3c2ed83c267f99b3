"""Where the tokens of a candidate are in its text, in characters."""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import TypeAlias

from nnd.metric.text.encoding.boundary import PROBES, shared_end
from nnd.metric.text.encoding.requests import Context, Ids, Tokenizer

TokenPlace: TypeAlias = tuple[int, int]
"""The first character of a token, and the first behind it; white space around it is not part."""

_SPECIAL = (0, 1, 2)  # special tokens that may be scored before and after a text


def place_tokens(
    tokenizer: Tokenizer,
    contexts: Sequence[Context],
    candidates: Sequence[str],
    scored: Sequence[Ids],
    separator: str,
) -> list[list[TokenPlace | None]]:
    """Return the place of each scored token of each candidate.

    It is None for a token that is not in the text, such as an end token, and for all tokens if the
    tokenizer, one written in Python, does not tell.
    """
    end = shared_end(tokenizer, contexts)
    befores = [*([end + separator] if end else []), *(probe + separator for probe in PROBES)]
    befores += [separator, ""]
    return [
        _places(tokenizer, text, ids, befores) or [None] * len(ids)
        for text, ids in zip(candidates, scored, strict=True)
    ]


def _places(
    tokenizer: Tokenizer, text: str, ids: Ids, befores: Sequence[str]
) -> list[TokenPlace | None] | None:
    """Return the places of tokens by the first text before the candidate that gives them."""
    if not (tokenizer.is_fast and ids):
        return None
    for before in befores:
        read, offsets = _read(tokenizer, before + text)
        for first, last in _insides(len(ids)):
            own = ids[first:last]
            if read[len(read) - len(own) :] == own:
                places = offsets[len(offsets) - len(own) :]
                inside = [
                    _in_text(text, start - len(before), stop - len(before))
                    for start, stop in places
                ]
                return [*[None] * first, *inside, *[None] * (len(ids) - last)]
    return None


def _insides(n: int) -> Iterator[tuple[int, int]]:
    """Yield which tokens may be those of the text: all, or all but a few special ones."""
    for first, after in sorted(product(_SPECIAL, _SPECIAL), key=sum):
        if first + after < n:
            yield first, n - after


def _read(tokenizer: Tokenizer, text: str) -> tuple[Ids, list[TokenPlace]]:
    encoded = tokenizer(
        text,
        add_special_tokens=False,
        split_special_tokens=True,
        return_offsets_mapping=True,
        verbose=False,
    )
    return tuple(encoded["input_ids"]), encoded["offset_mapping"]


def _in_text(text: str, start: int, stop: int) -> TokenPlace | None:
    """Return a place without white space around it; None if nothing remains."""
    start, stop = max(start, 0), max(stop, 0)
    words = text[start:stop]
    start += len(words) - len(words.lstrip())
    stop -= len(words) - len(words.rstrip())
    return (start, stop) if start < stop else None
