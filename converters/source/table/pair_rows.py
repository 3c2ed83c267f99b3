"""Rows that are pairs: one text of a row is better than the other.

Both become annotations of one group. The better one is labelled `better`, the other one with its
error categories or `worse`. Either the columns `high` and `low` hold the texts, or a column states
which of `first` and `second` is better, for one or several annotators (see `votes`).
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from nnd.converters import Annotation
from nnd.converters.source.table.row_cells import Row
from nnd.converters.source.table.row_contexts import RowReader, add_candidate, digest
from nnd.converters.source.table.section import Table

BETTER = "better"
WORSE = "worse"


class PairRow(NamedTuple):
    """The two candidates of a row, in one group, without the verdict."""

    sides: tuple[Annotation, Annotation]  # in the order of the section's columns
    categories: list[str]  # error categories of the worse candidate


class PairReader:
    """Reads the two candidates of each row."""

    def __init__(self, table: Table, names: tuple[str, str]) -> None:
        """Prepare what is the same for all rows; `names` are those of the candidates in `pairs`."""
        pairs: Mapping[str, Any] = table["pairs"]
        self._reader = RowReader(table)
        self._has_ids = "context_id" in table.get("columns", {})
        self._columns: dict[str, Mapping[str, str]] = {
            name: {"candidate": pairs[name]} if isinstance(pairs[name], str) else pairs[name]
            for name in names
        }
        self._id: str | None = pairs.get("id")
        self._category: str | None = pairs.get("category")

    def read(self, row: Row) -> PairRow:
        """Return the two candidates of a row."""
        context = self._reader.context(row)
        if not (self._has_ids or context.context.strip()):
            # A pair without a context is a cluster of its own.
            texts = sorted(row.text(each["candidate"]) for each in self._columns.values())
            context = context._replace(context_id=digest([context.context_id, *texts]))
        own_id = None if self._id is None else row.text(self._id)
        one, other = (
            add_candidate(context, row, columns, None if own_id is None else f"{own_id}/{name}")
            for name, columns in self._columns.items()
        )
        group = digest(sorted((one.candidate_id, other.candidate_id))) if own_id is None else own_id
        categories = [] if self._category is None else row.texts(self._category)
        return PairRow((one._replace(group=group), other._replace(group=group)), categories)


def pair_annotations(rows: Iterable[Row], table: Table, aspect: str) -> Iterator[Annotation]:
    """Yield the annotations of rows whose columns `high` and `low` hold the texts."""
    reader = PairReader(table, ("high", "low"))
    for row in rows:
        pair = reader.read(row)
        yield from annotate_pair(*pair.sides, pair.categories, aspect)


def annotate_pair(
    better: Annotation, worse: Annotation, categories: list[str], aspect: str
) -> Iterator[Annotation]:
    """Yield the annotations of a pair under an aspect; the worse one may have error categories."""
    if better.candidate_id == worse.candidate_id:  # the same text twice
        better, worse = (
            side._replace(candidate_id=f"{side.candidate_id}/{label}")
            for side, label in ((better, BETTER), (worse, WORSE))
        )
    yield better._replace(aspect=aspect, label=BETTER)
    for label in categories or [WORSE]:
        yield worse._replace(aspect=aspect, label=label)
