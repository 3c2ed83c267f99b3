"""What commands print: JSON for machines, tables and lines for people."""

import json
import logging
import os
import sys
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.table import Table

    from nnd.metric.run import Sweep
    from nnd.schemas import Printable

Details = Annotated[bool, typer.Option("--details", help="Print all details.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]


def show(value: object, as_json: bool, *shown: "Table | str") -> None:  # noqa: FBT001
    """Print a value as JSON for machines, or tables and lines for people."""
    if as_json:
        print(json.dumps(value, indent=2))  # ASCII is right in every encoding
        return
    from rich.console import Console

    from nnd.schemas import fit, visible, width_here

    width = width_here()
    console = Console(width=width, markup=False, emoji=False, highlight=False)
    for part in shown:
        if isinstance(part, str):
            print(_wrapped(visible(part), width))
        else:
            for table in fit(part, width):
                console.print(table, crop=False)
                if table.box is None:  # a block of lines, not a table with room around it
                    print()


def show_result(
    found: "Printable",
    as_json: bool,  # noqa: FBT001
    *,
    value: object = None,
    details: bool = False,
    after: Sequence["Table | str"] = (),
) -> None:
    """Print a result: its headline, table and remarks, its details if requested, and `after`.

    As JSON, `value` is printed, or the result's `to_dict`.
    """
    parts = [*parts_of(found), *(found.details() if details else [])]
    show(found.to_dict() if value is None else value, as_json, *parts, *after)


def parts_of(found: "Printable | None") -> "list[Table | str]":
    """Return headline, table and remarks of a result; an empty list for None."""
    if found is None:
        return []
    table = found.table()
    return [found.headline(), *([] if table is None else [table]), *found.remarks()]


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


def quiet_loading() -> None:
    """Show the messages of transformers and the Hub's client only in a terminal.

    Messages of bitsandbytes, which repeats one at every multiplication, are hidden.
    """
    logging.getLogger("bitsandbytes").setLevel(logging.ERROR)
    if not sys.stderr.isatty():
        from huggingface_hub.utils import logging as hub
        from transformers.utils import logging as transformers

        transformers.set_verbosity_error()  # type: ignore[no-untyped-call]
        hub.set_verbosity_error()  # type: ignore[no-untyped-call]


@contextmanager
def resumable(*, cached: bool) -> Iterator[None]:
    """If work is interrupted, say that it is not lost."""
    try:
        yield
    except KeyboardInterrupt:
        if not cached:
            raise
        raise KeyboardInterrupt("run the same command to resume") from None


def show_sweep(
    found: "Sweep",
    as_json: bool,  # noqa: FBT001 - as of `show_result`
    *,
    details: bool,
    alone: bool = False,
    out: Path | None = None,
) -> None:
    """Print the results of models; `alone` as those of one dataset."""
    from nnd.metric.show import failure_table

    evaluations = [*found.evaluations.values()]
    failed = [failure_table(found.failures)] if found.failures else []
    written = [f"written to {folder}" for folder in found.folders.values()]
    shown = evaluations[0] if alone and evaluations else found
    after: list[Table | str] = [*failed, *written]
    show_result(shown, as_json, details=details, after=after)
    if evaluations and not (details or as_json):
        reported = f", or: nnd report {out}" if alone and out is not None else ""
        print(f"For more, use --details{reported}")


def exit_on(found: "Sweep") -> None:
    """End the command with exit code 1 if there are failures."""
    if found.failures:
        raise typer.Exit(1)
