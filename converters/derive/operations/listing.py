"""The operations there are, each shown on one text."""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from nnd.converters.derive.operations.operation import Operation, Target
from nnd.converters.derive.operations.spelling import OPERATIONS
from nnd.schemas import Shown, counted, text_table

if TYPE_CHECKING:
    from rich.table import Table

EXAMPLE = "The 12 guests came by boat. Did you see them all?"
"""What every operation is shown on."""


_DRAWS = 1000


class Listed(NamedTuple):
    """An operation as it is listed.

    Attributes:
        spelled: As it is written.
        changes: Which texts it changes.
        description: What it does.
        example: `EXAMPLE` after it; None where it needs a function of the user.
    """

    spelled: str
    changes: Target
    description: str
    example: str | None


@dataclass(frozen=True, slots=True, repr=False)
class Operations(Shown):
    """The operations there are.

    Attributes:
        listed: Each of them.
    """

    listed: tuple[Listed, ...]

    def headline(self) -> str:
        """Return how many there are, and what they are shown on."""
        return f'{counted(len(self.listed), "operation")}, shown on "{EXAMPLE}"'

    def table(self) -> "Table":
        """Return a row for each operation."""
        columns = ("operation", "changes", "what it does", "example")
        rows = ([*each[:3], each.example or ""] for each in self.listed)
        return text_table(columns, rows, prose=columns[2:])

    def to_frame(self) -> pl.DataFrame:
        """Return a row for each operation."""
        return pl.DataFrame(self.to_dict()["operations"])

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain Python values."""
        return {"text": EXAMPLE, "operations": [each._asdict() for each in self.listed]}


def operations() -> Operations:
    """Return the operations of `derive`: what each changes, and what it makes of one text."""
    return Operations(tuple(_listed()))


def _listed() -> Iterator[Listed]:
    for name, make in OPERATIONS.items():
        if name == "back_translation":
            continue
        operation = make(None)
        value = next((f"={operation.parameters[key]}" for key in operation.parameters), "")
        example = _example(operation)
        yield Listed(f"{name}{value}", operation.on, operation.description, example)
    described = {
        "back_translation=path.py:function": "takes text → text there and back, of like length",
        "path.py:function": "takes text, random.Random → text; None rejects it",
    }
    for spelled, description in described.items():
        yield Listed(spelled, "context", description, None)


def _example(operation: Operation) -> str:
    """Return the first change there is: at a small rate, most draws change nothing."""
    changed = (
        operation.change([EXAMPLE], Random(seed))  # noqa: S311 - no secret
        for seed in range(_DRAWS)
    )
    return next(texts[0] for texts in changed if texts is not None and texts[0] != EXAMPLE)
