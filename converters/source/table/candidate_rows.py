"""Rows that are candidates: an annotation for each aspect and each named error."""

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from nnd.converters import Annotation
from nnd.converters.source.table.row_cells import Row, RowReader
from nnd.converters.source.table.row_steps import NAME, NAMES
from nnd.converters.source.table.section import Table, as_texts, aspects_of
from nnd.schemas import SourceError, shown

Key: TypeAlias = tuple[str | None, ...]

_SAME = ("context_id", "context", "candidate", "system", "category", "language", "metadata")
"""Fields that the rows of a candidate must share, since one merged row cannot hold two values."""


def gather_raters(annotations: Iterable[Annotation]) -> Iterator[Annotation]:
    """Yield an annotation per candidate, group, aspect and label, with all ratings.

    The scores of its annotators become its ratings; a label that several gave is one label. An
    annotator may judge a candidate once only, and its rows must have the same text and context.
    """
    judged: dict[Key, tuple[Annotation, dict[str, float | None]]] = {}
    for one in annotations:
        key: Key = (one.split, one.candidate_id, one.group, one.aspect, one.label)
        first, scores = judged.setdefault(key, (one, {}))
        _check_same(one, first)
        (annotator,) = one.annotators or ()
        if annotator in scores:
            raise SourceError(
                "row.twice",
                f'{shown(annotator)} judges {shown(one.candidate_id)} under "{one.aspect}" '
                f"for the second time (first: {first.where})",
                one.where,
            )
        scores[annotator] = one.score
    for first, scores in judged.values():
        names = sorted(scores)  # in an order that does not depend on the rows
        scored = {name: score for name in names if (score := scores[name]) is not None}
        yield first._replace(
            score=None,
            ratings=list(scored.values()) or None,
            annotators=list(scored) or names,
        )


def _check_same(one: Annotation, first: Annotation) -> None:
    for name in _SAME:
        if getattr(one, name) != getattr(first, name):
            raise SourceError(
                "row.contradiction",
                f"{shown(one.candidate_id)} names two different things: its {name} differs "
                f"from {first.where}'s",
                one.where,
                "give each its own id",
            )


def candidate_annotations(rows: Iterable[Row], table: Table) -> Iterator[Annotation]:
    """Yield the annotations of each row; the rows of several annotators are merged."""
    annotations = _row_annotations(rows, table)
    return gather_raters(annotations) if "annotator" in table["columns"] else annotations


def _row_annotations(rows: Iterable[Row], table: Table) -> Iterator[Annotation]:
    columns = table["columns"]
    judge = _pivoted if "pivot" in table else _judged
    reader = RowReader(table)
    for row in rows:
        candidate = reader.candidate(row)
        if "annotator" in columns:
            annotator = _annotator(row, columns["annotator"])
            candidate = candidate._replace(annotators=[annotator])
        yield from judge(candidate, row, table)


def _annotator(row: Row, column: str) -> str:
    name = row.filled(column)
    if not name:
        raise SourceError(
            "cell.empty",
            "is empty",
            row.place(column),
            "say who judged, or leave the row out with `where` in source.yaml",
        )
    return name


def _judged(candidate: Annotation, row: Row, table: Table) -> Iterator[Annotation]:
    for aspect in aspects_of(table):
        score, ratings = _read_score(row, table, aspect), _read_ratings(row, table, aspect)
        for label in _labels(row, table, aspect):
            yield candidate._replace(aspect=aspect, label=label, score=score, ratings=ratings)


def _pivoted(candidate: Annotation, row: Row, table: Table) -> Iterator[Annotation]:
    """Yield the annotation of the one aspect that a row names."""
    pivot = table["pivot"]
    cell = row.filled(pivot["aspect"])
    names = pivot.get("names", {cell: cell})
    if cell not in names:
        raise SourceError(
            "cell.unknown-value",
            f"{shown(cell)} is not one of {', '.join(names)}",
            row.place(pivot["aspect"]),
            "correct the cell, add it to `names` in source.yaml, or leave the row out with `where`",
        )
    aspect = names[cell]
    own = {
        f"{kind}s": {aspect: pivot[kind]} for kind in ("score", "label", "rank") if kind in pivot
    }
    yield from _judged(candidate, row, {**own, "scale": table.get("scale", {})})


def _labels(row: Row, table: Table, aspect: str) -> list[str] | list[None]:
    if aspect in table.get("labels", {}):
        named = table["labels"][aspect]
        if isinstance(named, str):
            return row.texts(named) or [None]
        return row.texts(named["column"]) or [named["empty"]]
    if aspect not in table.get("marks", {}):
        return [None]
    marks = table["marks"][aspect]
    marked, blank = as_texts(marks["marks"]), as_texts(marks.get("blank", []))
    errors = [
        label
        for label, column in marks["columns"].items()
        if _is_marked(row, column, marked, blank)
    ]
    return errors or [marks["no_error"]]


def _is_marked(row: Row, column: str, marked: list[str], blank: list[str]) -> bool:
    cell = row.filled(column)
    if cell in marked:
        return True
    if cell and cell not in blank:
        raise SourceError(
            "cell.unknown-value",
            f"{shown(cell)} is neither {' nor '.join(['blank', *blank])} nor a mark "
            f"({', '.join(marked)})",
            row.place(column),
            "correct the cell, or add it to `marks` in source.yaml",
        )
    return False


def _read_score(row: Row, table: Table, aspect: str) -> float | None:
    """Return the score of a candidate under an aspect; None if it has none.

    A rank becomes a negative score, so that rank 1 is highest. If a row names the best and the
    worst of its candidates, these score 1 and -1, and the others 0.
    """
    if aspect in table.get("scores", {}):
        return row.number(table["scores"][aspect], table.get("scale", {}).get(aspect))
    if aspect in table.get("best_worst", {}):
        named = table["best_worst"][aspect]
        return _is_named(row, named["best"]) - _is_named(row, named["worst"])
    if aspect not in table.get("ranks", {}):
        return None
    column = table["ranks"][aspect]
    rank = row.number(column)
    if rank is not None and rank < 1:
        raise SourceError(
            "cell.out-of-range", f"{rank:g} is not a rank: the best has rank 1", row.place(column)
        )
    return None if rank is None else -rank


def _read_ratings(row: Row, table: Table, aspect: str) -> list[float] | None:
    """Return the ratings of a candidate under an aspect; empty cells are skipped."""
    if aspect not in table.get("ratings", {}):
        return None
    scale = table.get("scale", {}).get(aspect)
    numbers = (
        number for column in table["ratings"][aspect] for number in row.numbers(column, scale)
    )
    return [number for number in numbers if number is not None]


def _is_named(row: Row, column: str) -> float:
    """Return 1 if a cell names the candidate of a split row, else 0."""
    cells, names = row.texts(column), row.texts(NAMES)
    for cell in {*cells} - {*names}:
        raise SourceError(
            "cell.unknown-value",
            f"{shown(cell)} is not one of the candidates of its row ({', '.join(names)})",
            row.place(column),
        )
    return float(row.text(NAME) in cells)
