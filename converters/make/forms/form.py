"""What a form is: the leaves of a text that may change, and the lists that may be reordered."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

FormName = Literal["prose", "json", "table", "key-values", "dialogue", "embedded"]
"""`json` includes JSON lines and Python's literals; `embedded` is data inside prose, between code
fences or on lines of their own."""

FORMS: Mapping[FormName, str] = {
    "prose": "prose",
    "json": "JSON",
    "table": "the same table",
    "key-values": "the same keys with values",
    "dialogue": "a dialogue of the same speakers",
    "embedded": "prose with the same data",
}
"""Form → what a text of it is, in a few words."""

Span: TypeAlias = tuple[int, int]

Components: TypeAlias = Sequence[Span]
"""The components of one list, in order and apart from each other."""


class Leaf(NamedTuple):
    """A part of a text that may change.

    Attributes:
        start: Where it begins in the text.
        end: Where it ends.
        text: What it says, without escapes and quotation marks.
        write: Says it as the form has it.
        is_number: Whether it must stay a number.
    """

    start: int
    end: int
    text: str
    write: Callable[[str], str] = str
    is_number: bool = False


@dataclass(frozen=True, slots=True)
class Form:
    """A text as its form has it.

    Attributes:
        name: The form.
        text: The text.
        leaves: What may change, in order.
        lists: Returns the lists whose components may change places, those inside others first.
        frame: What must stay, if that is not all that is between the leaves.
        has_unknown: Whether it has data between fences whose form is not known.
    """

    name: FormName
    text: str
    leaves: Sequence[Leaf]
    lists: Callable[[], Iterable[Components]]
    frame: tuple[str, ...] | None = None
    has_unknown: bool = False

    def fixed(self) -> tuple[str, ...]:
        """Return what is between the leaves."""
        ends = [0, *(leaf.end for leaf in self.leaves)]
        starts = [*(leaf.start for leaf in self.leaves), len(self.text)]
        return tuple(self.text[end:start] for end, start in zip(ends, starts, strict=True))

    def skeleton(self) -> tuple[str, ...]:
        """Return what a change of the leaves must leave as it is."""
        return (self.name, *(self.fixed() if self.frame is None else self.frame))

    def written(self, texts: Iterable[str]) -> str:
        """Return the text with other leaves; unchanged ones keep their escapes."""
        pieces, after = list[str](), 0
        for leaf, new in zip(self.leaves, texts, strict=True):
            same = new == leaf.text
            old = self.text[leaf.start : leaf.end]
            pieces += [self.text[after : leaf.start], old if same else leaf.write(new)]
            after = leaf.end
        return "".join([*pieces, self.text[after:]])


_NUMBER = re.compile(r"(?:0|[1-9][0-9]*)(?:\.[0-9]+)?")
_LINE = re.compile(r"\S[^\n]*")


def leaf_of(text: str, span: Span, write: Callable[[str], str] = str) -> Leaf:
    """Return the leaf at a place of a text that has no escapes there."""
    written = text[slice(*span)]
    return Leaf(*span, written, write, bool(_NUMBER.fullmatch(written)))


def lines_of(text: str) -> list[Span]:
    """Return the spans of the lines that are not blank, without blanks around them."""
    found = (each.span() for each in _LINE.finditer(text))
    return [(start, start + len(text[start:end].rstrip())) for start, end in found]


def divided(text: str, divider: re.Pattern[str]) -> list[Span]:
    """Return the spans between separators that are not empty."""
    spans, start = list[Span](), 0
    for found in divider.finditer(text):
        if found.start() > start:
            spans.append((start, found.start()))
        start = found.end()
    return [*spans, (start, len(text))] if start < len(text) else spans
