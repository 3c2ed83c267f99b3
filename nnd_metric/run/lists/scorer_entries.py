"""The entries of a list of runs that name a scorer in the place of a model (`scorers.schema.json`).

`nnd metrics` computes them: a pass rate, and how well the scores agree with people's on single
candidates, those in no pair included.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from nnd.metric.run.lists.list_entries import Where, check_listed, errors_at, located
from nnd.schemas import Count, Name, Record


@dataclass(frozen=True, slots=True)
class PublishedCorrelation(Record):
    """A correlation over single candidates that others published for a scorer.

    Attributes:
        source: Where it was published.
        n: Candidates.
        spearman: Spearman's rho between the scores and the judgements of people.
    """

    source: Name
    n: Count
    spearman: float


@dataclass(frozen=True, slots=True)
class ScorerEntry:
    """A scorer, and the data whose candidates it scores.

    Attributes:
        where: FILE:LINE of the entry, for messages.
        scorer: The scorer, as `nnd metrics` takes it.
        data: A path, Hub id, or name of a built-in source.
        template: The template of the text that a model reads, or None.
        elements: What of a paper the entry repeats, as the paper calls it.
        published: What others published for the scorer on the data, or None.
    """

    where: str
    scorer: str
    data: str
    template: str | None = None
    elements: tuple[str, ...] = ()
    published: PublishedCorrelation | None = None

    def named(self) -> AbstractContextManager[None]:
        """Begin the message of an error with the line of the entry."""
        return errors_at(self.where)


class SplitList(NamedTuple):
    """The entries of a list: those with a model as they stand there, and those with a scorer."""

    runs: Any
    where: Where
    scorers: list[ScorerEntry]


def split_scorers(document: Any, folder: Path, where: Where) -> SplitList:  # noqa: ANN401 - YAML
    """Return the two kinds of entries of a list, those with a scorer checked.

    Raises ScoringError at the line of an entry that is wrong.
    """
    entries = document if isinstance(document, list) else []
    numbers = [n for n, each in enumerate(entries) if isinstance(each, dict) and "scorer" in each]
    others = [n for n in range(len(entries)) if n not in {*numbers}]
    if not numbers:
        return SplitList(document, where, [])

    def of(kept: Sequence[int]) -> Where:
        return lambda keys: where([kept[int(keys[0])], *keys[1:]] if keys else [])

    found = [entries[number] for number in numbers]
    check_listed("scorers", found, of(numbers))
    scorers = [
        _entry(values, folder, where([number]))
        for values, number in zip(found, numbers, strict=True)
    ]
    return SplitList([entries[number] for number in others], of(others), scorers)


def _entry(values: dict[str, Any], folder: Path, where: str) -> ScorerEntry:
    published, element = values.get("published"), values.get("element", ())
    kind, equals, model = values["scorer"].partition("=")
    return ScorerEntry(
        where,
        f"{kind}{equals}{located(model, folder)}" if model else kind,
        located(values["data"], folder),
        values.get("template"),
        (element,) if isinstance(element, str) else tuple(element),
        None if published is None else PublishedCorrelation.from_dict(published),
    )
