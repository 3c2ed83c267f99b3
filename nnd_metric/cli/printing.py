"""What commands print: JSON for machines, tables and lines for people."""

import json
import os
import sys
import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from nnd.schemas import Printable


def show(
    found: "Printable",
    *,
    as_json: bool = False,
    details: bool = False,
    notes: "Sequence[Table | str]" = (),
) -> None:
    """Print a result: as JSON its `to_dict`, or for people its parts, its details, and notes."""
    if as_json:
        print(json.dumps(found.to_dict(), indent=2))  # ASCII is right in every encoding
        return
    from rich.console import Console

    from nnd.schemas import fit, visible, width_here

    width = width_here()
    console = Console(width=width, markup=False, emoji=False, highlight=False)
    for part in (*found.summary(), *(found.details() if details else []), *notes):
        if isinstance(part, str):
            print(_wrapped(visible(part), width))
        else:
            for table in fit(part, width):
                console.print(table, crop=False)
                if table.box is None:  # a block of lines, not a table with room around it
                    print()


def _wrapped(line: str, width: int) -> str:
    """Wrap a line at the width of a terminal.

    Commands (indented lines), signatures and texts of several lines are not wrapped.
    """
    if not (sys.stdout.isatty() or "COLUMNS" in os.environ):
        return line
    if line.startswith((" ", "nnd|")) or "\n" in line:
        return line
    together = line.replace(" %", "\u00a0%")  # a number and its unit stay on one line
    folded = textwrap.fill(together, width, break_long_words=False, break_on_hyphens=False)
    return folded.replace("\u00a0%", " %")
