"""What was judged: columns that belong to one aspect, put together by their names."""

import itertools
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from nnd.converters.new_source.guess import words
from nnd.converters.new_source.guess.columns import Column
from nnd.schemas import excerpt

MeasureKind: TypeAlias = Literal["label", "votes", "tags", "flags", "marks", "score", "ratings"]

KINDS_OF_ERROR = frozenset(["type", "label", "category", "tag", "error", "kind", "class", "name"])
"""What an object that marks an error calls the error's label."""

_RANGE = re.compile(r"\s*\(\d+\s*(-|\u2013|to)\s*\d+\)$")
_SINGLE_LETTER = re.compile("[a-z]")
_MOST_LISTED = 6
_LONGEST_LISTED = 20


@dataclass(frozen=True, slots=True)
class Measure:
    """What was judged, and where it stands.

    Attributes:
        aspect: Name of the aspect.
        kind: label: one column of a label. votes: labels of several annotators. tags: a list of
            labels per candidate. flags: fields that are true where they apply. marks: columns that
            are blank where they do not. score: one number. ratings: numbers of several annotators.
        columns: Its columns; one but for votes, flags, marks and ratings.
        why: What speaks for it.
    """

    aspect: str
    kind: MeasureKind
    columns: tuple[Column, ...]
    why: str

    @property
    def has_labels(self) -> bool:
        """Whether it says labels, rather than numbers."""
        return self.kind not in ("score", "ratings")


def grouped(
    columns: Sequence[Column],
    alone: MeasureKind,
    together: MeasureKind,
    why: Callable[[Column], str],
) -> list[Measure]:
    """Put the columns of several annotators together: their names differ by who they are."""
    groups: dict[tuple[str, ...], list[Column]] = {}
    for column in columns:
        groups.setdefault(_stem(column), []).append(column)
    return [
        Measure(
            aspect_of(group),
            together if len(group) > 1 else alone,
            tuple(group),
            why(group[0]) + (f", {len(group)} columns alike" if len(group) > 1 else ""),
        )
        for group in groups.values()
    ]


def _stem(column: Column) -> tuple[str, ...]:
    """Return what of a name does not say who: `fluency_2` and `rater2_fluency` are fluency."""
    *parents, last = column.path or ("",)
    parts = words.words_of(last)
    if column.words & words.ASPECT:
        return (*parents, last)  # Q1 and Q2 are two questions
    by_whom = any(part in words.ANNOTATOR for part in parts)
    kept = [
        part
        for part in parts
        if not part.isdigit()
        and part not in words.ANNOTATOR
        and not (by_whom and _SINGLE_LETTER.fullmatch(part))
    ]
    return (*parents, *kept)


def aspect_of(columns: Sequence[Column]) -> str:
    """Return a name for an aspect: that of the column, without who judged."""
    column = columns[0]
    if len(columns) > 1:
        return words.slug("_".join(_stem(column)[len(column.path) - 1 :]), "quality")
    if column.above < 0 and column.words & KINDS_OF_ERROR:
        return words.slug(column.name.split(".")[-len(column.path) - 1], "quality")
    return words.slug(_RANGE.sub("", column.path[-1]), "quality")


def listed(values: Iterable[str]) -> str:
    """Return some values as a reason lists them."""
    first = itertools.islice(values, _MOST_LISTED)
    return ", ".join(excerpt(value, _LONGEST_LISTED) for value in first)
