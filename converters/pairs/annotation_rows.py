"""Annotations collected into a frame, with every row checked."""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import replace
from itertools import accumulate, chain, islice
from types import NoneType
from typing import Any, TypeVar

import polars as pl
import pyarrow as pa

from nnd.converters import Annotation, Span
from nnd.converters.pairs.annotation_checks import check_annotations
from nnd.converters.source import Source
from nnd.schemas import (
    Problem,
    SourceError,
    check_frame,
    check_rows,
    optional_columns,
    polars_schema,
)

ORDER = ("split", "context_id", "candidate_id", "aspect", "label", "group")
"""Rows are stored in this order, whatever the order of the file."""

Item = TypeVar("Item", bound=Hashable)

CHUNK = 50_000
"""Number of annotations held as Python objects at a time."""


def annotation_frame(source: Source, annotations: Iterable[Annotation]) -> pl.DataFrame:
    """Return the checked annotations of a source, in the order and dtypes of stored files."""
    frames, places = [pl.DataFrame(schema=polars_schema("annotation"))], list[str]()
    numbering: dict[str, str] = {}
    remaining = iter(annotations)
    while chunk := list(islice(remaining, CHUNK)):
        frames.append(_chunk_frame(source, chunk, numbering))
        places += [annotation.where for annotation in chunk]
    # Only some chunks may have spans, which are optional.
    frame = pl.concat(
        frames, rechunk=True, how="diagonal"
    )  # gathering from lists of several chunks is slow
    raise_first(check_annotations(source, frame), places)
    frame = frame.sort(ORDER, nulls_last=True)
    # Number annotators again, in the order of the stored rows rather than of the file.
    return frame.with_columns(_number(frame["annotators"], {}))


def _number(annotators: pl.Series, numbering: dict[str, str]) -> pl.Series:
    """Replace annotators' names by `a1`, `a2` …, adding new names to `numbering`.

    An empty name stays, so that the check of rows finds it.
    """
    for name in annotators.explode().drop_nulls().unique(maintain_order=True):
        if name:
            numbering.setdefault(name, f"a{len(numbering) + 1}")
    return annotators.list.eval(pl.element().replace(numbering)) if numbering else annotators


def raise_first(problems: Iterator[Problem], places: Sequence[str]) -> None:
    """Raise an error for the first problem, with its place and the number of others."""
    first = next(problems, None)
    if first is None:
        return
    more = sum(1 for _ in problems)
    where = "" if first.row is None else places[first.row]
    rest = f" (and {more} more like it)" if more else ""
    raise replace(first, row=None, message=f"{first.message}{rest}").error(
        SourceError, "row.wrong-shape", where
    )


