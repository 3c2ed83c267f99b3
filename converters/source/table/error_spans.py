"""Errors marked in texts: spans with a category and a severity, as in MQM.

The categories of a candidate's spans become its labels. Its score is minus the sum of their
weights, averaged over annotators. If one key has several texts, each counts separately (see
`numbering`).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from nnd.converters import Annotation
from nnd.converters.source.source_files import Files
from nnd.converters.source.table.marked_errors import Key, Mark, read_marks
from nnd.converters.source.table.row_cells import Row
from nnd.converters.source.table.row_contexts import Candidate, Context
from nnd.converters.source.table.section import Table, title_of
from nnd.converters.source.table.text_numbering import Named, number_texts


@dataclass(slots=True)
class Given:
    """The first place of a label of a candidate, and its annotators."""

    where: str
    annotators: set[str] = field(default_factory=set)


@dataclass(slots=True)
class Judged:
    """A candidate and all marks in it.

    Attributes:
        context: Its context.
        candidate: The candidate.
        labels: Its labels.
        weight: Sum of the weights of all its spans.
        annotators: The annotators who judged it.
    """

    context: Context
    candidate: Candidate
    labels: dict[str | None, Given] = field(default_factory=dict)
    weight: float = 0.0
    annotators: set[str] = field(default_factory=set)


def span_annotations(
    rows: Iterable[Row], table: Table, aspect: str, files: Files
) -> Iterator[Annotation]:
    """Yield an annotation per candidate and label, with a score if spans have weights.

    Raises:
        SourceError: At a severity without a weight, or a weight below 0.
    """
    read: dict[Key, Context] = {}
    marks = list(read_marks(rows, table, read))
    contexts = _name_contexts(read)
    has_own_id = "candidate_id" in table["columns"]
    keys = [_candidate_key(mark, contexts[mark.context], has_own_id=has_own_id) for mark in marks]
    names = _number(keys)
    for what, found in (("contexts", _number(read)), ("candidates", names)):
        if several := sum(named.name.endswith("#2") for named in set(found.values())):
            files.report(
                title_of(table, files.source),
                f"{what} with several texts, each read as one of its own: {several}",
            )
    judged = _gather(marks, keys, names, contexts)
    has_weights = not {"weight", "weights"}.isdisjoint(table["spans"])
    for (_, _, group), one in judged.items():
        score = -one.weight / len(one.annotators) if has_weights else None
        for label, given in one.labels.items():
            yield one.context.annotate(
                given.where,
                one.candidate,
                aspect=aspect,
                label=label,
                score=score,
                annotators=sorted(given.annotators - {""}) or None,
                group=group,
            )


def _gather(
    marks: list[Mark], keys: list[Key], names: dict[Key, Named], contexts: dict[Key, Context]
) -> dict[tuple[str, str, str | None], Judged]:
    """Return the marks of each candidate, by split, id and group."""
    judged: dict[tuple[str, str, str | None], Judged] = {}
    for mark, key in zip(marks, keys, strict=True):
        name, text = names[key]
        place = (key[0], name, mark.group)
        if place not in judged:
            candidate = Candidate(name, text, mark.candidate.system)
            judged[place] = Judged(contexts[mark.context], candidate)
        one = judged[place]
        one.labels.setdefault(mark.label, Given(mark.where)).annotators.add(mark.annotator)
        one.weight += mark.weight
        one.annotators.add(mark.annotator)
    return judged


def _name_contexts(read: dict[Key, Context]) -> dict[Key, Context]:
    """Return the key of each context as it was read → its final id and text."""
    return {
        (split, key, text): read[split, key, named.text]._replace(context_id=named.name)
        for (split, key, text), named in _number(read).items()
    }


def _candidate_key(mark: Mark, context: Context, *, has_own_id: bool) -> Key:
    """Return split, id and text of a candidate; its id follows the final id of its context."""
    split, before, _ = mark.context
    name = mark.candidate.candidate_id
    if not has_own_id:
        name = f"{context.context_id}{name.removeprefix(before)}"
    return split, name, mark.candidate.candidate


def _number(keys: Iterable[Key]) -> dict[Key, Named]:
    """Return (split, key, text) → id and text; ids are unique within a split."""
    splits: dict[str, set[tuple[str, str]]] = {}
    for split, key, text in keys:
        splits.setdefault(split, set()).add((key, text))
    return {
        (split, *pair): named
        for split, pairs in splits.items()
        for pair, named in number_texts(pairs).items()
    }
