"""Tables as tests read them."""

from rich.table import Table

from nnd.schemas import table_text

WIDE = 500


def lines(table: Table) -> list[str]:
    """The table as a very wide terminal shows it, with single spaces."""
    return [" ".join(line.split()) for line in table_text(table, WIDE).splitlines()]


def row(table: Table, start: str) -> str:
    """What stands behind the only line that begins so."""
    (found,) = [line for line in lines(table) if line.startswith(start)]
    return found.removeprefix(start).strip()
