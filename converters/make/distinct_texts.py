"""The distinct texts of pairs: the parts of contexts, and candidates.

Operations change the parts of a context, from which the context is rendered again, so templates
with another order of parts read the same changed texts. A context that does not consist of its
parts is changed as a text of its own.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import polars as pl

from nnd.converters.make.text_operations.operation import Operation, Statement
from nnd.schemas import CONTEXT

Piece: TypeAlias = str | int
"""A piece of a context: a text that stays, or the position of a text that may change."""


class TextUnit(NamedTuple):
    """A context or a candidate, with positions of its texts.

    Attributes:
        name: Its id.
        context: Number of the context.
        pieces: The pieces that it is rendered from.
        parts: Name of a part of a context → position of its text.
    """

    split: str
    name: str
    context: int
    pieces: Sequence[Piece]
    parts: Mapping[str, int]

    @property
    def positions(self) -> list[int]:
        """Positions of all its texts."""
        inside = (piece for piece in self.pieces if isinstance(piece, int))
        return sorted({*inside, *self.parts.values()})


class Texts(NamedTuple):
    """The texts of some pairs: each text, and the distinct contexts and candidates.

    `rows` are the numbers of `context`, `high` and `low` of each pair among these.
    """

    texts: Sequence[str]
    contexts: Sequence[TextUnit]
    candidates: Sequence[TextUnit]
    rows: pl.DataFrame

    def calls(self, operation: Operation) -> Iterator[tuple[Statement, Sequence[int]]]:
        """Yield what each call of an operation changes, and the positions of these texts.

        Their order does not depend on rows.
        """
        contexts = self.contexts if operation.together or operation.on != "candidate" else ()
        candidates = () if operation.together or operation.on == "context" else self.candidates
        calls = [(unit, unit.positions) for unit in (*contexts, *candidates)]
        for candidate in self.candidates if operation.together else ():
            calls[candidate.context][1].extend(candidate.positions)
        for unit, positions in calls:
            texts = [self.texts[position] for position in positions]
            yield Statement(unit.split, unit.name, texts), positions


def texts_of(pairs: pl.DataFrame) -> Texts:
    """Return the texts of pairs."""
    contexts = pairs.select(*CONTEXT, "context", "inputs").unique(CONTEXT, keep="first")
    contexts = contexts.sort(CONTEXT)
    numbers = contexts.select(CONTEXT).with_row_index("context")
    sides = (
        pairs.select(*CONTEXT, candidate_id=f"{side}_id", candidate=f"candidate_{side}")
        for side in ("high", "low")
    )
    key = ("split", "candidate_id")
    candidates = pl.concat(sides).unique(key, keep="first").sort(key)
    candidates = candidates.join(numbers, on=CONTEXT, maintain_order="left")
    texts: list[str] = []
    of_contexts, of_candidates = list[TextUnit](), list[TextUnit]()
    for number, (split, name, text, parts) in enumerate(contexts.iter_rows()):
        first = len(texts)
        texts.extend(part["value"] for part in parts)
        positions = {part["key"]: first + at for at, part in enumerate(parts)}
        pieces = _pieces(text, texts, first)
        if pieces is None:
            pieces = [len(texts)]
            texts.append(text)
        of_contexts.append(TextUnit(split, name, number, pieces, positions))
    for split, name, text, context in candidates.select(*key, "candidate", "context").iter_rows():
        of_candidates.append(TextUnit(split, name, context, [len(texts)], {}))
        texts.append(text)
    rows = pairs.select(*CONTEXT, "high_id", "low_id")
    rows = rows.join(numbers, on=CONTEXT, maintain_order="left")
    for side in ("high", "low"):
        numbered = candidates.select("split", pl.col("candidate_id").alias(f"{side}_id"))
        numbered = numbered.with_row_index(side)
        rows = rows.join(numbered, on=["split", f"{side}_id"], maintain_order="left")
    return Texts(texts, of_contexts, of_candidates, rows.select("context", "high", "low"))


def _pieces(context: str, texts: Sequence[str], first: int) -> list[Piece] | None:
    """Return the pieces that a context is rendered from, or None if it lacks a part.

    Longer parts are located first, because an answer may also occur in the paragraph.
    """
    places: list[tuple[int, int, int]] = []
    for position in sorted(range(first, len(texts)), key=lambda at: -len(texts[at])):
        part = texts[position]
        if part:
            start = _free_place(context, part, places)
            if start is None:
                return None
            places.append((start, start + len(part), position))
    edges = [(0, 0, -1), *sorted(places), (len(context), len(context), -1)]
    pieces: list[Piece] = []
    for (_, end, _), (start, _, position) in pairwise(edges):
        pieces += [context[end:start], position]
    return pieces[:-1]


def _free_place(context: str, part: str, places: Sequence[tuple[int, int, int]]) -> int | None:
    """Return where a part begins in a context, outside the used places."""
    start = -1
    while (start := context.find(part, start + 1)) >= 0:
        end = start + len(part)
        if all(end <= taken or start >= until for taken, until, _ in places):
            return start
    return None
