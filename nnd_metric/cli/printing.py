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

    from nnd.metric import Sweep
    from nnd.schemas import Shown

Details = Annotated[bool, typer.Option("--details", help="Print all there is to see.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]


def show(value: object, as_json: bool, *shown: "Table | str") -> None:  # noqa: FBT001
    """Print JSON for machines, or tables and lines for people.

    Args:
        value: What machines get: plain Python values.
        as_json: Whether they are asked for.
        *shown: What people get.
    """
    if as_json:
        print(json.dumps(value, indent=2))  # ASCII: right in whatever encoding it is read
        return
    from rich.console import Console

    from nnd.schemas import fit, width_here

    width = width_here()
    console = Console(width=width, markup=False, emoji=False, highlight=False)
    for part in shown:
        if isinstance(part, str):
            print(_wrapped(part, width))
        else:
            for table in fit(part, width):
                console.print(table, crop=False)
                if table.box is None:  # a block of lines, not a table with room around it
                    print()


def show_result(
    found: "Shown",
    as_json: bool,  # noqa: FBT001
    *,
    value: object = None,
    details: bool = False,
    before: Sequence["Table | str"] = (),
    after: Sequence["Table | str"] = (),
) -> None:
    """Print a result: its headline, table and remarks; all there is to see if asked for.

    Args:
        found: The result.
        as_json: Whether JSON is asked for.
        value: What machines get; None: what `to_dict` gives.
        details: Whether to print the details too.
        before: What comes first.
        after: What comes last, as where it was written to.
    """
    parts = [*parts_of(found), *(found.details() if details else [])]
    show(found.to_dict() if value is None else value, as_json, *before, *parts, *after)


def parts_of(found: "Shown | None") -> "list[Table | str]":
    """Return headline, table and remarks of a result; nothing of none."""
    if found is None:
        return []
    table = found.table()
    return [found.headline(), *([] if table is None else [table]), *found.remarks()]


def _wrapped(line: str, width: int) -> str:
    """Fold a line between words where somebody looks at a screen of some width.

    Commands, which are indented, signatures and what has several lines stay as they are.
    """
    if not (sys.stdout.isatty() or "COLUMNS" in os.environ):
        return line
    if line.startswith((" ", "nnd|")) or "\n" in line:
        return line
    together = line.replace(" %", "\u00a0%")  # a number and its unit stay on one line
    folded = textwrap.fill(together, width, break_long_words=False, break_on_hyphens=False)
    return folded.replace("\u00a0%", " %")


def quiet_loading() -> None:
    """What transformers and the Hub's client tell on the way is for a terminal only, as ours is.

    bitsandbytes repeats a line at every multiplication.
    """
    logging.getLogger("bitsandbytes").setLevel(logging.ERROR)
    if not sys.stderr.isatty():
        from huggingface_hub.utils import logging as hub
        from transformers.utils import logging as transformers

        transformers.disable_progress_bar()  # type: ignore[no-untyped-call]
        transformers.set_verbosity_error()  # type: ignore[no-untyped-call]
        hub.set_verbosity_error()  # type: ignore[no-untyped-call]


@contextmanager
def resumable(*, cached: bool) -> Iterator[None]:
    """Say, where work is interrupted, that it is not lost."""
    try:
        yield
    except KeyboardInterrupt:
        if not cached:
            raise
        raise KeyboardInterrupt("the same command goes on from there") from None


def show_sweep(
    found: "Sweep",
    as_json: bool,  # noqa: FBT001 - as of `show_result`
    *,
    details: bool,
    alone: bool = False,
    out: Path | None = None,
    lines: Sequence[str] = (),
) -> None:
    """Show what models did.

    Args:
        found: What they did.
        as_json: As typed.
        details: As typed.
        alone: Whether one dataset was asked for, which is shown as such.
        out: As typed.
        lines: What to print between failures and places.
    """
    from nnd.metric.tables import failure_table

    evaluations = [*found.evaluations.values()]
    failed = [failure_table(found.to_dict()["failures"])] if found.failures else []
    written = [f"written to {folder}" for folder in found.folders.values()]
    read = dict.fromkeys(line for each in evaluations for line in each.readings(as_chats=True))
    shown = evaluations[0] if alone and evaluations else found
    after: list[Table | str] = [*failed, *lines, *written]
    show_result(shown, as_json, details=details, before=[*read], after=after)
    if evaluations and not (details or as_json):
        reported = f", or: nnd report {out}" if alone and out is not None else ""
        print(f"More with --details{reported}")


def exit_on(found: "Sweep") -> None:
    """End the command with exit code 1 if something could not be done."""
    if found.failures:
        raise typer.Exit(1)
