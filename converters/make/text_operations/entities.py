"""Replacing a named entity of a text by another of its type from the context.

Spans come from a JSONL file of the user, one object per entity: `context_id`, `start`, `end` (in
characters, end exclusive), `type`, `candidate_id` if it is in a candidate or a reference and not in
the context, and `split` if it is not "test".
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from random import Random
from typing import NamedTuple, TypeAlias

from nnd.converters.make.text_operations.articles import with_article
from nnd.converters.make.text_operations.operation import Falsify, RefusalError, Statement
from nnd.schemas import FileRecord, NNDError, check_known, read_jsonl

_FIELDS = ("split", "context_id", "candidate_id", "start", "end", "type")

_Place: TypeAlias = tuple[str, str, str | None]
"""Split, context_id, and candidate_id or None for the context."""


class _Span(NamedTuple):
    """An entity in a text, with the place that it was read from."""

    where: str
    start: int
    end: int
    type: str

    def of(self, text: str) -> str:
        """Return the entity."""
        if not 0 <= self.start < self.end <= len(text):
            raise NNDError(
                "row.wrong-shape",
                f"{self.start} to {self.end} is not inside the text of {len(text)} characters",
                self.where,
            )
        return text[self.start : self.end]


def swap_entities(path: Path) -> Falsify:
    """Return the function that replaces an entity of a file of spans."""
    spans = defaultdict[_Place, list[_Span]](list)
    for record in read_jsonl(path):
        place, span = _read_span(record)
        spans[place].append(span)
    return partial(_replace_entity, spans=spans)


def _read_span(record: FileRecord) -> tuple[_Place, _Span]:
    check_known("key", record.fields, _FIELDS, record.where, code="key.unknown")
    start, end = (record.number(name) for name in ("start", "end"))
    if not (start.is_integer() and end.is_integer()):
        raise NNDError("row.wrong-shape", "start and end are not whole numbers", record.where)
    candidate_id = record.fields.get("candidate_id")
    place = (
        record.optional_text("split") or "test",
        record.identifier("context_id"),
        None if candidate_id is None else record.identifier("candidate_id"),
    )
    return place, _Span(record.where, int(start), int(end), record.text("type"))


def _replace_entity(
    statement: Statement, random: Random, *, spans: Mapping[_Place, Sequence[_Span]]
) -> str:
    place = (statement.split, statement.context_id)
    own = sorted(spans.get((*place, statement.name), ()), key=lambda span: span.start)
    if not own:
        raise RefusalError("no spans")
    entities = [(span, span.of(statement.text)) for span in own]
    others = [(span.type, span.of(statement.context)) for span in spans.get((*place, None), ())]
    choices = [
        (span, other)
        for span, entity in entities
        for other in dict.fromkeys(new for type_, new in others if type_ == span.type)
        if _tokens(entity).isdisjoint(_tokens(other))
    ]
    if not choices:
        raise RefusalError("no other entity of the type in the context")
    span, new = random.choice(choices)
    before, after = statement.text[: span.start], statement.text[span.end :]
    return with_article(before, new) + new + after


def _tokens(text: str) -> set[str]:
    return {*re.findall(r"\w+", text.casefold())}
