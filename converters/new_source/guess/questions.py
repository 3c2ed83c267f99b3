"""What the user says of a file beforehand, and what must be asked."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from nnd.schemas import SourceError

NONE = "none"
"""The answer that there is no such column."""

_MOST_LISTED = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """What the user says; nothing of it is guessed. Columns are named as the guess shows them.

    Attributes:
        context: Columns of the context, its parts in order.
        candidate: Columns of generated texts: one, or all of a row that has several.
        system: Column of the system that wrote it, or `none`.
        context_id: Columns of the context's key, which are joined.
        candidate_id: Column of the candidate's key.
        category: Column of the context's category.
        split: Column of the split.
        group: Column of what candidates are compared within, beside the context.
        annotator: Column of who judged, where a row is one annotator's judgement.
        each: Paths of JSON objects whose keys are data, such as names of systems; `.` is the file.
        label: Columns of labels, an aspect each.
        error: Column of the kinds of error of a candidate that is not good.
        mark: Columns in which errors are marked, a column per error.
        score: Columns of scores, an aspect each; higher is better.
        rating: Columns of ratings, one per annotator, of one aspect.
        aspect: Column that names the aspect of each row.
        higher: Columns of which more is better, whatever their names suggest.
        lower: Columns of which less is better.
        better: Of two texts in a row the column of the better one, or of the verdict.
        verdict: What the cells of the verdict mean: CELL=COLUMN, or CELL=tie.
        separator: What separates several labels in a cell, or `none`.
        no_error: The label that says that nothing is wrong.
        order: Labels, the best first.
        high: Scores that are high; the others are low.
        minimum: Smallest difference between scores that counts.
        top: The rating that counts as good.
    """

    context: tuple[str, ...] = ()
    candidate: tuple[str, ...] = ()
    system: str | None = None
    context_id: tuple[str, ...] = ()
    candidate_id: str | None = None
    category: str | None = None
    split: str | None = None
    group: str | None = None
    annotator: str | None = None
    each: tuple[str, ...] = ()
    label: tuple[str, ...] = ()
    error: str | None = None
    mark: tuple[str, ...] = ()
    score: tuple[str, ...] = ()
    rating: tuple[str, ...] = ()
    aspect: str | None = None
    higher: tuple[str, ...] = ()
    lower: tuple[str, ...] = ()
    better: str | None = None
    verdict: tuple[str, ...] = ()
    separator: str | None = None
    no_error: str | None = None
    order: tuple[str, ...] = ()
    high: tuple[float, ...] = ()
    minimum: float | None = None
    top: float | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """Something that cannot be guessed.

    Attributes:
        name: The parameter that answers it; the option has the same name.
        text: The question.
        choices: What the answer is one of.
        why: Why it is asked.
        many: Whether several of the choices may be the answer.
        samples: For every choice what its column holds; empty where choices are not columns.
        usage: How options answer it, where its own name followed by a choice does not.
    """

    name: str
    text: str
    choices: tuple[str, ...]
    why: str
    many: bool = False
    samples: tuple[str, ...] = ()
    usage: str | None = None

    @property
    def flag(self) -> str:
        """The option that answers it."""
        return f"--{self.name.replace('_', '-')}"


Ask: TypeAlias = Callable[[Question], Sequence[str]]
"""Puts a question to a person, and returns some of its choices."""


def ask_for(question: Question, ask: Ask | None) -> Sequence[str]:
    """Return the answer to a question.

    Raises:
        SourceError: Without a person to ask or a choice, or if the answer is not one of them.
    """
    if not question.choices:
        raise SourceError(
            f"{question.text} No column can be it ({question.why}); check that this is the right "
            "file: texts and judgements must be in one, a row or an object per candidate; or write "
            "convert.py as CONTRIBUTING.md shows"
        )
    listed = ", ".join(question.choices[:_MOST_LISTED])
    if ask is None:
        usage = question.usage or f"{question.flag}, one of: {listed}"
        raise SourceError(f"{question.text} Say so with {usage} ({question.why})")
    answer = tuple(ask(question))
    too_many = len(answer) > 1 and not question.many
    if not answer or too_many or not set(answer) <= set(question.choices):
        raise SourceError(f"{question.flag}: must be one of: {listed}")
    return answer
