"""What a converter yields: one label (or score) of one candidate under one aspect."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

_NOTHING: Mapping[str, str] = MappingProxyType({})


class Annotation(NamedTuple):
    """One label (or score) of one candidate under one aspect; name the fields when you make one.

    Attributes:
        where: Where it was read (file:line), for messages about it.
        context_id: Key of the context: the source's own where it has one.
        context: The context as text, the default rendering of `inputs`.
        inputs: The parts of the context by name.
        candidate_id: Key of the candidate.
        candidate: The generated text as the source has it.
        system: Who wrote it; several names for one text are joined by `|`. None where the source
            names no system.
        aspect: What was judged; one of the source's aspects.
        label: The label given, or None.
        score: The score given, or None.
        ratings: Ratings of the single annotators, or None.
        annotators: Who gave the ratings, one name for each; without ratings, who gave the label or
            the score. Names are only told apart: `a1`, `a2` … take their place in what is stored.
        category: Category of the context, or None.
        split: Split the row belongs to.
        language: BCP-47; None means the source's first language.
        group: Candidates of a context are compared only within a group: a row that is itself a
            pair, a rater, a seed text. None is a group, too.
        metadata: What else is known of the context (date, topic, section …), by name; results can
            be sliced by it, and no template renders it.
    """

    where: str
    context_id: str
    context: str
    inputs: Mapping[str, str]
    candidate_id: str
    candidate: str
    aspect: str
    system: str | None = None
    label: str | None = None
    score: float | None = None
    ratings: Sequence[float] | None = None
    annotators: Sequence[str] | None = None
    category: str | None = None
    split: str = "test"
    language: str | None = None
    group: str | None = None
    metadata: Mapping[str, str] = _NOTHING
