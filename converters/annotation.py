"""What a converter yields, and the checked frame that its annotations become."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import polars as pl

from nnd.converters.quality import NoError, Order, used_column
from nnd.converters.records import shown
from nnd.converters.source import Source
from nnd.schemas import Problem, SourceError, check_rows, polars_schema

ORDER = ("split", "context_id", "candidate_id", "aspect", "label")
"""Rows are stored in this order, whatever the order of the file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotation:
    """One label (or score) of one candidate under one aspect.

    Attributes:
        where: Where it was read (file:line), for messages about it.
        context_id: Key of the context: the source's own where it has one.
        context: The context as text, the default rendering of `inputs`.
        inputs: The parts of the context by name.
        candidate_id: Key of the candidate.
        candidate: The generated text as the source has it.
        system: Who wrote it; several names for one text are joined by `|`.
        aspect: What was judged; one of the source's aspects.
        label: The label given, or None.
        score: The score given, or None.
        ratings: Ratings of the single annotators, or None.
        category: Category of the context, or None.
        split: Split the row belongs to.
        language: BCP-47; None means the source's first language.
    """

    where: str
    context_id: str
    context: str
    inputs: Mapping[str, str]
    candidate_id: str
    candidate: str
    system: str
    aspect: str
    label: str | None = None
    score: float | None = None
    ratings: Sequence[float] | None = None
    category: str | None = None
    split: str = "test"
    language: str | None = None


def annotation_frame(source: Source, annotations: Iterable[Annotation]) -> pl.DataFrame:
    """Return the checked annotations of a source, in the stored order and the stored dtypes.

    Args:
        source: Whose annotations they are.
        annotations: What its converter yields.

    Raises:
        SourceError: At the first problem, with the place it was read from, what is wrong, the
            remedy, and how many more there are.
    """
    places, rows = [], []
    for annotation in annotations:
        row = _row(source, annotation)
        places.append(row.pop("where"))
        rows.append(row)
    _raise_first(check_rows("annotation", rows), places)
    frame = _store(rows)
    _raise_first(check_annotations(source, frame), places)
    return frame.sort(ORDER, nulls_last=True)


def _row(source: Source, annotation: Annotation) -> dict[str, Any]:
    if not isinstance(annotation, Annotation):
        raise SourceError(
            f"{source.folder / 'convert.py'}: annotations(files) gave something of type "
            f"{type(annotation).__name__}; it must yield nnd.converters.annotation.Annotation"
        )
    row = {field.name: getattr(annotation, field.name) for field in fields(annotation)}
    # JSON knows dicts and lists only.
    if isinstance(row["inputs"], Mapping):
        row["inputs"] = dict(row["inputs"])
    if isinstance(row["ratings"], tuple):
        row["ratings"] = list(row["ratings"])
    return row | {
        "source": source.name,
        "language": row["language"] or source.facts["languages"][0],
    }


def _store(rows: list[dict[str, Any]]) -> pl.DataFrame:
    for row in rows:
        row["inputs"] = [{"key": key, "value": value} for key, value in row["inputs"].items()]
    return pl.DataFrame(rows, polars_schema("annotation"), orient="row")


def _raise_first(problems: Iterator[Problem], places: Sequence[str]) -> None:
    first = next(problems, None)
    if first is None:
        return
    more = sum(1 for _ in problems)
    where = "" if first.row is None else f"{places[first.row]}: "
    field = f"{first.path}: " if first.path else ""
    rest = f"; and {more} more like it" if more else ""
    raise SourceError(f"{where}{field}{first.message} ({first.remedy}){rest}")


def check_annotations(source: Source, frame: pl.DataFrame) -> Iterator[Problem]:
    """Yield what a schema cannot say of annotations: unknown names, clashes, empty candidates.

    Args:
        source: Its aspects, systems, taxonomy and rule are what the rows are held against.
        frame: Annotation rows; problems carry their row numbers.
    """
    numbered = frame.with_row_index("row")
    yield from _check_known(numbered, "aspect", source.facts["aspects"], "aspects")
    yield from _check_known(numbered, "label", _known_labels(source), "taxonomy")
    systems = numbered.select("row", pl.col("system").str.split("|")).explode("system")
    yield from _check_known(systems, "system", source.systems, "systems")
    yield from _check_same(numbered, "context_id", ("context", "inputs", "category", "language"))
    yield from _check_same(numbered, "candidate_id", ("context_id", "candidate", "system"))
    yield from _check_duplicates(numbered, source)
    if not source.keeps_empty_candidates:
        for (row,) in (
            numbered.filter(pl.col("candidate").str.strip_chars() == "").select("row").rows()
        ):
            remedy = "leave it out, or set `empty_candidates: keep` in source.yaml"
            yield Problem(row, "candidate", "is empty", remedy)


def _known_labels(source: Source) -> Iterable[str] | None:
    """Return the labels a source may use, or None where its rule uses none."""
    match source.rule:
        case NoError(no_error):
            return {no_error, *source.taxonomy}
        case Order(better):
            return {*(label for pair in better for label in pair), *source.taxonomy}
    return None


def _check_known(
    numbered: pl.DataFrame, column: str, known: Iterable[str] | None, section: str
) -> Iterator[Problem]:
    if known is None:
        return
    names = sorted(known)
    unknown = numbered.filter(pl.col(column).is_not_null() & ~pl.col(column).is_in(names))
    remedy = f"known: {', '.join(names)}; add it under `{section}` in source.yaml if it is new"
    for row, value in unknown.select("row", column).iter_rows():
        yield Problem(row, column, f"{shown(value)} is not in source.yaml", remedy)


def _check_same(numbered: pl.DataFrame, key: str, columns: Iterable[str]) -> Iterator[Problem]:
    """An id stands for one thing: whatever it names must be the same in all its rows."""
    for column in columns:
        differs = pl.col(column).ne_missing(pl.col(column).first().over("split", key))
        for row, name in numbered.filter(differs).select("row", key).iter_rows():
            message = f"{shown(name)} stands for two different things"
            yield Problem(row, key, message, f"its {column} differs from an earlier row's")


def _check_duplicates(numbered: pl.DataFrame, source: Source) -> Iterator[Problem]:
    by_label = used_column(source.rule) == "label"
    key = ["split", "candidate_id", "aspect", *(["label"] if by_label else [])]
    repeated = numbered.filter(~pl.struct(key).is_first_distinct())
    for row, name, aspect in repeated.select("row", "candidate_id", "aspect").iter_rows():
        message = f'{shown(name)} is annotated twice under "{aspect}"'
        message += " with the same label" if by_label else ""
        yield Problem(row, "candidate_id", message, "keep one of the rows, or give each its own id")
