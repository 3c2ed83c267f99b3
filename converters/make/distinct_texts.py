"""The distinct texts of pairs: the parts of contexts, and candidates.

Operations change the parts of a context, from which the context is rendered again, so templates
with another order of parts read the same changed texts. A context that does not consist of its
parts is changed as a text of its own.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import polars as pl

from nnd.converters.make.text_operations.operation import Operation
from nnd.schemas import CONTEXT

Piece: TypeAlias = str | int
"""A piece of a context: a text that stays, or the position of a text that may change."""


class Context(NamedTuple):
    """A context, with positions of its texts.

    Attributes:
        split: Its split.
        name: Its id.
        pieces: The pieces that it is rendered from.
        parts: Name of a part → position of its text.
    """

    split: str
    name: str
    pieces: Sequence[Piece]
    parts: Mapping[str, int]

    @property
    def positions(self) -> list[int]:
        """Positions of all its texts."""
        inside = (piece for piece in self.pieces if isinstance(piece, int))
        return sorted({*inside, *self.parts.values()})


class Candidate(NamedTuple):
    """A candidate, with the position of its text."""

    split: str
    name: str
    context: int
    position: int


class Call(NamedTuple):
    """The texts that one call of an operation changes together.

    Attributes:
        split: Split of the context or candidate.
        name: Its id.
        positions: Positions of its texts.
    """

    split: str
    name: str
    positions: Sequence[int]


class Texts(NamedTuple):
    """The texts of some pairs.

    Attributes:
        texts: Each text.
        contexts: The distinct contexts.
        candidates: The distinct candidates.
        rows: The numbers of `context`, `high` and `low` of each pair among these.
    """

    texts: Sequence[str]
    contexts: Sequence[Context]
    candidates: Sequence[Candidate]
    rows: pl.DataFrame

    def calls(self, operation: Operation) -> Iterator[Call]:
        """Yield the calls of an operation, in an order that does not depend on rows."""
        if not operation.keeps_label:
            yield from self._whole_contexts()
            return
        if operation.on != "candidate":
            for context in self.contexts:
                yield Call(context.split, context.name, context.positions)
        if operation.on != "context":
            for candidate in self.candidates:
                yield Call(candidate.split, candidate.name, [candidate.position])

    def _whole_contexts(self) -> Iterator[Call]:
        """Yield each context with all its candidates."""
        positions = [context.positions for context in self.contexts]
        for candidate in self.candidates:
            positions[candidate.context].append(candidate.position)
        for context, together in zip(self.contexts, positions, strict=True):
            yield Call(context.split, context.name, together)


def texts_of(pairs: pl.DataFrame) -> Texts:
    """Return the texts of pairs.

    Args:
        pairs: Rows of the pair schema.
    """
    texts: list[str] = []
    contexts = [
        _context(split, name, text, parts, texts)
        for split, name, text, parts in _distinct_contexts(pairs)
        .select(*CONTEXT, "context", "inputs")
        .iter_rows()
    ]
    candidates = _distinct_candidates(pairs)
    of_context = candidates.join(
        _distinct_contexts(pairs).select(CONTEXT).with_row_index("context"),
        on=CONTEXT,
        maintain_order="left",
    )
    listed = []
    for split, name, text, context in of_context.select(
        "split", "candidate_id", "candidate", "context"
    ).iter_rows():
        listed.append(Candidate(split, name, context, len(texts)))
        texts.append(text)
    return Texts(texts, contexts, listed, _row_numbers(pairs, candidates))


def _distinct_contexts(pairs: pl.DataFrame) -> pl.DataFrame:
    return pairs.select(*CONTEXT, "context", "inputs").unique(CONTEXT, keep="first").sort(CONTEXT)


def _distinct_candidates(pairs: pl.DataFrame) -> pl.DataFrame:
    key = ("split", "candidate_id")
    sides = (
        pairs.select(*CONTEXT, candidate_id=f"{side}_id", candidate=f"candidate_{side}")
        for side in ("high", "low")
    )
    return pl.concat(sides).unique(key, keep="first").sort(key)


def _row_numbers(pairs: pl.DataFrame, candidates: pl.DataFrame) -> pl.DataFrame:
    contexts = _distinct_contexts(pairs).select(CONTEXT).with_row_index("context")
    rows = pairs.select(*CONTEXT, "high_id", "low_id")
    rows = rows.join(contexts, on=CONTEXT, maintain_order="left")
    for side in ("high", "low"):
        numbered = candidates.select("split", pl.col("candidate_id").alias(f"{side}_id"))
        numbered = numbered.with_row_index(side)
        rows = rows.join(numbered, on=["split", f"{side}_id"], maintain_order="left")
    return rows.select("context", "high", "low")


def _context(
    split: str, name: str, text: str, parts: Sequence[Mapping[str, Any]], texts: list[str]
) -> Context:
    """Add the texts of a context to `texts`, and return the context with their positions."""
    first = len(texts)
    texts.extend(part["value"] for part in parts)
    positions = {part["key"]: first + number for number, part in enumerate(parts)}
    pieces = _pieces(text, texts, first)
    if pieces is None:
        pieces = [len(texts)]
        texts.append(text)
    return Context(split, name, pieces, positions)


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
    start = context.find(part)
    while start >= 0:
        end = start + len(part)
        if all(end <= taken or start >= until for taken, until, _ in places):
            return start
        start = context.find(part, start + 1)
    return None
