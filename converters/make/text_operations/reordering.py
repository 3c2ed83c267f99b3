"""Reordering the components of a text: turns, triples, rows, cells, slots, concepts, sentences."""

import re
from collections.abc import Iterator
from random import Random
from typing import TypeAlias

from nnd.converters.make.text_operations.protected import splice

_Span: TypeAlias = tuple[int, int]

_DIVIDERS = {
    "\n": re.compile(r"\n\s*"),  # rows, and turns on lines of their own
    "|": re.compile(r"\s?\|\s+(?=\w[\w.'’()-]*(?: [\w.'’()-]+){0,3}:\s)"),  # noqa: RUF001 - "| Ann: Hi."
    "&&": re.compile(r"\s?&&\s?"),  # triples, "Lima | country | Peru && Lima | river | Rímac"
}
"""Mark → separator of the components; the first mark that a text contains decides."""

_SENTENCES = re.compile(r"(?<=[.?!])\s+|(?<=[。！？])\s*")  # noqa: RUF001

_NAME = r"[\w?./:-]++(?: [\w./:-]++)*+"
_GROUP = (
    rf"(?:{_NAME})?+(?:\[(?:[^\[\]]|\[[^\[\]]*+\])*+\]|\((?:[^()]|\([^()]*+\))*+\)|\{{[^{{}}]*+\}})"
)
_SLOT = rf"{_NAME}\s*+=(?:[^,;=()]|\([^()]*+\)|[,;](?!\s*+{_NAME}\s*+=))*+"
_WORD = r"""(?:'[^']*+'|"[^"]*+"|\w[\w'’-]*+)"""  # noqa: RUF001
_COMMA, _ANY = r"\s*+[,;]\s*+", r"(?:\s*+[,;&]\s*+|\s++)"


def _list_of(item: str, between: str = _COMMA, fewest: int = 2) -> str:
    return rf"(?P<items>{item}(?:{between}{item}){{{fewest - 1},}}+)"


_LISTS = {
    # "<table> <cell> 3 <col_header> Goals </col_header> </cell> <cell> 7 </cell> </table>"
    r"[^<]*+(?:<(?!cell>)[^<]*+)*+(?P<items><cell>.*</cell>).*": r"<cell>.*?</cell>",
    # "name[The Eagle], food[French]", "inform(food=French) & request(area)", JSON objects
    rf"\[?{_list_of(_GROUP, _ANY)}\]?": _GROUP,
    # Slots of one act, "inform(name=The Eagle, food=French)"
    rf"(?:{_NAME}\()?+{_list_of(_SLOT)}\)?": _SLOT,
    # Concepts and slots without values, "ski, mountain, skier", "request(area, food)"
    rf"(?:{_NAME}\(|\[){_list_of(_WORD)}[)\]]": _WORD,
    _list_of(_WORD, fewest=3): _WORD,
}
"""Pattern of a whole text → pattern of its components, which are in the group `items`."""


def permute(text: str, random: Random) -> str:
    """Return a text with its components in another order.

    Separators do not move. Every other order of the components is equally likely; a text of one
    component, or of equal ones, does not change.
    """
    for spans in _components(text):
        components = [text[start:end] for start, end in spans]
        if len(set(components)) > 1:
            break
    else:
        return text
    shuffled = components.copy()
    while shuffled == components:
        random.shuffle(shuffled)
    return splice(
        text, ((*span, component) for span, component in zip(spans, shuffled, strict=True))
    )


def _components(text: str) -> Iterator[list[_Span]]:
    """Yield the spans of the components, for each kind of components that the text may have."""
    for mark, divider in _DIVIDERS.items():
        if mark in text:  # a pattern would take far longer
            yield _divided(text, divider)
    for whole, item in _LISTS.items():
        if found := re.compile(whole, re.DOTALL).fullmatch(text):
            pattern = re.compile(item, re.DOTALL)
            yield [each.span() for each in pattern.finditer(text, *found.span("items"))]
    yield _divided(text, _SENTENCES)


def _divided(text: str, divider: re.Pattern[str]) -> list[_Span]:
    """Return the spans between separators that are not empty."""
    spans, start = list[_Span](), 0
    for found in divider.finditer(text):
        if found.start() > start:
            spans.append((start, found.start()))
        start = found.end()
    return [*spans, (start, len(text))] if start < len(text) else spans
