"""Checks of a card's tables against those that follow from the data."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from nnd.cards.card_parser import tables_in
from nnd.cards.markdown import Table, table_cell
from nnd.schemas import Problem, excerpt

_CardRow = tuple[str, ...]
_LONGEST_ROW = 160


def check_tables(
    sections: Mapping[str, str], expected: Mapping[str, Sequence[Table]], remedy: str
) -> Iterator[Problem]:
    """Yield a problem for every missing table, and for every row that contradicts the data.

    Args:
        sections: Title → text of the sections of a card; missing ones are skipped.
        expected: Title → the tables that follow from the data.
        remedy: What to do about a problem.
    """
    for name, tables in expected.items():
        text = sections.get(name, "")
        found = list(tables_in(text))
        for table in tables if text.strip() else ():
            same = next((rows for rows in found if rows[0] == table.header), None)
            if same is None:
                titles = ", ".join(table.header)
                yield Problem(None, name, f"a table with the columns {titles} is missing", remedy)
            else:
                found.remove(same)
                for message in _differences(table, same[1:]):
                    yield Problem(None, name, message, remedy)


def _differences(table: Table, written: Sequence[_CardRow]) -> Iterator[str]:
    """Yield a message for every row in which two tables differ; the order of rows is free."""
    wanted = Counter(tuple(map(table_cell, row)) for row in table.rows)
    extra = list((Counter(written) - wanted).elements())
    for row in (wanted - Counter(written)).elements():
        of_the_same = (other for other in extra if other[:1] == row[:1])
        other = next(of_the_same, extra[0] if len(extra) == 1 else None)
        if other is None:
            yield f"the row {_shown(row)} is missing"
        else:
            extra.remove(other)
            yield f"the row {_shown(other)} should be {_shown(row)} according to the data"
    for row in extra:
        yield f"the row {_shown(row)} does not follow from the data"


def _shown(row: _CardRow) -> str:
    return f'"{excerpt(" | ".join(row), _LONGEST_ROW)}"'
