"""Records: what is stored is described once, by a frozen dataclass.

The types of its fields say what is allowed, its docstring says what they mean. What is written
(`to_dict`), what is read back (`from_dict`), the JSON Schema (`json_schemas`) and the columns of a
frame (`frames`) follow from these two. A field without a default is required.
"""

import math
import operator
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, fields
from functools import cache, reduce
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Final,
    Literal,
    NamedTuple,
    Self,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints as type_hints,
)

from nnd.schemas.records.marks import SPARSE, UNSTORED, FlatKeys, Keys, Limit, StoredAs
from nnd.schemas.words.errors import SchemaError

_PLAIN: Final[Mapping[object, tuple[tuple[type, ...], str]]] = {
    bool: ((bool,), "true or false"),
    int: ((int,), "an integer"),
    float: ((int, float), "a number"),
    str: ((str,), "a string"),
    Path: ((str,), "a string"),
}
"""Type of a field → the types of its values in JSON, and their name; no `bool` is an `int`."""

_Mark = TypeVar("_Mark")


class Record:
    """Base of frozen dataclasses that are stored."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values, ready for JSON."""
        stored: dict[str, Any] = {}
        for name, key, shape, default in stored_fields(type(self)):
            value = getattr(self, name)
            if (flat := shape.mark(FlatKeys)) is not None:
                stored |= {f"{flat.prefix}{own}": each for own, each in plain(value).items()}
            elif SPARSE not in shape.marks or value != default:
                stored[key] = plain(value)
        return stored

    @classmethod
    def extend(cls, base: "Record", **more: Any) -> Self:  # noqa: ANN401 - of any field
        """Return a record of this class: the fields of one of its base class, and further ones."""
        names = [each.name for each in fields(base) if each.init]  # type: ignore[arg-type] # dataclass
        own = {name: getattr(base, name) for name in names}
        return cls(**own | more)

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any], **known: Any) -> Self:  # noqa: ANN401
        """Return the record that is stored as some plain values.

        Args:
            stored: The values. Those of fields with a default may be missing; others are ignored.
            known: Fields that are not read.

        Raises:
            SchemaError: If a field is missing, or has a value that is not allowed.
        """
        return cls(**known, **dict(_read_fields(cls, stored, known, "")))


class FieldType(NamedTuple):
    """A type, taken apart: its kind, without None; its marks; and whether it allows None."""

    kind: Any
    marks: tuple[Any, ...]
    is_optional: bool

    def mark(self, kind: type[_Mark]) -> _Mark | None:
        """Return the mark of some kind, or None."""
        return next((mark for mark in self.marks if isinstance(mark, kind)), None)


class RecordField(NamedTuple):
    """A stored field of a record: its name, its key, its type, its default or MISSING."""

    name: str
    key: str
    shape: FieldType
    default: Any


def plain(value: Any) -> Any:  # noqa: ANN401 - whatever a field holds
    """Return a value of a field as plain Python values."""
    if isinstance(value, Record):
        return value.to_dict()
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return str(value) if isinstance(value, Path) else value


def stored_fields(record: type[Record]) -> tuple[RecordField, ...]:
    """Return the stored fields of a record, in order."""
    return _stored_fields(record)  # type: ignore[arg-type] # mypy takes no class for hashable


@cache
def _stored_fields(record: type[Record]) -> tuple[RecordField, ...]:
    hints, stored = type_hints(record, include_extras=True), []
    for field in fields(record):  # type: ignore[arg-type] # it is a dataclass
        shape = shape_of(hints[field.name])
        renamed, make = shape.mark(StoredAs), field.default_factory
        default = field.default if make is MISSING else make()
        if UNSTORED not in shape.marks:
            key = field.name if renamed is None else renamed.name
            stored.append(RecordField(field.name, key, shape, default))
    return tuple(stored)


def shape_of(kind: Any) -> FieldType:  # noqa: ANN401 - any type
    """Take a type apart."""
    marks: tuple[Any, ...] = ()
    is_optional = False
    while True:
        if get_origin(kind) is Annotated:
            kind, marks = kind.__origin__, (*marks, *kind.__metadata__)
        elif get_origin(kind) in (Union, UnionType) and NoneType in get_args(kind):
            rest = (each for each in get_args(kind) if each is not NoneType)
            kind, is_optional = reduce(operator.or_, rest), True
        else:
            return FieldType(kind, marks, is_optional)


def _read_fields(
    record: type[Record], stored: object, known: Mapping[str, Any], where: str
) -> Iterator[tuple[str, Any]]:
    """Yield the name and the value of each field that is stored."""
    if not isinstance(stored, Mapping):
        raise SchemaError("contract.broken", f"{stored!r} is not an object", where.rstrip("/"))
    for name, key, shape, default in stored_fields(record):
        if name in known:
            continue
        if (flat := shape.mark(FlatKeys)) is not None:
            keys, n = shape.mark(Keys), len(flat.prefix)
            inner = {k[n:]: each for k, each in stored.items() if k.startswith(flat.prefix)}
            inner = {k: each for k, each in inner.items() if keys is None or k in keys.names}
            yield name, _read(shape, inner, where.rstrip("/"))
        elif key in stored:
            yield name, _read(shape, stored[key], f"{where}{key}")
        elif default is MISSING:
            raise SchemaError("contract.broken", f"{key} is missing", where.rstrip("/"))


def _read(shape: FieldType, value: Any, where: str) -> Any:  # noqa: ANN401 - any type
    """Return a value of some type from plain values."""
    if value is None and shape.is_optional:
        return None
    found = _read_kind(shape.kind, value, where)
    for mark in shape.marks:
        if isinstance(mark, Limit | Keys) and mark.refuses(found):
            raise SchemaError("contract.broken", f"{value!r} is not allowed, {mark}", where)
    return found


def _read_kind(kind: Any, value: Any, where: str) -> Any:  # noqa: ANN401 - any type
    origin, arguments = get_origin(kind) or kind, get_args(kind)
    if origin is Any or (origin is Literal and value in arguments):
        return value
    if isinstance(origin, type) and issubclass(origin, Record):
        return origin(**dict(_read_fields(origin, value, {}, f"{where}/" if where else "")))
    if origin in (dict, Mapping) and isinstance(value, Mapping):
        inside = f"{where}/" if where else ""
        shape = shape_of(arguments[1])
        return {key: _read(shape, each, f"{inside}{key}") for key, each in value.items()}
    if origin in (tuple, Sequence) and isinstance(value, list | tuple):
        is_fixed = origin is tuple and ... not in arguments
        shapes = [*map(shape_of, arguments if is_fixed else arguments[:1] * len(value))]
        if len(shapes) == len(value):
            read = zip(shapes, value, strict=True)
            return tuple(_read(own, each, f"{where}/{n}") for n, (own, each) in enumerate(read))
    types, name = _PLAIN.get(origin, ((), "allowed"))
    if type(value) in types and not (isinstance(value, float) and not math.isfinite(value)):
        return origin(value)
    if origin is Literal:
        name = f"one of {', '.join(map(str, arguments))}"
    raise SchemaError("contract.broken", f"{value!r} is not {name}", where)
