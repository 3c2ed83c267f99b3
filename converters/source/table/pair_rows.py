"""Rows that are pairs: one text of a row is better than the other.

Both become annotations of one group. The better one is labelled `better`, the other one with its
error categories or `worse`. Either the columns `high` and `low` hold the texts, or a column states
which of `first` and `second` is better, for one or several annotators (see `votes`).
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from nnd.converters import Annotation
from nnd.converters.source.table.row_cells import Row
from nnd.converters.source.table.row_contexts import (
    ContextReader,
    RowCandidate,
    RowContext,
    digest,
    read_candidate,
)
from nnd.converters.source.table.section import Table

BETTER = "better"
WORSE = "worse"


class PairRow(NamedTuple):
    """The two candidates of a row, without the verdict."""

    where: str
    context: RowContext  # their context
    sides: tuple[
        RowCandidate, RowCandidate
    ]  # the two candidates, in the order of the section's columns
    group: str  # the key of the pair
    categories: list[str]  # error categories of the worse candidate


class PairReader:
    """Reads the two candidates of each row."""

    def __init__(self, table: Table, names: tuple[str, str]) -> None:
        """Prepare what is the same for all rows.

        Args:
            table: The section; its `pairs` are read.
            names: The names of the two candidates in it.
        """
        pairs: Mapping[str, Any] = table["pairs"]
        self._contexts = ContextReader(table)
        self._has_ids = "context_id" in table.get("columns", {})
        self._names = names
        self._one, self._other = (
            {"candidate": pairs[name]} if isinstance(pairs[name], str) else pairs[name]
            for name in names
        )
        self._id: str | None = pairs.get("id")
        self._category: str | None = pairs.get("category")

    def read(self, row: Row) -> PairRow:
        """Return the two candidates of a row."""
        context = self._contexts.read(row)
        if not (self._has_ids or context.context.strip()):
            # A pair without a context is a cluster of its own.
            texts = sorted(row.text(each["candidate"]) for each in (self._one, self._other))
            context = context._replace(context_id=digest([context.context_id, *texts]))
        own_id = None if self._id is None else row.text(self._id)
        one, other = (
            read_candidate(
                row, side, context.context_id, None if own_id is None else f"{own_id}/{name}"
            )
            for side, name in zip((self._one, self._other), self._names, strict=True)
        )
        group = digest(sorted((one.candidate_id, other.candidate_id))) if own_id is None else own_id
        categories = [] if self._category is None else row.texts(self._category)
        return PairRow(row.where, context, (one, other), group, categories)


def pair_annotations(rows: Iterable[Row], table: Table, aspect: str) -> Iterator[Annotation]:
    """Yield the annotations of rows whose columns `high` and `low` hold the texts."""
    reader = PairReader(table, ("high", "low"))
    for row in rows:
        yield from annotate_pair(reader.read(row), aspect)


def annotate_pair(
    pair: PairRow,
    aspect: str,
    high: Mapping[str, Any] | None = None,
    low: Mapping[str, Any] | None = None,
) -> Iterator[Annotation]:
    """Yield the annotations of a pair whose first side is the better one.

    Args:
        pair: The pair.
        aspect: What was judged.
        high: Further fields of the better candidate: score, ratings.
        low: Those of the worse candidate.
    """
    better, worse = pair.sides
    if better.candidate_id == worse.candidate_id:  # the same text twice
        better, worse = (
            side._replace(candidate_id=f"{side.candidate_id}/{label}")
            for side, label in zip(pair.sides, (BETTER, WORSE), strict=True)
        )
    context, where, group = pair.context, pair.where, pair.group
    yield context.annotate(where, better, aspect=aspect, label=BETTER, group=group, **(high or {}))
    for label in pair.categories or [WORSE]:
        yield context.annotate(where, worse, aspect=aspect, label=label, group=group, **(low or {}))
