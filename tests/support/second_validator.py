"""The contract as a validator other than ours reads it: jsonschema-rs, written in Rust."""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

import jsonschema_rs

from nnd.schemas import SCHEMA_NAMES, SchemaName, load_schema


@cache
def _validator(name: SchemaName) -> jsonschema_rs.Draft202012Validator:
    schemas = [dict(load_schema(each)) for each in SCHEMA_NAMES]
    registry = jsonschema_rs.Registry([(schema["$id"], schema) for schema in schemas])
    return jsonschema_rs.Draft202012Validator(dict(load_schema(name)), registry=registry)


def problems(name: SchemaName, rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return what is wrong with rows, or with JSON objects, a line each."""
    return [
        f"{'/'.join(map(str, error.instance_path))}: {error.message}"
        for row in rows
        for error in _validator(name).iter_errors(dict(row))
    ]
