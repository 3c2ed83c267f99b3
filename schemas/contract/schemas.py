"""The contract itself: the JSON Schemas, and the polars dtypes that follow from them."""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args

import polars as pl

SchemaName = Literal[
    "annotation",
    "pair",
    "human_score",
    "reference",
    "source",
    "manifest",
    "negatives",
    "result",
    "agreement",
    "comparison",
    "validity",
    "metrics",
    "slices",
    "history",
    "training",
    "selftest",
    "suite",
    "variation",
    "runs",
    "scorers",
]
SCHEMA_NAMES: tuple[SchemaName, ...] = get_args(SchemaName)

_HOST = r"[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*(:[0-9]{1,5})?"
URL = rf"https?://{_HOST}([/?#][A-Za-z0-9._~:/?#@&+,=%-]*)?"
"""A web address that is accepted from sources and shown as a link, as in source.schema.json.

An address from a source may come from anyone and ends up in cards that the Hub renders as HTML. So
only characters without a meaning in Markdown, HTML or YAML are allowed: no spaces, quotes, brackets
or backslashes, and no user or password before the host. Other characters can be written with
percent signs, and names of hosts in other scripts as `xn--…`.
"""

_SCALARS: dict[str, pl.DataType] = {
    "string": pl.String(),
    "number": pl.Float64(),
    "integer": pl.Int64(),
    "boolean": pl.Boolean(),
}
# Parquet's own map type is one that `datasets` cannot load, hence the list of entries.
_ENTRIES = pl.List(pl.Struct({"key": pl.String, "value": pl.String}))


@cache
def load_schema(name: SchemaName) -> Mapping[str, Any]:
    """Return the JSON Schema (draft 2020-12) called `name`, as a dict not to be changed."""
    path = Path(__file__).with_name(f"{name}.schema.json")
    schema: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return schema


def polars_schema(name: SchemaName) -> pl.Schema:
    """Return the columns and dtypes in which rows of schema `name` are stored.

    They follow from the JSON Schema: a string is String, a number Float64, an integer Int64, an
    array List, and an object of strings a List of {key, value}. Columns that a file may lack are
    not among them (`optional_columns`).
    """
    schema = load_schema(name)
    optional = optional_columns(name)
    columns = {column: _dtype(of) for column, of in schema["properties"].items()}
    return pl.Schema({column: kind for column, kind in columns.items() if column not in optional})


def optional_columns(name: SchemaName) -> pl.Schema:
    """Return the columns, with their dtypes, that files of schema `name` may have or lack."""
    schema = load_schema(name)
    required = schema["required"]
    optional = {key: of for key, of in schema["properties"].items() if key not in required}
    return pl.Schema({column: _dtype(of) for column, of in optional.items()})


def _dtype(spec: Mapping[str, Any]) -> pl.DataType:
    types = spec["type"] if isinstance(spec["type"], list) else [spec["type"]]
    (kind,) = (name for name in types if name != "null")
    if kind == "array":
        return pl.List(_dtype(spec["items"]))
    if kind == "object" and "properties" in spec:
        return pl.Struct({field: _dtype(of) for field, of in spec["properties"].items()})
    if kind == "object":
        return _ENTRIES
    return _SCALARS[kind]


def rows_of(frame: pl.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield the rows of a stored frame as the JSON objects the schemas describe.

    Lists of {key, value} become objects; other values do not change.
    """
    entries = [name for name, dtype in frame.schema.items() if dtype == _ENTRIES]
    for row in frame.iter_rows(named=True):
        for name in entries:
            if row[name] is not None:
                row[name] = {entry["key"]: entry["value"] for entry in row[name]}
        yield row
