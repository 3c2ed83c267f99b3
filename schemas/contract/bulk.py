"""A fast check of which rows of a frame may break a schema, column by column.

It creates no Python objects. jsonschema then checks only the suspect rows, so being too strict here
costs only time.
"""

from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any

import polars as pl

from nnd.schemas.contract.schemas import SchemaName, load_schema

_ANNOTATIONS = {"description", "examples", "default"}


def suspects(name: SchemaName, frame: pl.DataFrame) -> pl.Series:
    """Return the numbers of the rows that may break schema `name`."""
    properties = load_schema(name)["properties"]
    fine = [
        _keeps(pl.col(column), spec)
        for column, spec in properties.items()
        if column in frame.columns  # the others are optional
    ]
    doubtful = ~reduce(pl.Expr.and_, fine)
    return frame.select(pl.arg_where(doubtful.fill_null(value=True))).to_series()


def _keeps(value: pl.Expr, spec: Mapping[str, Any]) -> pl.Expr:
    """Return whether each value keeps every keyword; null only if the type allows it."""
    words = {word: limit for word, limit in spec.items() if word not in _ANNOTATIONS}
    if unknown := words.keys() - _TESTS.keys():
        raise NotImplementedError(f"schema keywords {unknown}: add them to {__name__}")
    kept = reduce(pl.Expr.and_, [_TESTS[word](value, limit) for word, limit in words.items()])
    return pl.when(value.is_null()).then("null" in spec.get("type", "")).otherwise(kept)


def _all(value: pl.Expr, part: pl.Expr, spec: Mapping[str, Any]) -> pl.Expr:
    return value.list.eval(_keeps(part, spec)).list.all()


_TESTS: Mapping[str, Callable[[pl.Expr, Any], pl.Expr]] = {
    # Given the dtype of a column, only NaN and infinity do not have its type.
    "type": lambda value, types: value.is_finite() if "number" in types else pl.lit(True),
    "const": lambda value, limit: value == limit,
    "not": lambda value, spec: ~_keeps(value, spec),
    "minLength": lambda value, limit: value.str.len_chars() >= limit,
    "pattern": lambda value, limit: value.str.contains(limit),
    "minimum": lambda value, limit: value >= limit,
    "items": lambda value, spec: _all(value, pl.element(), spec),
    # Objects are stored as lists of {key, value}.
    "minProperties": lambda value, limit: value.list.len() >= limit,
    "propertyNames": lambda value, spec: _all(value, pl.element().struct.field("key"), spec),
    # A struct has exactly the fields of its dtype, which is checked before.
    "additionalProperties": lambda value, spec: (
        _all(value, pl.element().struct.field("value"), spec) if spec else pl.lit(True)
    ),
    "properties": lambda value, specs: reduce(
        pl.Expr.and_, [_keeps(value.struct.field(name), spec) for name, spec in specs.items()]
    ),
    "required": lambda _value, _names: pl.lit(True),
}
