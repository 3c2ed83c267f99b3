"""The answers that a user gives beforehand, and the questions that remain."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from nnd.schemas import SourceError

NONE = "none"
"""The answer that the file has no column of that kind."""

_MOST_LISTED = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """The answers of the user, which replace guesses.

    Columns have the names that the guess shows.

    Attributes:
        context: A part of the context.
        candidate: The generated text; several columns where a row has several.
        system: The system that wrote it, or `none`.
        context_id: The key of the context, of one column or several.
        candidate_id: The key of the candidate.
        category: The category of the context.
        split: The split.
        group: Compare candidates only within one value of this, in addition to the context.
        annotator: The annotator, if a row is one judgement.
        each: JSON objects whose keys are data, e.g. names of systems; `.` means the file itself.
        label: A label or list of labels for one aspect.
        error: The error categories of a bad text, or `none`.
        mark: A column that marks an error of this name.
        score: A score (higher is better) for one aspect.
        rating: The rating of one annotator; several columns for annotators of the same aspect.
        aspect: The name of the aspect of each row.
        higher: A column in which higher is better, whatever its name suggests.
        lower: A column in which lower is better.
        better: The better one of two texts in a row, or a column with the verdict.
        verdict: The meaning of a verdict, CELL=COLUMN: a text, or `tie`.
        separator: The separator of several labels in a cell, or `none`.
        no_error: The label of a text without an error.
        order: Labels from best to worst.
        high: A score that counts as high, while all others count as low.
        minimum: Smallest difference between scores that counts.
        top: The rating that a majority must give a good candidate.
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
    """A question about something that cannot be guessed."""

    name: str  # the parameter that answers it; the option has the same name
    text: str
    choices: tuple[str, ...]
    why: str
    many: bool = False  # whether several of the choices may be the answer
    samples: tuple[str, ...] = ()  # values of the column of every choice
    usage: str | None = None  # the options that answer it, if not its own option with a choice

    @property
    def flag(self) -> str:
        """The option that answers it."""
        return f"--{self.name.replace('_', '-')}"


Ask: TypeAlias = Callable[[Question], Sequence[str]]
"""Asks a person a question, and returns one or more of its choices."""


def ask_for(question: Question, ask: Ask | None) -> Sequence[str]:
    """Return the answer, one of the choices; without a person to ask, raise an error."""
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
