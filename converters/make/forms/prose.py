"""Prose, and what is written like it: the whole text is the leaf.

Its components are lines, triples, cells, slots, concepts or sentences.
"""

import re
from collections.abc import Iterator

from nnd.converters.make.forms.form import Components, Form, Span, divided, leaf_of

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


def prose_form(text: str) -> Form:
    """Return the form of a text that has no other one."""
    return Form("prose", text, [leaf_of(text, (0, len(text)))], lambda: _differing(text))


def _differing(text: str) -> list[Components]:
    """Return the components of the first kind of which the text has different ones."""
    for spans in _components(text):
        if len({text[start:end] for start, end in spans}) > 1:
            return [spans]
    return []


def _components(text: str) -> Iterator[list[Span]]:
    """Yield the spans of the components, for each kind of components that the text may have."""
    for mark, divider in _DIVIDERS.items():
        if mark in text:  # a pattern would take far longer
            yield divided(text, divider)
    for whole, item in _LISTS.items():
        if found := re.compile(whole, re.DOTALL).fullmatch(text):
            pattern = re.compile(item, re.DOTALL)
            yield [each.span() for each in pattern.finditer(text, *found.span("items"))]
    yield divided(text, _SENTENCES)
