"""Rows that are pairs: one text of a row is better than the other.

Both become annotations of one group, the better one labelled `better`, the other one by its error
categories, or `worse`. Two forms: the columns `high` and `low` hold the texts, or a column says
which of `first` and `second` is better, once or by several annotators (see `votes`).
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from nnd.converters import Annotation
from nnd.converters.source.table.cells import Row
from nnd.converters.source.table.context import (
    Candidate,
    Context,
    digest,
    read_candidate,
    read_context,
)
from nnd.converters.source.table.section import Table
from nnd.schemas import SourceError

BETTER = "better"
WORSE = "worse"


class PairRow(NamedTuple):
    """What a row says of two candidates, whichever is better.

    Attributes:
        where: Where it was read.
        context: Their context.
        sides: The two candidates, in the order of the section's columns.
        group: The key of the pair.
        categories: Error categories of the worse one.
    """

    where: str
    context: Context
    sides: tuple[Candidate, Candidate]
    group: str
    categories: list[str]


def read_pair(row: Row, table: Table, names: tuple[str, str]) -> PairRow:
    """Return what a row says of two candidates, found under `names` in the `pairs` section."""
    pairs = table["pairs"]
    context = read_context(row, table)
    own_id = row.text(pairs["id"]) if "id" in pairs else None
    one, other = (
        read_candidate(
            row,
            {"candidate": pairs[name]} if isinstance(pairs[name], str) else pairs[name],
            context.context_id,
            None if own_id is None else f"{own_id}/{name}",
        )
        for name in names
    )
    group = digest(sorted((one.candidate_id, other.candidate_id))) if own_id is None else own_id
    categories = row.texts(pairs["category"]) if "category" in pairs else []
    return PairRow(row.where, context, (one, other), group, categories)


def refuse_equal(pair: PairRow, names: tuple[str, str]) -> None:
    """Complain of a row whose two texts are the same, so that neither can be better."""
    one, other = pair.sides
    if one.candidate == other.candidate:
        raise SourceError(
            f"{pair.where}: {names[0]} and {names[1]} are the same text, so neither is better; "
            "correct the row, or leave it out with `where` in source.yaml"
        )


def pair_annotations(rows: Iterable[Row], table: Table, aspect: str) -> Iterator[Annotation]:
    """Yield the annotations of rows whose columns `high` and `low` hold the texts.

    Raises:
        SourceError: At a row whose texts are the same.
    """
    names = ("high", "low")
    for row in rows:
        pair = read_pair(row, table, names)
        refuse_equal(pair, names)
        yield from annotate_pair(pair, aspect)


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
        high: What else is known of the better one: score, ratings.
        low: The same of the other one.
    """
    better, worse = pair.sides
    common = {"aspect": aspect, "group": pair.group}
    yield pair.context.annotate(pair.where, better, label=BETTER, **common, **(high or {}))
    for category in pair.categories or [WORSE]:
        yield pair.context.annotate(pair.where, worse, label=category, **common, **(low or {}))
