"""The choices of samples of lm-evaluation-harness with their log-likelihoods, and its documents."""

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from nnd.schemas import ScoringError, counted, excerpt

_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?|nan|[-+]?inf", re.IGNORECASE | re.ASCII)
_TWO = 2

ROUNDING = 0.01
"""Share by which two numbers of one test may differ: batches in bfloat16 do."""

_ABOVE = 1e-3
"""What rounding may add to a log-likelihood, which is at most 0, in nats."""

Texts = Sequence[tuple[str, str]]
"""The context and the text of each choice."""


def read_choices(arguments: object, answers: object, where: str) -> tuple[Texts, list[float]]:
    """Return the context and the text of two choices, and their summed log-probabilities in nats.

    Behind the choices, tasks with the metric acc_mutual_info have the same texts without a context,
    which are left out.
    """
    pairs = [*arguments.values()] if isinstance(arguments, Mapping) else arguments
    if not isinstance(pairs, list) or not isinstance(answers, list):
        raise _no_choices("arguments or resps is not a list", where)
    texts = [_text(pair, where) for pair in pairs]
    sums = [_sum(answer, where) for answer in answers]
    if len(texts) != len(sums):
        raise _no_choices(
            f"{counted(len(texts), 'choice')} with {counted(len(sums), 'log-likelihood')}", where
        )
    if len(texts) == 2 * _TWO and texts[_TWO:] == [("", text) for _, text in texts[:_TWO]]:
        texts, sums = texts[:_TWO], sums[:_TWO]
    if len(texts) != _TWO:
        raise ScoringError(
            "samples.not-samples", counted(len(texts), "choice"), where, "a test has two"
        )
    return texts, sums


def _text(pair: object, where: str) -> tuple[str, str]:
    found = [*pair.values()] if isinstance(pair, Mapping) else pair
    match found:
        case [str(context), str(text)]:
            return context, text
    raise _no_choices(f"arguments has {excerpt(repr(pair))}, not a context and a text", where)


def _sum(answer: object, where: str) -> float:
    """Return the log-likelihood of a choice: the first of [log-likelihood, is greedy] in a list."""
    match answer:
        case [[int() | float() | str() as value, *_], *_] if not isinstance(value, bool):
            pass
        case _:
            raise _no_choices(f"resps has {excerpt(repr(answer))}", where)
    if isinstance(value, str) and not _NUMBER.fullmatch(value):
        raise _no_choices(f'"{excerpt(value)}" is not a number', where)
    total = float(value)
    if not math.isfinite(total):
        raise ScoringError("cell.not-finite", f"a log-likelihood is {total}", where, "run it again")
    if total > _ABOVE:
        raise ScoringError(
            "cell.out-of-range",
            f"the log-likelihood {total:g} of a choice is above 0, so its probability is above 1",
            where,
            "log the natural logarithms of probabilities",
        )
    return total


def _no_choices(what: str, where: str) -> ScoringError:
    return ScoringError(
        "samples.not-samples", f"{what}: not a sample with log-likelihoods of choices", where
    )


class Document(NamedTuple):
    """What a line says of a document, whose choices stand in the order of the task."""

    texts: Texts
    sums: Sequence[float]
    where: str


def add_document(seen: dict[int, Document], number: object, document: Document) -> None:
    """Add a document by its number, doc_id; with several filters, it has as many equal lines.

    Raises:
        ScoringError: If the number is not one, or is that of another document, or of the same with
            log-likelihoods that differ by more than rounding.
    """
    if isinstance(number, bool) or not isinstance(number, int):
        raise ScoringError(
            "samples.not-samples", f"doc_id is {excerpt(repr(number))}", document.where
        )
    first = seen.setdefault(number, document)
    if first.texts != document.texts:
        raise ScoringError(
            "samples.mixed",
            f"doc_id {number} is another document than at {first.where}",
            document.where,
            "name the samples of one run",
        )
    for one, other in zip(first.sums, document.sums, strict=True):
        if abs(one - other) > ROUNDING * (1 + min(abs(one), abs(other))):
            raise ScoringError(
                "samples.mixed",
                f"doc_id {number} has the log-likelihoods {one:g} at {first.where} and {other:g}",
                document.where,
                "name the samples of one run",
            )


def check_complete(n: int, expected: int | None, file: Path) -> None:
    """Check that there are as many documents as the results beside the samples say."""
    if expected is not None and n != expected:
        raise ScoringError(
            "samples.incomplete",
            f"has {counted(n, 'document')}, but {counted(expected, 'document')} were scored",
            file,
            "name the whole file, with the results of the same run beside it",
        )