def _chunk_frame(
    source: Source, chunk: Sequence[Annotation], numbering: dict[str, str]
) -> pl.DataFrame:
    for annotation in chunk:
        if not isinstance(annotation, Annotation):
            raise SourceError(
                "source.definition",
                f"annotations(files) gave something of type {type(annotation).__name__}",
                source.folder / "convert.py",
                "it must yield nnd.converters.annotation.Annotation",
            )
    places = [annotation.where for annotation in chunk]
    try:
        frame = _build(source, chunk, numbering)
    except (AttributeError, TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
        # A value has the wrong type; checking the schema finds which one.
        raise_first(check_rows("annotation", (_row(source, one) for one in chunk)), places)
        raise
    raise_first(check_frame("annotation", frame), places)
    return frame


def _build(source: Source, chunk: Sequence[Annotation], numbering: dict[str, str]) -> pl.DataFrame:
    """Build the columns with the strict types of JSON: polars alone would turn True into 1."""
    values = zip(*chunk, strict=True)
    columns: dict[str, Any] = dict(zip(Annotation._fields, values, strict=True))
    numbers = chain(columns["score"], *filter(None, columns["ratings"]))
    if bool in map(type, numbers):
        raise TypeError("a truth value where a number belongs")
    if str in map(type, columns["annotators"]):
        raise TypeError("a text where a list of texts belongs")
    if bytes in map(type, chain.from_iterable(filter(None, columns["annotators"]))):
        raise TypeError("bytes where a text belongs")
    default = source.facts["languages"][0]
    columns["language"] = [language or default for language in columns["language"]]
    columns["source"] = [source.name] * len(chunk)
    for name in ("inputs", "metadata"):
        columns[name] = _entries(columns[name])
    schema = polars_schema("annotation")
    if any(spans is not None for spans in columns["spans"]):
        schema = pl.Schema({**schema, **optional_columns("annotation")})
        columns["spans"] = [_span_objects(spans) for spans in columns["spans"]]
    # Polars would find this too, but takes minutes if values are hundreds of levels deep.
    single = [columns[name] for name, kind in schema.items() if not kind.is_nested()]
    if not all({list, dict}.isdisjoint(map(type, values)) for values in single):
        raise TypeError("a list or an object where a text or a number belongs")
    contexts, places = _number_distinct(columns["context"])
    columns["context"] = pl.Series(contexts, dtype=pl.String).gather(places)
    # Polars would make a series of each list: a third of the time of converting votes.
    columns["ratings"] = _lists(columns["ratings"], pl.Float64)
    columns["annotators"] = _number(
        _lists(columns["annotators"], pl.String).alias("annotators"), numbering
    )
    return pl.DataFrame([pl.Series(name, columns[name], kind) for name, kind in schema.items()])


def _span_objects(spans: Sequence[Span] | None) -> list[dict[str, Any]] | None:
    """Return spans as the objects that the schema describes, in the order of their places.

    That of the source may be the order of its lines, which means nothing.
    """
    return None if spans is None else [span._asdict() for span in sorted(spans, key=_place_of)]


def _place_of(span: Span) -> tuple[Any, ...]:
    place = (span.start is None, span.start or 0, span.end or 0)
    return *place, span.label or "", span.severity or "", span.derived


def _entries(inputs: Sequence[Mapping[str, str]]) -> pl.Series:
    objects = {id(parts): parts for parts in inputs}  # mostly one for all candidates of a context
    distinct, numbers = _number_distinct(tuple(parts.items()) for parts in objects.values())
    number_of = dict(zip(objects, numbers, strict=True))
    places = [number_of[id(parts)] for parts in inputs]
    if not all(isinstance(text, str) for parts in distinct for pair in parts for text in pair):
        raise TypeError("a part of a context that is not text")
    keys = [key for parts in distinct for key, _ in parts]
    values = [value for parts in distinct for _, value in parts]
    # Polars would make a frame of each list of objects: a fifth of the time of gathering.
    entries = pa.StructArray.from_arrays(
        [_flat(keys, pl.String), _flat(values, pl.String)], ["key", "value"]
    )
    lists = pl.Series(pa.LargeListArray.from_arrays(_ends(distinct), entries))
    return lists.cast(polars_schema("annotation")["inputs"]).gather(places)


def _lists(values: Sequence[Sequence[Any] | None], item: type[pl.DataType]) -> pl.Series:
    if not {list, tuple, NoneType}.issuperset(map(type, values)):
        raise TypeError("something else where a list belongs")
    lists = [each or () for each in values]
    missing = _flat([each is None for each in values], pl.Boolean)
    flat = _flat(list(chain.from_iterable(lists)), item)
    return pl.Series(pa.LargeListArray.from_arrays(_ends(lists), flat, mask=missing))


def _ends(lists: Iterable[Sized]) -> pa.Array:
    return _flat(list(accumulate(map(len, lists), initial=0)), pl.Int64)


def _flat(items: list[Any], kind: type[pl.DataType]) -> pa.Array:
    """Return an array of Arrow, made by polars: `pa.array` would import pandas."""
    return pl.Series(items, dtype=kind).to_arrow()


def _number_distinct(items: Iterable[Item]) -> tuple[list[Item], list[int]]:
    """Return the distinct items, and the index among them of every item."""
    numbers: dict[Item, int] = {}
    places = [numbers.setdefault(item, len(numbers)) for item in items]
    return list(numbers), places


def _row(source: Source, annotation: Annotation) -> dict[str, Any]:
    """Return an annotation as the JSON object that the schema describes."""
    row = annotation._asdict()
    del row["where"]
    for name in ("inputs", "metadata"):
        if isinstance(row[name], Mapping):
            row[name] = dict(row[name])
    if isinstance(names := row["annotators"], list | tuple):
        row["annotators"] = ["a1" if name and isinstance(name, str) else name for name in names]
    if isinstance(row["ratings"], tuple):
        row["ratings"] = list(row["ratings"])
    row["spans"] = _span_objects(row["spans"])
    language = row["language"] or source.facts["languages"][0]
    return row | {"source": source.name, "language": language}
