"""Differences as a table for a terminal: the one shape of all such tables, and its cells."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, TypeVar

from nnd.metric.numbers import Difference, in_words
from nnd.metric.show.tables.cells import count, p_value, points, share
from nnd.schemas import text_table

if TYPE_CHECKING:
    from rich.table import Table

_Difference = TypeVar("_Difference", bound=Difference)

CELLS: Final[Mapping[str, Callable[[Difference], str]]] = {
    "n": lambda difference: f"{difference.n:,}",
    "rate": lambda difference: share(difference.rate),
    "other": lambda difference: share(difference.other),
    "lead": lambda difference: points(difference.difference, difference.interval),
    "only_first": lambda difference: count(difference.only_first),
    "only_second": lambda difference: count(difference.only_second),
    "p": lambda difference: p_value(difference.p),
    "p_holm": lambda difference: p_value(difference.p_holm),
    "final_p": lambda difference: p_value(difference.final_p),
    "differ": lambda difference: in_words(difference.verdict, "yes", "yes", "no"),
}
"""Name → the cell of a difference; rates in per cent, the difference in points."""


def difference_table(
    keys: Sequence[str],
    columns: Mapping[str, str | Callable[[_Difference], str]],
    blocks: Iterable[tuple[str, Iterable[tuple[Sequence[str], _Difference]]]],
    *,
    words: Sequence[str] = (),
    above: Sequence[str] = (),
) -> "Table":
    """Return a row per difference.

    Args:
        keys: Titles of the columns that say what is compared.
        columns: Title → a name of CELLS, or a function that returns the cell of a difference.
        blocks: Blocks of rows: a title or "", and the rows with their keys.
        words: Titles of the columns that hold words.
        above: A first row, of what the others are compared with.
    """
    numbers = [title for title in columns if title not in words]
    table = text_table([*keys, *columns], right=numbers, prose=keys[:1])
    if above:
        table.add_row(*above, end_section=True)
    cells = [CELLS[each] if isinstance(each, str) else each for each in columns.values()]
    for title, rows in blocks:
        if title:
            table.add_row(title)
        for (name, *others), difference in rows:
            shown = f"  {name}" if title else name
            table.add_row(shown, *others, *(cell(difference) for cell in cells))
        table.add_section()
    return table


def verdict_cell(first: str, second: str) -> Callable[[Difference], str]:
    """Return the cell of a verdict in words (`in_words`)."""
    return lambda difference: in_words(difference.verdict, first, second)
