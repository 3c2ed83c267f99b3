"""References collected into a frame: distinct within a context, numbered, and checked."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

import polars as pl

from nnd.converters import Reference
from nnd.converters.pairs.annotation_checks import nul_characters, row_problems, spreadsheet_errors
from nnd.converters.pairs.annotation_rows import raise_first
from nnd.converters.source import Source
from nnd.schemas import (
    CONTEXT,
    Problem,
    SourceError,
    check_frame,
    fold,
    has_surrogate,
    polars_schema,
    shown,
)

_Row: TypeAlias = tuple[str, str, str, int, str, str]


def reference_frame(
    source: Source,
    references: Iterable[Reference],
    annotations: pl.DataFrame,
    report: Callable[[str, str], None],
) -> pl.DataFrame:
    """Return the checked references of a source, in the order and dtypes of stored files.

    Rows of candidates repeat the references of their context; each text (after NFC and white-space
    folding) counts once. Within a context references keep their order within a row, so the order of
    rows does not matter.
    """
    rows = _rows(source, references, report)
    places = list(rows.values())
    frame = pl.DataFrame(list(rows), polars_schema("reference"), orient="row")
    raise_first(check_frame("reference", frame), places)
    raise_first(check_references(frame, annotations), places)
    kept = (
        frame.sort(*CONTEXT, "n", "reference", "origin")
        .with_columns(folded=fold(pl.col("reference")))
        .unique([*CONTEXT, "folded"], keep="first", maintain_order=True)
    )
    number = pl.int_range(1, pl.len() + 1, dtype=pl.Int64).over(CONTEXT)
    return kept.with_columns(n=number).drop("folded")


def _rows(
    source: Source, references: Iterable[Reference], report: Callable[[str, str], None]
) -> dict[_Row, str]:
    """Return the distinct references, numbered within their row, and their places."""
    places: dict[_Row, str] = {}
    numbers: dict[str, int] = {}
    place, twice = None, 0
    for given in references:
        _check_types(source, given)
        if place != (given.where, given.split, given.context_id):
            place, numbers = (given.where, given.split, given.context_id), {}
        twice += given.reference in numbers
        n = numbers.setdefault(given.reference, len(numbers) + 1)
        row = (source.name, given.split, given.context_id, n, given.reference, given.origin)
        places.setdefault(row, given.where)
    if twice:
        report("references", f"given twice in one row and counted once: {twice}")
    return places


def _check_types(source: Source, each: object) -> None:
    if not isinstance(each, Reference):
        raise SourceError(
            "source.definition",
            f"references(files) gave something of type {type(each).__name__}",
            source.folder / "convert.py",
            "it must yield nnd.converters.Reference",
        )
    for name in (*CONTEXT, "reference", "origin"):
        value = getattr(each, name)
        if not isinstance(value, str):
            raise SourceError(
                "cell.not-text", f"{shown(value)} is not a string", f"{each.where}: {name}"
            )
        if has_surrogate(value):
            raise SourceError(
                "cell.not-text",
                f"{shown(value)} has half a surrogate pair, which is not a character",
                f"{each.where}: {name}",
            )


def check_references(references: pl.DataFrame, annotations: pl.DataFrame) -> Iterator[Problem]:
    """Yield problems that a schema cannot find: unknown contexts, invalid texts."""
    numbered = references.with_row_index("row")
    unknown = numbered.join(annotations, on=CONTEXT, how="anti", maintain_order="left")
    message = "is not a context in the annotations"
    remedy = "correct its id or its split, or leave it out"
    yield from row_problems(unknown, "context_id", message, remedy, quoted=True)
    blank = numbered.filter(~pl.col("reference").str.contains(r"\S"))
    yield from row_problems(blank, "reference", "is blank", "leave it out")
    yield from nul_characters(numbered, "reference")
    yield from spreadsheet_errors(numbered, "reference")


def reference_id() -> pl.Expr:
    """Return the id of a reference that is used as a candidate of a made pair."""
    return pl.format("{}/reference.{}", "context_id", "n")


def check_numbers(references: pl.DataFrame) -> Iterator[Problem]:
    """Yield a problem for each reference that breaks the numbering 1, 2, 3 … of its context."""
    numbers = references.select(*CONTEXT, "n").with_row_index("row").sort("n")
    expected = pl.int_range(1, pl.len() + 1, dtype=pl.Int64).over(CONTEXT)
    wrong = numbers.with_columns(expected=expected).filter(pl.col("n") != pl.col("expected"))
    for row, n, place in wrong.sort("row").select("row", "n", "expected").iter_rows():
        message = f"is {n} but the references of the context are numbered up to {place}"
        yield Problem(row, "n", message, "convert the source again")
