"""Results that show themselves: a headline and a table, in a terminal as in a notebook."""

import html
import io
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

_WIDTH = 200


class Shown(ABC):
    """A result that prints as one headline and one table.

    A subclass that is a dataclass says `repr=False`, or its own long repr would be printed.
    """

    __slots__ = ()

    @abstractmethod
    def headline(self) -> str:
        """Return what was found, in one sentence."""

    @abstractmethod
    def table(self) -> "Table | None":
        """Return the numbers behind the headline, or None where there are none."""

    def svg(self) -> str | None:
        """Return the picture that a notebook shows below the table, or None."""
        return None

    def __str__(self) -> str:
        table = self.table()
        return self.headline() if table is None else f"{self.headline()}\n{table_text(table)}"

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        table = self.table()
        parts = [f"<p>{html.escape(self.headline())}</p>"]
        parts += [] if table is None else [table_html(table)]
        return "\n".join([*parts, self.svg() or ""])


def text_table(
    columns: Sequence[str],
    rows: Iterable[Sequence["str | Text"]] = (),
    *,
    right: Collection[str] = (),
) -> "Table":
    """Return a table whose texts are shown as they are: no [bold] or :bird: in them is markup.

    Args:
        columns: Their titles.
        rows: A text for each column.
        right: Titles of the columns that are aligned to the right.
    """
    from rich.box import SIMPLE_HEAD  # noqa: PLC0415 - slow, and it draws random numbers
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for title in columns:
        table.add_column(title, justify="right" if title in right else "left")
    for row in rows:
        table.add_row(*(Text(cell) if isinstance(cell, str) else cell for cell in row))
    return table


def table_text(table: "Table") -> str:
    """Return a table as plain text."""
    from rich.console import Console  # noqa: PLC0415 - slow, and few results are looked at

    console = Console(file=io.StringIO(), width=_WIDTH, color_system=None)
    with console.capture() as captured:
        console.print(table, markup=False, highlight=False)
    return "\n".join(line.rstrip() for line in captured.get().strip("\n").splitlines())


def table_html(table: "Table") -> str:
    """Return a table as HTML that shows all texts as they are."""
    heads = "".join(_cell("th", column.header, column.justify) for column in table.columns)
    rows = [f"<tr>{heads}</tr>"]
    for cells in zip(*(column.cells for column in table.columns), strict=True):
        each = zip(cells, table.columns, strict=True)
        rows.append(f"<tr>{''.join(_cell('td', text, c.justify) for text, c in each)}</tr>")
    caption = f"<caption>{html.escape(str(table.caption))}</caption>" if table.caption else ""
    return f"<table>{caption}{''.join(rows)}</table>"


def _cell(tag: str, text: object, align: str) -> str:
    return f'<{tag} style="text-align: {align}">{html.escape(str(text))}</{tag}>'
