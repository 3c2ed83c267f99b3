"""What a converter yields: one label (or score) of one candidate under one aspect."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

_NOTHING: Mapping[str, str] = MappingProxyType({})


class Span(NamedTuple):
    """An error that people marked in a candidate.

    Attributes:
        start: Where it begins, in characters of the candidate; None for an error without a place.
        end: The first character behind it; None as `start`.
        label: Its category, or None.
        severity: How severe it is, or None.
        derived: Whether its place was found by the converter, rather than stated by the source.
    """

    start: int | None
    end: int | None
    label: str | None = None
    severity: str | None = None
    derived: bool = False

    def fits(self, candidate: str, text: str | None = None) -> bool:
        """Whether it has no place, or is in the candidate, where it marks `text` if that is given.

        A span that does not fit is left out, and the converter reports how many there are.
        """
        if self.start is None or self.end is None:
            return self.start == self.end
        is_inside = 0 <= self.start < self.end <= len(candidate)
        return is_inside and text in (None, candidate[self.start : self.end])


class MarkedText(NamedTuple):
    """A text without the marks around an error, and the place that they mark, or None."""

    text: str
    place: tuple[int, int] | None


def read_mark(text: str, opening: str = "<v>", closing: str = "</v>") -> MarkedText:
    """Remove the marks around an error from a text; one that lacks its other half has no place."""
    start, end = text.find(opening), text.find(closing)
    plain = text.replace(opening, "").replace(closing, "")
    is_one = text.count(opening) == text.count(closing) == 1
    inner = end - len(opening)
    return MarkedText(plain, (start, inner) if is_one and start < inner else None)


class Annotation(NamedTuple):
    """One label (or score) of one candidate under one aspect; create it with named fields.

    Attributes:
        where: File and line that it was read from, for messages.
        context_id: Key of the context: the source's own where it has one.
        context: The context as text, the default rendering of `inputs`.
        inputs: The parts of the context by name.
        candidate_id: Key of the candidate.
        candidate: The generated text as the source has it.
        system: The system that wrote it; several that wrote the same text are joined by `|`. None
            if the source names no system.
        aspect: What was judged; one of the source's aspects.
        label: The label given, or None.
        score: The score given, or None.
        ratings: Ratings of the single annotators, or None.
        annotators: Who gave the ratings, one name for each; without ratings, who gave the label or
            the score. Stored data has `a1`, `a2` … in place of the names.
        category: Category of the context, or None.
        split: Split the row belongs to.
        language: BCP-47; None means the source's first language.
        group: Candidates of a context are compared only within a group, such as a rater, or a row
            that is itself a pair. None is a group, too.
        metadata: Further facts about the context (date, topic, section …), by name. Results can be
            sliced by them, and no template renders them.
        spans: The marked errors that gave this row its label or score, where the source has their
            places; None where it has none.
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
    spans: Sequence[Span] | None = None
