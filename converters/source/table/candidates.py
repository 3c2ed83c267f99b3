"""Rows that are candidates: an annotation per aspect, more where several errors are named."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from nnd.converters import Annotation
from nnd.converters.reading import shown
from nnd.converters.source.table.cells import ANY_NUMBER, Row
from nnd.converters.source.table.context import read_candidate, read_context
from nnd.converters.source.table.section import Table, aspects_of
from nnd.schemas import SourceError


def candidate_annotations(rows: Iterable[Row], table: Table) -> Iterator[Annotation]:
    """Yield what each row says of its candidate.

    Raises:
        SourceError: At a mark that is not one of those named, or a score that is not a number.
    """
    columns = table["columns"]
    for row in rows:
        context = read_context(row, table)
        candidate = read_candidate(row, columns, context.context_id)
        group = row.filled(columns["group"]) if "group" in columns else None
        for aspect in aspects_of(table):
            for label in _labels(row, table, aspect):
                yield context.annotate(
                    row.where,
                    candidate,
                    aspect=aspect,
                    label=label,
                    score=_score(row, table, aspect),
                    ratings=_ratings(row, table, aspect),
                    group=group or None,
                )


def _labels(row: Row, table: Table, aspect: str) -> list[str] | list[None]:
    if aspect in table.get("labels", {}):
        named = table["labels"][aspect]
        column, empty = (
            (named, None) if isinstance(named, str) else (named["column"], named["empty"])
        )
        return row.texts(column) or ([None] if empty is None else [empty])
    if aspect not in table.get("marks", {}):
        return [None]
    marks = table["marks"][aspect]
    errors = [label for label, column in marks["columns"].items() if _is_marked(row, column, marks)]
    return errors or [marks["no_error"]]


def _is_marked(row: Row, column: str, marks: Mapping[str, Any]) -> bool:
    cell, blank = row.filled(column), marks.get("blank", [])
    if cell in marks["marks"]:
        return True
    if cell and cell not in blank:
        known = f"nor one of {', '.join(blank)} " if blank else ""
        raise SourceError(
            f"{row.place(column)}: {shown(cell)} is neither blank {known}nor a mark "
            f"({', '.join(marks['marks'])}); correct the cell, or add it to `marks` in source.yaml"
        )
    return False


def _score(row: Row, table: Table, aspect: str) -> float | None:
    column = table.get("scores", {}).get(aspect)
    return None if column is None else row.number(column, _scale(table, aspect))


def _ratings(row: Row, table: Table, aspect: str) -> list[float] | None:
    if aspect not in table.get("ratings", {}):
        return None
    scale = _scale(table, aspect)
    numbers = [row.number(column, scale) for column in table["ratings"][aspect]]
    return [number for number in numbers if number is not None]


def _scale(table: Table, aspect: str) -> tuple[float, float]:
    lowest, highest = table.get("scale", {}).get(aspect, ANY_NUMBER)
    return lowest, highest
