"""Errors marked in texts: spans with a category and a severity, as in MQM.

The categories of a candidate's spans become its labels; the places of the spans are kept if the
table names their columns. Its score is minus the sum of their
weights, averaged over annotators. If one key has several texts, each counts separately
(`number_texts`).
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from nnd.converters import Annotation, Span
from nnd.converters.source.source_files import Files
from nnd.converters.source.table.row_cells import Row, RowReader, add_candidate
from nnd.converters.source.table.section import Table, title_of
from nnd.schemas import SourceError, quoted, shown


class NamedText(NamedTuple):
    """A text and its id."""

    name: str
    text: str


def number_texts(found: Iterable[tuple[str, str]]) -> dict[tuple[str, str], NamedText]:
    """Return the id and the text of every (key, text): a second text of one key is `key#2`.

    Texts that differ only in white space count as one, the shortest of them. The order in which
    texts are found does not matter.
    """
    named: dict[tuple[str, str], NamedText] = {}
    known: dict[str, dict[str, str]] = {}
    for key, text in sorted(set(found), key=lambda pair: (pair[0], len(pair[1]), pair[1])):
        texts = known.setdefault(key, {})
        folded = " ".join(text.split())
        first = texts.setdefault(folded, text)
        number = list(texts).index(folded) + 1
        named[key, text] = NamedText(key if number == 1 else f"{key}#{number}", first)
    return named


Key = tuple[str, str, str]
"""Split, key and text of a context or of a candidate."""

_ANY = "*"


class ErrorMark(NamedTuple):
    """A marked error of a candidate, or the statement that it has none."""

    row: Annotation  # the candidate and its context, as the row has them
    annotator: str  # the annotator; empty if the table names none
    label: str | None  # its category, or the no-error label; None if categories are not read
    weight: float  # how severe it is
    span: Span | None  # where it is; None if places are not read


def read_marks(
    rows: Iterable[Row], table: Table, contexts: dict[Key, Annotation]
) -> Iterator[ErrorMark]:
    """Yield the marks of each row, and fill `contexts` with each context by its key.

    Equal texts share one object, which saves memory.
    """
    spans, columns = table["spans"], table["columns"]
    texts = [*table.get("inputs", {}).values(), columns["candidate"]]
    known: dict[str, str] = {}
    reader = RowReader(table)
    for row in rows:
        plain = _without_tags(row, texts, spans.get("tags", []))
        context = reader.context(plain)
        context = contexts.setdefault(_context_key(context), context)._replace(where=row.where)
        candidate = add_candidate(context, plain, columns)
        text = known.setdefault(candidate.candidate, candidate.candidate)
        candidate = candidate._replace(candidate=text, group=row.optional(columns, "group"))
        annotator = row.filled(spans["annotator"]) if "annotator" in spans else ""
        found = [
            (*labelled, _read_place(span, spans, labelled[0]))
            for span in _spans_of(row, spans)
            for labelled in _read_span(span, spans)
        ]
        for label, weight, span in found or [(spans.get("no_error"), 0.0, None)]:
            yield ErrorMark(candidate, annotator, label, weight, span)


def _context_key(row: Annotation) -> Key:
    return row.split, row.context_id, row.context


def _without_tags(row: Row, columns: list[str], tags: list[str]) -> Row:
    if not tags:
        return row
    cells = {column: row.text(column) for column in columns}
    for tag in tags:
        cells = {column: text.replace(tag, "") for column, text in cells.items()}
    return row._replace(fields={**row.fields, **cells})


def _spans_of(row: Row, spans: Mapping[str, Any]) -> Iterator[Row]:
    """Yield the spans of a row: the row itself, or the objects of a list."""
    if "list" not in spans:
        yield row
        return
    needed = [spans[name] for name in ("category", "severity", "weight") if name in spans]
    place, items = row.place(spans["list"]), row.fields[spans["list"]]
    for number, item in enumerate(items if isinstance(items, list) else [items]):
        where = f"{place}[{number}]"
        if not isinstance(item, dict):
            raise SourceError(
                "row.wrong-shape",
                f"{shown(item)} is not a span, an object with {quoted(needed)}",
                where,
                "correct the row, or `list` in source.yaml",
            )
        if missing := [name for name in needed if name not in item]:
            raise SourceError(
                "row.wrong-shape",
                f"a span without {quoted(missing)}, only {quoted(item) or 'nothing'}",
                where,
                "correct the row, or `spans` in source.yaml",
            )
        yield Row(where, item, row.report)


def _read_span(row: Row, spans: Mapping[str, Any]) -> Iterator[tuple[str | None, float]]:
    """Yield the categories of a span with its weight; nothing if it says "no error"."""
    if "category" in spans:
        for label in row.texts(spans["category"]):
            yield label, 0.0 if label == spans.get("no_error") else _read_weight(row, spans, label)
    else:
        yield None, _read_weight(row, spans, _ANY)


def _read_place(row: Row, spans: Mapping[str, Any], label: str | None) -> Span | None:
    if "start" not in spans or (label is not None and label == spans.get("no_error")):
        return None
    start, end = (row.number(spans[name]) for name in ("start", "end"))
    severity = row.filled(spans["severity"]) if "severity" in spans else None
    if start is None or end is None:
        return Span(None, None, label, severity)
    return Span(int(start), int(end), label, severity)


def _read_weight(row: Row, spans: Mapping[str, Any], label: str) -> float:
    if "weight" in spans:
        weight = row.number(spans["weight"]) or 0.0
        if weight < 0:
            raise SourceError(
                "cell.out-of-range",
                f"a weight of {weight:g} is below 0",
                row.place(spans["weight"]),
            )
        return weight
    if "weights" not in spans:
        return 0.0
    severity = row.filled(spans["severity"])
    if severity not in spans["weights"]:
        raise SourceError(
            "cell.unknown-value",
            f"severity {shown(severity)} has no weight, only {', '.join(spans['weights'])}",
            row.place(spans["severity"]),
            "correct the cell, or add it to `weights` in source.yaml",
        )
    weight = spans["weights"][severity]
    return float(weight.get(label, weight[_ANY]) if isinstance(weight, Mapping) else weight)


@dataclass(slots=True)
class JudgedCandidate:
    """A candidate and all marks in it."""

    row: Annotation  # the candidate and its context, with their final ids
    # Label → its first place, its annotators, and its spans.
    labels: dict[str | None, tuple[str, set[str], list[Span]]] = field(default_factory=dict)
    weight: float = 0.0  # sum of the weights of all its spans
    annotators: set[str] = field(default_factory=set)  # the annotators who judged it


def span_annotations(
    rows: Iterable[Row], table: Table, aspect: str, files: Files
) -> Iterator[Annotation]:
    """Yield an annotation per candidate and label, with a score if spans have weights."""
    read: dict[Key, Annotation] = {}
    marks = list(read_marks(rows, table, read))
    named = _number(read)
    contexts = {
        key: read[key[0], key[1], found.text]._replace(context_id=found.name)
        for key, found in named.items()
    }
    has_own_id = "candidate_id" in table["columns"]
    found_in = [_in_context(mark.row, contexts, has_own_id=has_own_id) for mark in marks]
    names = _number((row.split, row.candidate_id, row.candidate) for row in found_in)
    for what, found in (("contexts", named), ("candidates", names)):
        if several := sum(one.name.endswith("#2") for one in set(found.values())):
            files.report(
                title_of(table, files.source),
                f"{what} with several texts, each read as one of its own: {several}",
            )
    judged: dict[tuple[str, str, str | None], JudgedCandidate] = {}
    misplaced = 0
    for mark, row in zip(marks, found_in, strict=True):
        name, text = names[row.split, row.candidate_id, row.candidate]
        final = row._replace(candidate_id=name, candidate=text)
        one = judged.setdefault((row.split, name, row.group), JudgedCandidate(final))
        _, annotators, spans = one.labels.setdefault(mark.label, (row.where, set(), []))
        annotators.add(mark.annotator)
        if mark.span is not None and mark.span.fits(text):
            spans.append(mark.span)
        misplaced += mark.span is not None and not mark.span.fits(text)
        one.weight += mark.weight
        one.annotators.add(mark.annotator)
    if misplaced:
        files.report(
            title_of(table, files.source), f"spans left out, which do not fit the text: {misplaced}"
        )
    has_weights = not {"weight", "weights"}.isdisjoint(table["spans"])
    for one in judged.values():
        score = -one.weight / len(one.annotators) if has_weights else None
        for label, (where, annotators, spans) in one.labels.items():
            yield one.row._replace(
                where=where,
                aspect=aspect,
                label=label,
                score=score,
                annotators=sorted(annotators - {""}) or None,
                spans=spans if "start" in table["spans"] else None,
            )


def _in_context(
    row: Annotation, contexts: Mapping[Key, Annotation], *, has_own_id: bool
) -> Annotation:
    """Return a candidate in its final context, whose id is part of its own if it has no other."""
    context, name = contexts[_context_key(row)], row.candidate_id
    if not has_own_id:
        name = f"{context.context_id}{name.removeprefix(row.context_id)}"
    found = context._replace(where=row.where, candidate_id=name, candidate=row.candidate)
    return found._replace(system=row.system, group=row.group)


def _number(keys: Iterable[Key]) -> dict[Key, NamedText]:
    """Return (split, key, text) → id and text; ids are unique within a split."""
    splits: dict[str, set[tuple[str, str]]] = {}
    for split, key, text in keys:
        splits.setdefault(split, set()).add((key, text))
    return {
        (split, *pair): named
        for split, pairs in splits.items()
        for pair, named in number_texts(pairs).items()
    }
