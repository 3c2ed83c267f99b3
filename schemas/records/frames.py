"""Frames of records: a row each; the dtypes of the columns follow from the types of the fields.

A field that holds one value is a column. An interval makes two columns: `interval` makes low and
high, `lead_interval` makes lead_low and lead_high. A record makes those of its own fields, its name
before theirs: `equal_length` makes equal_length_low. Other fields make none.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal, TypeGuard, get_args, get_origin

import polars as pl

from nnd.schemas.records.record import Record, shape_of, stored_fields

_DTYPES: Final[Mapping[object, pl.DataType]] = {
    str: pl.String(),
    Literal: pl.String(),
    int: pl.Int64(),
    float: pl.Float64(),
    bool: pl.Boolean(),
}


def record_frame(
    columns: Sequence[str],
    rows: Iterable[tuple[Mapping[str, Any], Record]],
    *records: type[Record],
) -> pl.DataFrame:
    """Return some columns of records as a frame; columns that no record has hold strings.

    `rows` has, for each row, the values that are not of its record, and the record.
    """
    dtypes = {name: dtype for record in records for name, dtype in frame_schema(record).items()}
    cells = ({**known, **cells_of(record)} for known, record in rows)
    return pl.DataFrame(
        [[row.get(name) for name in columns] for row in cells],
        {name: dtypes.get(name, pl.String()) for name in columns},
        orient="row",
    )


def frame_schema(record: type[Record]) -> dict[str, pl.DataType]:
    """Return column → dtype of the fields of a record; an interval has two columns."""
    schema: dict[str, pl.DataType] = {}
    for field in stored_fields(record):
        kind = field.shape.kind
        if _is_interval(kind):
            schema |= dict.fromkeys(_ends(field.name), pl.Float64())
        elif (get_origin(kind) or kind) in _DTYPES:
            schema[field.name] = _DTYPES[get_origin(kind) or kind]
        elif _is_record(kind):
            own = frame_schema(kind)
            schema |= {f"{field.name}_{name}": dtype for name, dtype in own.items()}
    return schema


def cells_of(record: Record) -> dict[str, Any]:
    """Return column → value of the fields of a record (`frame_schema`)."""
    cells: dict[str, Any] = {}
    for field in stored_fields(type(record)):
        kind, value = field.shape.kind, getattr(record, field.name)
        if _is_interval(kind):
            cells |= zip(_ends(field.name), value or (None, None), strict=True)
        elif (get_origin(kind) or kind) in _DTYPES:
            cells[field.name] = value
        elif isinstance(value, Record):
            cells |= {f"{field.name}_{name}": cell for name, cell in cells_of(value).items()}
    return cells


def _is_record(kind: object) -> TypeGuard[type[Record]]:
    return isinstance(kind, type) and issubclass(kind, Record)


def _is_interval(kind: object) -> bool:
    ends = get_args(kind) if get_origin(kind) is tuple else ()
    return [shape_of(end).kind for end in ends] == [float, float]


def _ends(interval: str) -> tuple[str, str]:
    start = interval.removesuffix("interval")
    return f"{start}low", f"{start}high"
