"""Reordering the components of a text: turns, triples, rows, sentences."""

import re
from random import Random

_BETWEEN = {
    "\n": r"\n\s*",  # rows, and turns on lines of their own
    "|": r"\s?\|\s+(?=\w[\w.'’()-]*(?: [\w.'’()-]+){0,3}:\s)",  # noqa: RUF001 - "| Ann: Hi. | Bob: Hi."
    "&&": r"\s?&&\s?",  # triples, "Lima | country | Peru && Lima | river | Rímac"
    "": r"(?<=[.?!])\s+|(?<=[。！？])\s*",  # noqa: RUF001 - sentences
}
"""Mark → separator of the components; the first mark that a text contains decides."""

_DIVIDERS = tuple((mark, re.compile(between)) for mark, between in _BETWEEN.items())


def permute(text: str, random: Random) -> str:
    """Return a text with its components in another order.

    Separators do not move. Every other order of the components is equally likely; a text of one
    component, or of equal ones, does not change.
    """
    for mark, divider in _DIVIDERS:
        if mark not in text:  # a pattern would take far longer
            continue
        components, between = _divided(text, divider)
        if len(set(components)) > 1:
            break
    else:
        return text
    shuffled = components.copy()
    while shuffled == components:
        random.shuffle(shuffled)
    return "".join(piece for pair in zip(between, [*shuffled, ""], strict=True) for piece in pair)


def _divided(text: str, divider: re.Pattern[str]) -> tuple[list[str], list[str]]:
    """Return the components of a text, and the texts before, between and after them."""
    components, between, start = list[str](), [""], 0
    for found in divider.finditer(text):
        if found.start() > start:
            components.append(text[start : found.start()])
            between.append(found.group())
        else:  # at the beginning, or next to another
            between[-1] += found.group()
        start = found.end()
    if start < len(text):
        components.append(text[start:])
        between.append("")
    return components, between
