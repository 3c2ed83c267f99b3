"""The context and the candidates of a row."""

import hashlib
from collections.abc import Iterable, Mapping

from nnd.converters import Annotation
from nnd.converters.source.table.row_cells import Row
from nnd.converters.source.table.section import Table, template_of

_FIELDS = ("context_id", "category", "split", "language")
"""Columns of a section that describe the context."""


class RowReader:
    """Reads the context and the candidates of each row; rows with equal cells share a context."""

    def __init__(self, table: Table) -> None:
        """Prepare what is the same for all rows."""
        self._columns: Mapping[str, str] = table.get("columns", {})
        self._inputs: Mapping[str, str] = table["inputs"]
        self._metadata: Mapping[str, str] = table.get("metadata", {})
        self._template = template_of(table)
        own = (self._columns[name] for name in _FIELDS if name in self._columns)
        self._needed = [*self._inputs.values(), *self._metadata.values(), *own]
        self._last: tuple[list[str], Annotation] | None = None

    def context(self, row: Row) -> Annotation:
        """Return the context of a row, whose candidate and judgement are still empty.

        If it has no key, a digest of its inputs is the key.
        """
        cells = [row.text(column) for column in self._needed]
        if self._last is None or self._last[0] != cells:
            self._last = cells, self._read(row)
        return self._last[1]._replace(where=row.where)

    def _read(self, row: Row) -> Annotation:
        inputs = {part: row.text(column) for part, column in self._inputs.items()}
        key = self._columns.get("context_id")
        split = self._columns.get("split")
        return Annotation(
            where=row.where,
            context_id=digest(inputs.values()) if key is None else row.text(key),
            context=self._template.format(**inputs),
            inputs=inputs,
            candidate_id="",
            candidate="",
            aspect="",
            category=row.optional(self._columns, "category"),
            split="test" if split is None else row.filled(split),
            language=row.optional(self._columns, "language"),
            metadata={key: row.filled(column) for key, column in self._metadata.items()},
        )

    def candidate(self, row: Row) -> Annotation:
        """Return the context, the candidate and the group of a row, not judged yet."""
        found = add_candidate(self.context(row), row, self._columns)
        return found._replace(group=row.optional(self._columns, "group"))


def add_candidate(
    context: Annotation, row: Row, columns: Mapping[str, str], own_id: str | None = None
) -> Annotation:
    """Return a context with the candidate in the named `columns` of its row.

    Its key is in a column too, or `own_id`; otherwise it is that of the context, a slash, and the
    system or, if no system is named, a digest of the text.
    """
    text = row.text(columns["candidate"])
    system = row.text(columns["system"]) if "system" in columns else None
    if "candidate_id" in columns:
        own_id = row.text(columns["candidate_id"])
    if own_id is None:
        own_id = f"{context.context_id}/{digest([text]) if system is None else system}"
    return context._replace(candidate_id=own_id, candidate=text, system=system)


def digest(texts: Iterable[str]) -> str:
    """Return a key made of texts, each with its length."""
    digested = hashlib.sha256()
    for text in texts:
        part = text.encode(errors="surrogatepass")  # surrogates are refused later
        digested.update(b"%d:%b" % (len(part), part))
    return digested.hexdigest()[:16]
