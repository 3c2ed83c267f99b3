"""What a guess is told beforehand, and what it must ask for."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from nnd.schemas import SourceError

_MOST_LISTED = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """What the user says; nothing of it is guessed then. Columns are named as the guess shows them.

    Attributes:
        context: Columns of the context, its parts in order.
        candidate: Column of the generated text.
        system: Column of the system that wrote it.
        context_id: Column of the context's key.
        candidate_id: Column of the candidate's key.
        category: Column of the context's category.
        split: Column of the split.
        label: Columns of labels; those that differ by who judged are one aspect.
        score: Columns of scores, an aspect each.
        rating: Columns of ratings; those that differ by who judged are one aspect.
        no_error: The label that says that nothing is wrong.
        order: Labels, the best first.
        high: Scores that are high; the others are low.
        minimum: Smallest difference between scores that counts.
        top: The rating that counts as good.
    """

    context: tuple[str, ...] = ()
    candidate: str | None = None
    system: str | None = None
    context_id: str | None = None
    candidate_id: str | None = None
    category: str | None = None
    split: str | None = None
    label: tuple[str, ...] = ()
    score: tuple[str, ...] = ()
    rating: tuple[str, ...] = ()
    no_error: str | None = None
    order: tuple[str, ...] = ()
    high: tuple[float, ...] = ()
    minimum: float | None = None
    top: float | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """Something that cannot be guessed.

    Attributes:
        name: The parameter that answers it; the flag is called like it.
        text: The question.
        choices: What the answer is one of.
        why: Why it is asked.
        many: Whether several of the choices may be the answer.
        samples: For every choice what its column holds; empty where choices are no columns.
    """

    name: str
    text: str
    choices: tuple[str, ...]
    why: str
    many: bool = False
    samples: tuple[str, ...] = ()

    @property
    def flag(self) -> str:
        """The flag that answers it."""
        return f"--{self.name.replace('_', '-')}"


Ask: TypeAlias = Callable[[Question], Sequence[str]]
"""Puts a question to a person, and returns some of its choices."""


def ask_for(question: Question, ask: Ask | None) -> Sequence[str]:
    """Return the answer to a question.

    Raises:
        SourceError: If nobody can be asked, there is no choice, or the answer is none of them.
    """
    if not question.choices:
        raise SourceError(
            f"{question.text} There is none that could be ({question.why}); check that this is the "
            "right file: texts and judgements must be in one, a row or an object per candidate; or "
            "write convert.py as CONTRIBUTING.md shows"
        )
    listed = ", ".join(question.choices[:_MOST_LISTED])
    if ask is None:
        raise SourceError(
            f"{question.text} It cannot be guessed: say so with {question.flag}, one of: {listed} "
            f"({question.why})"
        )
    answer = tuple(ask(question))
    too_many = len(answer) > 1 and not question.many
    if not answer or too_many or not set(answer) <= set(question.choices):
        raise SourceError(f"{question.flag}: must be one of: {listed}")
    return answer
