"""Several datasets at once as tables for a terminal."""

from collections.abc import Mapping, Sequence

from rich import box
from rich.table import Table


def failure_table(failures: Sequence[Mapping[str, str | None]]) -> Table:
    """Return a table of what could not be done, and why.

    Args:
        failures: `Failure.to_dict()` of each.
    """
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in ("failed: model", "dataset", "reason"):
        table.add_column(column, overflow="fold")
    for failure in failures:
        table.add_row(failure["model"] or "all", failure["dataset"] or "all", failure["reason"])
    return table
