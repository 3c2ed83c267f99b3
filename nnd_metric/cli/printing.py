"""What commands print: JSON for machines, tables and lines for people."""

import json
import sys
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.table import Table

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

    # Without a terminal nobody folds lines by hand: tables keep their width.
    console = Console(width=None if sys.stdout.isatty() else 200)
    for part in shown:
        console.print(part, markup=False, highlight=False, soft_wrap=isinstance(part, str))


def quiet_loading() -> None:
    """What transformers and the Hub's client tell on the way is for a terminal only, as ours is."""
    if not sys.stderr.isatty():
        from huggingface_hub.utils import logging as hub
        from transformers.utils import logging

        logging.disable_progress_bar()  # type: ignore[no-untyped-call]
        logging.set_verbosity_error()  # type: ignore[no-untyped-call]
        hub.set_verbosity_error()  # type: ignore[no-untyped-call]
