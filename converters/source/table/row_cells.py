"""Cells of a row. Whatever the format of the file, a cell is read as text."""

import math
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple, TypeAlias

from nnd.converters.reading import parse_number, shown
from nnd.schemas import SourceError

Report: TypeAlias = Callable[[str, str], None]
"""Called with the place of an odd cell, and how the cell was read."""

_SPACES = " \t\r\n"


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
        cell = self.filled(column)
        if not cell:
            return None
        number = parse_number(cell, self.place(column))
        lowest, highest = scale or (-math.inf, math.inf)
        if not lowest <= number <= highest:
            raise SourceError(
                f"{self.place(column)}: {number:g} is not between {lowest:g} and {highest:g}; "
                "correct the cell, or the scale in source.yaml"
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
            f"{self.place(column)}: {shown(value)} is neither text nor a number; check that this "
            "is the right file, and not another source's"
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
