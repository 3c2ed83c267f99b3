"""Rows that are one annotator's judgement of a candidate; the rows of a candidate are merged.

The scores of its annotators become the candidate's ratings; a label that several gave is one label.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from nnd.converters import Annotation
from nnd.converters.reading import shown
from nnd.schemas import SourceError

Key: TypeAlias = tuple[str | None, ...]

_SAME = ("context_id", "context", "candidate", "system", "category", "language", "metadata")
"""Fields that the rows of a candidate must share, since one merged row cannot hold two values."""


@dataclass(slots=True)
class Judged:
    """The annotation of the first annotator, and the scores of all.

    Attributes:
        first: The annotation of the first annotator.
        given: Annotator → score, or None.
    """

    first: Annotation
    given: dict[str, float | None] = field(default_factory=dict)


def gather_raters(annotations: Iterable[Annotation]) -> Iterator[Annotation]:
    """Yield an annotation per candidate, group, aspect and label, with all ratings.

    Args:
        annotations: Annotations of single annotators, each with its annotator.

    Raises:
        SourceError: If an annotator judges a candidate twice, or the rows of a candidate differ in
            text or context.
    """
    judged: dict[Key, Judged] = {}
    for one in annotations:
        key: Key = (one.split, one.candidate_id, one.group, one.aspect, one.label)
        known = judged.setdefault(key, Judged(one))
        _check_same(one, known.first)
        (annotator,) = one.annotators or ()
        if annotator in known.given:
            raise SourceError(
                f"{one.where}: {shown(annotator)} judges {shown(one.candidate_id)} under "
                f'"{one.aspect}" for the second time (first: {known.first.where}); keep one of the '
                "rows"
            )
        known.given[annotator] = one.score
    for known in judged.values():
        names = sorted(known.given)  # in an order that does not depend on the rows
        scored = {name: score for name in names if (score := known.given[name]) is not None}
        yield known.first._replace(
            score=None,
            ratings=list(scored.values()) or None,
            annotators=list(scored) or names,
        )


def _check_same(one: Annotation, first: Annotation) -> None:
    for name in _SAME:
        if getattr(one, name) != getattr(first, name):
            raise SourceError(
                f"{one.where}: {shown(one.candidate_id)} names two different things: its "
                f"{name} differs from {first.where}'s; give each its own id"
            )
