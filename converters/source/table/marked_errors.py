"""The marked errors of a table, whose rows are spans or candidates with lists of spans."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from nnd.converters.reading import quoted, shown
from nnd.converters.source.table.row_cells import Row
from nnd.converters.source.table.row_contexts import (
    Candidate,
    Context,
    ContextReader,
    read_candidate,
)
from nnd.converters.source.table.section import Table
from nnd.schemas import SourceError

Key = tuple[str, str, str]
"""Split, key and text of a context or of a candidate."""

_ANY = "*"


class Mark(NamedTuple):
    """A marked error of a candidate, or the statement that it has none.

    Attributes:
        where: Its file and line.
        context: Split, key and text of its context.
        candidate: The candidate of its row.
        group: The group within which it is compared, or None.
        annotator: The annotator; empty if the table names none.
        label: Its category, or the no-error label; None if categories are not read.
        weight: How severe it is.
    """

    where: str
    context: Key
    candidate: Candidate
    group: str | None
    annotator: str
    label: str | None
    weight: float


def read_marks(rows: Iterable[Row], table: Table, contexts: dict[Key, Context]) -> Iterator[Mark]:
    """Yield the marks of each row; equal texts share one object, which saves memory.

    Args:
        rows: The rows.
        table: The section; its `spans` are read.
        contexts: Filled with each context, by its split, key and text.

    Raises:
        SourceError: At an invalid span, a severity without a weight, or a weight below 0.
    """
    spans, columns = table["spans"], table["columns"]
    texts = [*table["inputs"].values(), columns["candidate"]]
    candidates: dict[Candidate, Candidate] = {}
    reader = ContextReader(table)
    for row in rows:
        plain = _without_tags(row, texts, spans.get("tags", []))
        context = reader.read(plain)
        key = (context.split, context.context_id, context.context)
        contexts.setdefault(key, context)
        candidate = read_candidate(plain, columns, context.context_id)
        candidate = candidates.setdefault(candidate, candidate)
        group = row.optional(columns, "group")
        annotator = row.filled(spans["annotator"]) if "annotator" in spans else ""
        for label, weight in _read_spans(row, spans):
            yield Mark(row.where, key, candidate, group, annotator, label, weight)


def _without_tags(row: Row, columns: list[str], tags: list[str]) -> Row:
    """Return a row without the tags around spans in its texts."""
    if not tags:
        return row
    cells = {column: row.text(column) for column in columns}
    for tag in tags:
        cells = {column: text.replace(tag, "") for column, text in cells.items()}
    return row._replace(fields={**row.fields, **cells})


def _read_spans(row: Row, spans: Mapping[str, Any]) -> Iterator[tuple[str | None, float]]:
    """Yield label and weight of each span of a row; the no-error label if it has no span."""
    found = [pair for span in _spans_of(row, spans) for pair in _read_span(span, spans)]
    yield from found or [(spans.get("no_error"), 0.0)]


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
                f"{where}: {shown(item)} is not a span, an object with {quoted(needed)}; correct "
                "the row, or `list` in source.yaml"
            )
        if missing := [name for name in needed if name not in item]:
            raise SourceError(
                f"{where}: a span without {quoted(missing)}, only {quoted(item) or 'nothing'}; "
                "correct the row, or `spans` in source.yaml"
            )
        yield Row(where, item, row.report)


def _read_span(row: Row, spans: Mapping[str, Any]) -> Iterator[tuple[str | None, float]]:
    """Yield the categories of a span with its weight; nothing if it says "no error"."""
    if "category" in spans:
        for label in row.texts(spans["category"]):
            yield label, 0.0 if label == spans.get("no_error") else _read_weight(row, spans, label)
    else:
        yield None, _read_weight(row, spans, _ANY)


def _read_weight(row: Row, spans: Mapping[str, Any], label: str) -> float:
    if "weight" in spans:
        weight = row.number(spans["weight"]) or 0.0
        if weight < 0:
            raise SourceError(
                f"{row.place(spans['weight'])}: a weight of {weight:g} is below 0; correct the "
                "cell: a weight says how bad an error is"
            )
        return weight
    if "weights" not in spans:
        return 0.0
    severity = row.filled(spans["severity"])
    if severity not in spans["weights"]:
        raise SourceError(
            f"{row.place(spans['severity'])}: severity {shown(severity)} has no weight, only "
            f"{', '.join(spans['weights'])}; correct the cell, or add it to `weights` in "
            "source.yaml"
        )
    weight = spans["weights"][severity]
    return float(weight.get(label, weight[_ANY]) if isinstance(weight, Mapping) else weight)
