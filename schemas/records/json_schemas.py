"""JSON Schemas (draft 2020-12) of records, which state types, marks and sentences of the fields."""

import inspect
import re
from collections.abc import Mapping, Sequence
from dataclasses import MISSING
from pathlib import Path
from typing import Any, Final, Literal, get_args, get_origin

from nnd.schemas.records.marks import ALWAYS, SPARSE, FlatKeys, Keys, Limit
from nnd.schemas.records.record import FieldType, Record, shape_of, stored_fields
from nnd.schemas.words.docstrings import sentences_in

_SCALARS: Final[Mapping[object, dict[str, str]]] = {
    Any: {},
    str: {"type": "string"},
    Path: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
}


def json_schema(name: str, *records: type[Record]) -> dict[str, Any]:
    """Return the schema of documents that hold the fields of some records."""
    definitions: dict[str, Any] = {}
    schemas = [_object(record, definitions) for record in records]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:nnd:schema:{name}",
        "title": name,
        **schemas[0],
        "properties": {k: each for schema in schemas for k, each in schema["properties"].items()},
        "required": [key for schema in schemas for key in schema["required"]],
        "$defs": dict(sorted(definitions.items())),
    }


def describe_fields(record: type) -> dict[str, str]:
    """Return name → description of the fields of a class, from the docstrings of it and its bases.

    Args:
        record: A class with `Attributes:` in its docstring, in Google's style.
    """
    found: dict[str, str] = {}
    for base in reversed(record.__mro__):
        found |= sentences_in(inspect.cleandoc(base.__doc__ or ""), "Attributes")
    return found


def _object(record: type[Record], definitions: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a record; those of records in it become definitions."""
    properties: dict[str, Any] = {}
    required: list[str] = []
    described = describe_fields(record)
    for field in stored_fields(record):
        shape = field.shape
        if (flat := shape.mark(FlatKeys)) is not None:
            is_record = isinstance(shape.kind, type) and issubclass(shape.kind, Record)
            whole = _object(shape.kind, definitions) if is_record else _schema(shape, definitions)
            start = flat.prefix
            properties |= {f"{start}{key}": each for key, each in whole["properties"].items()}
            required += [f"{start}{key}" for key in whole["required"]]
            continue
        if SPARSE in shape.marks:
            shape = shape._replace(is_optional=False)
        sentence = {"description": _as_json(described[field.name])}
        properties[field.key] = sentence | _schema(shape, definitions)
        if field.default is MISSING or ALWAYS in shape.marks:
            required.append(field.key)
    text = inspect.cleandoc(record.__doc__ or "").partition("\n\n")[0]
    return {"description": _as_json(" ".join(text.split())), **_closed(properties, required)}


def _schema(shape: FieldType, definitions: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a type."""
    schema = _schema_of_kind(shape, definitions)
    schema |= {mark.keyword: mark.argument for mark in shape.marks if isinstance(mark, Limit)}
    if not shape.is_optional or not schema:
        return schema
    if "enum" in schema:
        return {"enum": [*schema["enum"], None]}
    if "type" in schema:
        return schema | {"type": [schema["type"], "null"]}
    return {"oneOf": [schema, {"type": "null"}]}


def _schema_of_kind(shape: FieldType, definitions: dict[str, Any]) -> dict[str, Any]:
    kind = shape.kind
    origin, arguments = get_origin(kind) or kind, get_args(kind)
    if origin in _SCALARS:
        return dict(_SCALARS[origin])
    if origin is Literal:
        return {"enum": [*arguments]}
    if origin in (dict, Mapping):
        values, keys = _schema(shape_of(arguments[1]), definitions), shape.mark(Keys)
        if keys is None:
            return {"type": "object", "additionalProperties": values}
        sentences = keys.sentences or [f"{name.replace('_', ' ')}." for name in keys.names]
        return _closed(
            {
                name: {"description": sentence, **values}
                for name, sentence in zip(keys.names, sentences, strict=True)
            },
            [name for name in keys.names if name not in keys.later],
        )
    if origin in (tuple, Sequence):
        is_fixed = origin is tuple and ... not in arguments
        size = {"minItems": len(arguments), "maxItems": len(arguments)} if is_fixed else {}
        return {"type": "array", "items": _schema(shape_of(arguments[0]), definitions), **size}
    if origin.__name__ not in definitions:
        definitions[origin.__name__] = {}  # a record may contain itself
        definitions[origin.__name__] = _object(origin, definitions)
    return {"$ref": f"#/$defs/{origin.__name__}"}


def _closed(properties: Mapping[str, Any], required: list[str]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def _as_json(sentence: str) -> str:
    return re.sub(r"\bNone\b", "null", sentence)
