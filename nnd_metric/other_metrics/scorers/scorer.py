"""Scorers other than models: functions that give a candidate a number, such as ROUGE.

A scorer gets all texts of a run at once, so that it can process each text once. Higher must mean
better; otherwise the tables show negative correlations. It returns None, never NaN, for a text
without a number; these texts are counted.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import NamedTuple

import polars as pl

from nnd.schemas import ScoringError, excerpt, find_words


class Text(NamedTuple):
    """A candidate and everything that a scorer may use.

    Attributes:
        candidate: The text to score.
        context: Its context, as stored.
        parts: The parts of the context by name, if the data has them.
        references: Texts that people wrote for the same context, if any.
        kinds: Category of the context and language of the candidate, as far as they are known.
        language: Language of the candidate (BCP-47), if it is known.
        context_language: That of the context, likewise.
    """

    candidate: str
    context: str
    parts: Mapping[str, str] | None = None
    references: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    language: str | None = None
    context_language: str | None = None


@dataclass(frozen=True, slots=True)
class TextScorer:
    """A scorer with its name: `TextScorer("mine", my_function)` takes part like any other.

    Attributes:
        name: Its name in tables.
        score: Function from texts to one number each, or None.
        definition: What it computes, and with which library, in one line; "" if unknown.
        needs_references: Whether it compares with references.
        is_likelihood: Whether it is the log-likelihood of a text; such texts are never normalised.
        cannot_read: Returns for each text why it sees nothing of it, or None; a text with a reason
            has no number.
        made_with: Returns facts that are known only after scoring, such as the version of a model.
    """

    name: str
    score: Callable[[Sequence[Text]], Sequence[float | None]]
    definition: str = ""
    needs_references: bool = False
    is_likelihood: bool = False
    cannot_read: Callable[[Sequence[Text]], list[str | None]] | None = None
    made_with: Callable[[], str] | None = None


def score_texts(scorer: TextScorer, texts: Sequence[Text]) -> pl.Series:
    """Score texts and check the answer: one finite number or None per text.

    Returns Float64 [texts], null if the scorer has no number, or cannot read the text.
    """
    if scorer.needs_references and texts and not any(text.references for text in texts):
        raise ScoringError(
            "scorer.references",
            f"{scorer.name} needs references, but the data has none",
            remedy="pass a table of them (--references), convert a source that has some, or name "
            "parts of the inputs reference, reference_1, …",
        )
    read = [reason is None for reason in unread(scorer, texts)]
    texts = list(compress(texts, read))
    numbers = list(scorer.score(texts)) if texts or all(read) else []
    if len(numbers) != len(texts):
        raise ScoringError(
            "scorer.values",
            f"{scorer.name} returned {len(numbers)} numbers for {len(texts)} texts",
            remedy="it must return one for every text",
        )
    for text, number in zip(texts, numbers, strict=True):
        if number is not None and not math.isfinite(number):
            raise ScoringError(
                "scorer.values",
                f'{scorer.name} gives {number} to "{excerpt(text.candidate)}"',
                remedy="it must give a finite number, or None where there is none",
            )
    rest = iter(numbers)
    return pl.Series([next(rest) if reads else None for reads in read], dtype=pl.Float64)


def unread(scorer: TextScorer, texts: Sequence[Text]) -> list[str | None]:
    """Return for each text why the scorer cannot read it, or None."""
    if scorer.cannot_read is None:
        return [None] * len(texts)
    return scorer.cannot_read(texts)


def length(texts: Sequence[Text]) -> list[float | None]:
    """Return the length of every candidate in characters (code points)."""
    return [float(len(text.candidate)) for text in texts]


def overlap(texts: Sequence[Text]) -> Sequence[float | None]:
    """Return the share of every candidate's words that occur in its context; 0 without words.

    Words are those of `find_words`, letter case aside; each occurrence counts.
    """
    contexts = {text.context for text in texts}
    words_of = {context: {*find_words(context.casefold())} for context in contexts}
    shares = []
    for text in texts:
        words, known = find_words(text.candidate.casefold()), words_of[text.context]
        shares.append(sum(word in known for word in words) / max(len(words), 1))
    return shares
