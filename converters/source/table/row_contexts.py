"""The context and the candidates of a row."""

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from nnd.converters import Annotation
from nnd.converters.source.table.row_cells import Row
from nnd.converters.source.table.section import Table, template_of

_FIELDS = ("context_id", "category", "split", "language")
"""Columns of a section that describe the context."""


class RowCandidate(NamedTuple):
    """The candidate of a row; its fields are those of an annotation."""

    candidate_id: str
    candidate: str
    system: str | None


class RowContext(NamedTuple):
    """The context of a row; its fields are those of an annotation."""

    context_id: str
    context: str
    inputs: Mapping[str, str]
    category: str | None
    split: str
    language: str | None
    metadata: Mapping[str, str]

    def annotate(self, where: str, candidate: RowCandidate, **judgement: Any) -> Annotation:  # noqa: ANN401
        """Return an annotation of a candidate of this context.

        Args:
            where: Its file and line.
            candidate: The candidate.
            judgement: Further fields of the annotation.
        """
        return Annotation(where=where, **self._asdict(), **candidate._asdict(), **judgement)


class ContextReader:
    """Reads the context of each row of a table; rows with equal cells share one object."""

    def __init__(self, table: Table) -> None:
        """Prepare what is the same for all rows.

        Args:
            table: The section; its inputs, template, metadata and context columns are read.
        """
        self._columns: Mapping[str, str] = table.get("columns", {})
        self._inputs: Mapping[str, str] = table["inputs"]
        self._metadata: Mapping[str, str] = table.get("metadata", {})
        self._template = template_of(table)
        own = (self._columns[name] for name in _FIELDS if name in self._columns)
        self._needed = [*self._inputs.values(), *self._metadata.values(), *own]
        self._last: tuple[list[str], RowContext] | None = None

    def read(self, row: Row) -> RowContext:
        """Return the context of a row; if it has no key, a digest of its inputs is the key."""
        cells = [row.text(column) for column in self._needed]
        if self._last is None or self._last[0] != cells:
            self._last = cells, self._read(row)
        return self._last[1]

    def _read(self, row: Row) -> RowContext:
        inputs = {part: row.text(column) for part, column in self._inputs.items()}
        key = self._columns.get("context_id")
        split = self._columns.get("split")
        return RowContext(
            context_id=digest(inputs.values()) if key is None else row.text(key),
            context=self._template.format(**inputs),
            inputs=inputs,
            category=row.optional(self._columns, "category"),
            split="test" if split is None else row.filled(split),
            language=row.optional(self._columns, "language"),
            metadata={key: row.filled(column) for key, column in self._metadata.items()},
        )


def read_candidate(
    row: Row, columns: Mapping[str, str], context_id: str, own_id: str | None = None
) -> RowCandidate:
    """Return a candidate of a row.

    Args:
        row: The row.
        columns: Columns of `candidate`, `system` and `candidate_id`; the last two may be missing.
        context_id: The key of its context.
        own_id: The candidate's key, if the row states it in another way.

    Returns:
        The candidate. If it has no key, the key is that of the context, a slash, and the system
        or, if no system is named, a digest of the text.
    """
    text = row.text(columns["candidate"])
    system = row.text(columns["system"]) if "system" in columns else None
    if "candidate_id" in columns:
        own_id = row.text(columns["candidate_id"])
    if own_id is None:
        own_id = f"{context_id}/{digest([text]) if system is None else system}"
    return RowCandidate(own_id, text, system)


def digest(texts: Iterable[str]) -> str:
    """Return a key made of texts, each with its length."""
    digested = hashlib.sha256()
    for text in texts:
        part = text.encode(errors="surrogatepass")  # surrogates are refused later
        digested.update(b"%d:%b" % (len(part), part))
    return digested.hexdigest()[:16]
