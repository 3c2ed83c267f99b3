"""Checks that yield problems; the caller decides what to do about them."""

import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, cast

import polars as pl
from jsonschema import Draft202012Validator, validators
from jsonschema.exceptions import ValidationError, best_match
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from nnd.schemas.contract.bulk import suspects
from nnd.schemas.contract.schemas import (
    SCHEMA_NAMES,
    SchemaName,
    load_schema,
    optional_columns,
    polars_schema,
    rows_of,
)
from nnd.schemas.words.errors import NNDError, one_line
from nnd.schemas.words.texts import excerpt, has_surrogate

_LONGEST_MESSAGE = 200
_END = re.compile(r"(?<!\\)\$")
"""The end of a text, as the patterns of JSON Schema (ECMA-262) write it."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with a set of rows.

    Attributes:
        row: Zero-based row, or None if the problem is not in a row.
        path: Field within the row, `/` between levels; empty for the row as a whole.
        message: What is wrong.
        remedy: What to do about it.
    """

    row: int | None
    path: str
    message: str
    remedy: str

    def __str__(self) -> str:
        return one_line(f"{self._where()}: {self.message} ({self.remedy})".removeprefix(": "))

    def _where(self) -> str:
        row = "" if self.row is None else f"row {self.row}"
        return ", ".join(filter(None, (row, self.path)))

    def error(self, family: type[NNDError], code: str, place: object) -> NNDError:
        """Return the problem as an error in a file or another place."""
        return family(code, self.message, self._where(), self.remedy).inside(place)


def check_rows(name: SchemaName, rows: Iterable[Mapping[str, Any]]) -> Iterator[Problem]:
    """Yield every way in which `rows` break the JSON Schema `name`, in the order of the rows.

    NaN and infinity are not valid numbers, because JSON has neither. Half a surrogate pair is not a
    valid text: JSON can spell it, but UTF-8 cannot encode it.
    """
    validator = _validator(name)
    for number, row in enumerate(rows):
        for error in validator.iter_errors(row):
            yield _problem(number, error)


def check_document(name: SchemaName, document: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield what is wrong with the form of a document; the path of a problem is the part of it."""
    for problem in check_rows(name, [document]):
        yield replace(problem, row=None)


def check_frame(name: SchemaName, frame: pl.DataFrame) -> Iterator[Problem]:
    """Yield every way in which a stored frame breaks schema `name`: its columns, then its rows."""
    wrong = list(_check_columns(polars_schema(name), optional_columns(name), frame.schema))
    yield from wrong
    if wrong:
        return
    doubtful = suspects(name, frame)
    for problem in check_rows(name, rows_of(frame[doubtful])):
        yield replace(problem, row=doubtful[cast("int", problem.row)])


def _check_columns(expected: pl.Schema, optional: pl.Schema, found: pl.Schema) -> Iterator[Problem]:
    known = {**expected, **optional}
    for column, dtype in known.items():
        if column not in found:
            if column not in optional:
                yield Problem(None, column, "column is missing", f"add it as {dtype}")
        elif found[column] != dtype:
            yield Problem(None, column, f"column is {found[column]}", f"store it as {dtype}")
    for column in found:
        if column not in known:
            yield Problem(None, column, "column is not in the contract", "leave it out")


@cache
def _validator(name: SchemaName) -> Draft202012Validator:
    types = Draft202012Validator.TYPE_CHECKER.redefine_many(
        {
            "number": _is_finite_number,
            "integer": lambda _, value: isinstance(value, int) and not isinstance(value, bool),
            "string": lambda _, value: isinstance(value, str) and not has_surrogate(value),
        }
    )
    strict: type[Draft202012Validator] = validators.extend(  # type: ignore[no-untyped-call]
        Draft202012Validator, {"pattern": _check_pattern}, type_checker=types
    )
    schema = load_schema(name)
    properties = {key: _referred(part) for key, part in schema["properties"].items()}
    # Those referred to are found by their $id; without it, each document is searched for them.
    parts = [DRAFT202012.create_resource(part) for part in properties.values() if "$id" in part]
    known = Registry().with_resources((part.contents["$id"], part) for part in parts)
    return strict({**schema, "properties": properties}, registry=known)


def _referred(part: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schema that a property refers to by its $id, else its own."""
    name = str(part.get("$ref")).removeprefix("urn:nnd:schema:")
    return load_schema(name) if name in SCHEMA_NAMES else part


def _check_pattern(
    _validator: object, pattern: str, text: object, _schema: object
) -> Iterator[ValidationError]:
    """Check a pattern whose `$` is the end of the text, not also before a last line break."""
    if isinstance(text, str) and not re.search(_END.sub(r"\\Z", pattern), text):
        yield ValidationError(f"{text!r} does not match {pattern!r}")


def _is_finite_number(_checker: object, value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) <= sys.float_info.max  # false for NaN, too


def _problem(row: int, error: ValidationError) -> Problem:
    error = best_match([error])
    path = "/".join(str(part) for part in error.absolute_path)
    quoted = repr(error.instance)
    message = error.message
    message = message.replace(quoted, excerpt(quoted), 1)
    if isinstance(error.instance, str) and has_surrogate(error.instance):
        message = f"{excerpt(quoted)} has half a surrogate pair, which is not a character"
    return Problem(row, path, excerpt(message, _LONGEST_MESSAGE), _remedy(error))


def _remedy(error: ValidationError) -> str:
    """Return what the field means, with an example, both from the schema."""
    field = error.schema if isinstance(error.schema, Mapping) else {}
    if error.validator == "additionalProperties":
        return f"known: {', '.join(field.get('properties', {}))}"
    if error.validator == "required" and isinstance(error.instance, Mapping):
        required = cast("list[str]", error.validator_value)
        missing = next((name for name in required if name not in error.instance), "")
        field = field.get("properties", {}).get(missing, {})
    meaning = field.get("description", "").rstrip(".")
    if meaning and "examples" in field:
        return f"{meaning}, for example {json.dumps(field['examples'][0], ensure_ascii=False)}"
    return (
        meaning
        or f"{error.validator} must be {json.dumps(error.validator_value, ensure_ascii=False)}"
    )
