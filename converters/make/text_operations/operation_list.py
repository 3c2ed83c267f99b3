"""A list of all operations, each with an example."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from nnd.converters.make.text_operations.operation import Operation, RefusalError, Statement
from nnd.converters.make.text_operations.spelling import FALSIFICATIONS, FILES, OPERATIONS
from nnd.schemas import Printable, counted, text_table

if TYPE_CHECKING:
    from rich.table import Table

EXAMPLE = "The 12 guests came by boat. Did you see them all?"
"""The text of the examples of operations."""

STATEMENT = Statement(
    "test",
    "1/a",
    ["Ann is there with 12 guests, and Bob will come by boat."],
    "1",
    "Ann: We are all here, 12 of us.\nBob: I will come by boat.",
)
"""The statement of the examples of negatives."""

_DRAWS = 1000


class ListedOperation(NamedTuple):
    """An entry of the list of operations.

    Attributes:
        spelled: How to write it.
        changes: Which texts it changes, or that it makes negatives.
        description: What it does.
        example: `EXAMPLE` or the text of `STATEMENT` after it; None if it needs a file.
    """

    spelled: str
    changes: str
    description: str
    example: str | None


@dataclass(frozen=True, slots=True, repr=False)
class Operations(Printable):
    """All operations.

    Attributes:
        listed: An entry for each operation.
    """

    listed: tuple[ListedOperation, ...]

    def headline(self) -> str:
        """Return the number of operations, and the texts of the examples."""
        return (
            f'{counted(len(self.listed), "operation")}, shown on "{EXAMPLE}"; negatives on '
            f'"{STATEMENT.text}", about a dialogue of Ann and Bob'
        )

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
        return {
            "text": EXAMPLE,
            "right_text": STATEMENT.text,
            "operations": [each._asdict() for each in self.listed],
        }


def operations() -> Operations:
    """Return the operations of `derive`, with descriptions and examples."""
    return Operations(tuple(_listed()))


def _listed() -> Iterator[ListedOperation]:
    for name, make in OPERATIONS.items():
        if name == "back_translation":
            continue
        operation = make(None)
        value = next((f"={operation.parameters[key]}" for key in operation.parameters), "")
        example = _example(operation, STATEMENT._replace(texts=[EXAMPLE]))
        yield ListedOperation(f"{name}{value}", operation.on, operation.description, example)
    there_and_back = "takes text → text there and back, of like length"
    yield ListedOperation("back_translation=path.py:function", "context", there_and_back, None)
    for name, make in FALSIFICATIONS.items():
        if name in FILES:
            file, description = FILES[name]
            yield ListedOperation(f"{name}={file}", "negatives", description, None)
        else:
            operation = make(None)
            example = _example(operation, STATEMENT)
            yield ListedOperation(name, "negatives", operation.description, example)
    yield ListedOperation(
        "path.py:function",
        "context, or negatives",
        "takes text, random.Random (and, for negatives, context) → text; None rejects it",
        None,
    )


def _example(operation: Operation, statement: Statement) -> str:
    """Return the first draw that changes the text: at a small rate, most do not."""
    for seed in range(_DRAWS):
        with suppress(RefusalError):
            (text,) = operation.change(statement, Random(seed))  # noqa: S311 - no secret
            if text != statement.text:
                return text
    raise LookupError(operation.name)
