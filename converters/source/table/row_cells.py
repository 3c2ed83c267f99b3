"""A row of a table: its cells, and the context and the candidates in them.

Whatever the format of the file, a cell is read as text.
"""

import hashlib
import math
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple, TypeAlias

from nnd.converters import Annotation
from nnd.converters.source.table.section import Table, template_of
from nnd.schemas import SourceError, parse_number, shown

Report: TypeAlias = Callable[[str, str], None]
"""Called with the place of an odd cell, and how the cell was read."""

_SPACES = " \t\r\n"

_FIELDS = ("context_id", "category", "split", "language")
"""Columns of a section that describe the context."""


class Row(NamedTuple):
    """One row of a table."""

    where: str  # its file and line, for messages
    fields: Mapping[str, Any]  # column → cell, in the type that the file has
    report: Report  # called to report odd cells

    def text(self, column: str) -> str:
        """Return a cell as text with line feeds only; a missing value is the empty text."""
        value = self.fields[column]
        if type(value) is str and "\r" not in value:  # most cells: this halves the time
            return value
        return self._text(value, column)

    def filled(self, column: str) -> str:
        """Return a cell without surrounding spaces; reports a cell of unusual white space only."""
        return self._trimmed(self.text(column), column)

    def optional(self, columns: Mapping[str, str], name: str) -> str | None:
        """Return the cell of an optional column; None if it is empty or the column is not named."""
        return (self.filled(columns[name]) or None) if name in columns else None

    def texts(self, column: str) -> list[str]:
        """Return the non-empty texts of a cell that holds a text or a list of texts."""
        texts = (self._trimmed(text, column) for text in self.listed(column))
        return [text for text in dict.fromkeys(texts) if text]

    def listed(self, column: str) -> list[str]:
        """Return the texts of a cell that holds a text or a list of texts."""
        value = self.fields[column]
        items = value if isinstance(value, list) else [value]
        return [self._text(item, column) for item in items]

    def number(self, column: str, scale: Sequence[float] | None = None) -> float | None:
        """Return a cell as a number, on a scale if there is one; None if it is empty."""
        return self._number(self.filled(column), column, scale)

    def numbers(self, column: str, scale: Sequence[float] | None = None) -> list[float | None]:
        """Return the numbers of a cell that holds a number or a list of numbers."""
        cells = (self._trimmed(text, column) for text in self.listed(column))
        return [self._number(cell, column, scale) for cell in cells]

    def _number(self, cell: str, column: str, scale: Sequence[float] | None) -> float | None:
        if not cell:
            return None
        number = parse_number(cell, self.place(column))
        lowest, highest = scale or (-math.inf, math.inf)
        if not lowest <= number <= highest:
            raise SourceError(
                "cell.out-of-range",
                f"{number:g} is not between {lowest:g} and {highest:g}",
                self.place(column),
                "correct the cell, or the scale in source.yaml",
            )
        return number

    def place(self, column: str) -> str:
        """Return file, line and column of a cell, for messages."""
        return f"{self.where}, {column}"

    def _text(self, value: object, column: str) -> str:
        match value:
            case str():
                return value.replace("\r\n", "\n")
            case None:
                return ""
            case bool():
                return "true" if value else "false"
            case int() | float() | Decimal():
                return str(value)
        raise SourceError(
            "cell.not-text", f"{shown(value)} is neither text nor a number", self.place(column)
        )

    def _trimmed(self, text: str, column: str) -> str:
        cell = text.strip(_SPACES)
        if not cell or cell[0].isalnum():
            return cell
        if all(char.isspace() or unicodedata.category(char) == "Cf" for char in cell):
            points = ", ".join(f"U+{ord(char):04X}" for char in dict.fromkeys(cell))
            self.report(self.place(column), f"nothing but white space ({points}), read as blank")
            return ""
        return cell


class RowReader:
    """Reads the context and the candidates of each row; rows with equal cells share a context."""

    def __init__(self, table: Table) -> None:
        """Prepare what is the same for all rows."""
        self._columns: Mapping[str, str] = table.get("columns", {})
        self._inputs: Mapping[str, str] = table.get("inputs", {})
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
            inputs=inputs or {"context": ""},
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
