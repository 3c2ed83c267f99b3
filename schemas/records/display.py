"""Results that print as a headline, a table and remarks, in terminals and notebooks.

`details` has further tables.
"""

import html
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from nnd.schemas.records.record import Record
from nnd.schemas.words.errors import visible
from nnd.schemas.words.layout import table_text

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text


class Printable(Record, ABC):
    """A result that prints as one headline, one table and a few remarks.

    A subclass that is a dataclass must set `repr=False`, or its long repr would be printed.
    """

    __slots__ = ()

    @property
    def ok(self) -> bool:
        """Whether all that was asked is done, and nothing is wrong; else commands exit with 1."""
        return True

    @abstractmethod
    def headline(self) -> str:
        """Return the result in one sentence."""

    @abstractmethod
    def table(self) -> "Table | None":
        """Return the numbers of the headline, or None if there are none."""

    def remarks(self) -> Sequence["Table | str"]:
        """Return what to know before believing the numbers, in a few lines or none.

        A result with a second part adds its headline, table and remarks here.
        """
        return ()

    def details(self) -> Sequence["Table | str"]:
        """Return tables and lines for those who want to know more."""
        return ()

    def svg(self) -> str | None:
        """Return the figure that a notebook shows below the table, or None."""
        return None

    def summary(self) -> "list[Table | str]":
        """Return headline, table and remarks."""
        table = self.table()
        return [self.headline(), *([] if table is None else [table]), *self.remarks()]

    def __str__(self) -> str:
        table = self.table()
        parts = [self.headline()]
        parts += [] if table is None else ["", table_text(table)]
        remarks = self.remarks()
        if remarks:
            parts.append("")
            parts += (r if isinstance(r, str) else f"\n{table_text(r)}\n" for r in remarks)
        return visible("\n".join(parts))

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        """Return the HTML that a notebook shows."""
        parts = [_paragraph(p) if isinstance(p, str) else table_html(p) for p in self.summary()]
        return "\n".join([*parts, self.svg() or ""])


def _paragraph(text: str) -> str:
    return f"<p>{html.escape(text)}</p>"


def text_table(
    columns: Sequence[str],
    rows: Iterable[Sequence["str | Text"]] = (),
    *,
    right: Collection[str] = (),
    prose: Collection[str] = (),
) -> "Table":
    """Return a table that shows texts literally: [bold] or :bird: in them is not markup.

    `right` are the titles of the columns that are aligned to the right, `prose` those of the
    columns whose texts may wrap; others stay on one line.
    """
    from rich.box import SIMPLE_HEAD  # noqa: PLC0415 - slow, and it draws random numbers
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for title in columns:
        table.add_column(
            title, justify="right" if title in right else "left", no_wrap=title not in prose
        )
    for row in rows:
        table.add_row(*(Text(visible(cell)) if isinstance(cell, str) else cell for cell in row))
    return table


def table_html(table: "Table") -> str:
    """Return a table as HTML that shows all texts literally."""
    heads = "".join(_cell("th", column.header, column.justify) for column in table.columns)
    rows = [f"<tr>{heads}</tr>"]
    for cells in zip(*(column.cells for column in table.columns), strict=True):
        each = zip(cells, table.columns, strict=True)
        rows.append(f"<tr>{''.join(_cell('td', text, c.justify) for text, c in each)}</tr>")
    caption = f"<caption>{html.escape(str(table.caption))}</caption>" if table.caption else ""
    return f"<table>{caption}{''.join(rows)}</table>"


def _cell(tag: str, text: object, align: str) -> str:
    return f'<{tag} style="text-align: {align}">{html.escape(str(text))}</{tag}>'
