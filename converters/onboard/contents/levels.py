"""The levels of nested JSON: the objects of lists, and the fields that they share."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

KEY = "*"
"""Last part of the name of a key: `outputs.*` for the keys above outputs."""

_DEEPEST = 6
_MANY_KEYS = 50


@dataclass(frozen=True, slots=True)
class Field:
    """A column of a table, or a field of the objects of one level."""

    # Keys from the object to the field: one for a column, none for the object's own key.
    path: tuple[str, ...]
    values: Sequence[Any]  # one per object; None if the object lacks it


@dataclass(frozen=True, slots=True)
class Level:
    """The objects of one level: the rows of a table, or the items of lists in JSON."""

    path: tuple[str, ...]  # keys from an object of the level above to them
    above: int | None  # number of the level above; None for the outermost
    owners: Sequence[int]  # for every object, the number of the object above that holds it
    # If the objects are under keys that are data: whether each key has an `object` or a `list` of
    # them; None if they are in a list.
    keys: str | None
    fields: tuple[Field, ...]
    # Numbers of the objects above that have null or nothing in place of a list.
    missing: tuple[int, ...] = ()


def lay_out(
    records: Sequence[Mapping[str, Any]], *, is_list: bool, each: Collection[str] = ()
) -> list[Level]:
    """Return the levels of objects, the outermost first.

    Args:
        records: The objects of a list, or a single object that holds everything.
        is_list: Whether the file is a list.
        each: Dotted paths of objects whose keys are data; `.` is the outermost.
    """
    levels: list[Level] = []
    outermost = Field((), records)
    is_keyed = not is_list and ("." in each or _has_digits(records))
    found = _under_keys(outermost) if is_keyed else _Objects((), records)
    if found is not None:
        _add_level(levels, found, None, each)
    return levels


@dataclass(frozen=True, slots=True)
class _Objects:
    """Objects in the lists of another level; the other fields are those of their `Level`."""

    path: tuple[str, ...]
    objects: Sequence[Any]
    keys: Sequence[str] | None = None
    kind: str | None = None
    owners: Sequence[int] | None = None
    missing: tuple[int, ...] = ()


def _add_level(
    levels: list[Level], found: _Objects, above: int | None, each: Collection[str]
) -> None:
    number = len(levels)
    around = path_of(levels, above) + found.path
    fields = [] if found.keys is None else [Field((), found.keys)]
    below: list[_Objects] = []
    for field in _fields(found.objects, (), around, each):
        inner = _objects_in(field, is_keyed=_is_keyed(field.path, field.values, around, each))
        if inner is None or _depth(levels, above) >= _DEEPEST:
            fields.append(field)
        else:
            below.append(inner)
    owners = range(len(found.objects)) if found.owners is None else found.owners
    levels.append(Level(found.path, above, owners, found.kind, tuple(fields), found.missing))
    for inner in below:
        _add_level(levels, inner, number, each)


def path_of(levels: Sequence[Level], number: int | None) -> tuple[str, ...]:
    """Return the keys from the outermost object to the objects of a level."""
    if number is None:
        return ()
    return path_of(levels, levels[number].above) + levels[number].path


def _depth(levels: Sequence[Level], number: int | None) -> int:
    return 0 if number is None else 1 + _depth(levels, levels[number].above)


def _fields(
    objects: Sequence[Any], path: tuple[str, ...], around: tuple[str, ...], each: Collection[str]
) -> Iterator[Field]:
    """Yield the fields of objects; fields of inner objects have longer paths."""
    for name in dict.fromkeys(key for item in objects if item is not None for key in item):
        values = [None if item is None else item.get(name) for item in objects]
        inner = (*path, name)
        filled = [value for value in values if value is not None]
        is_object = bool(filled) and all(isinstance(value, dict) for value in filled)
        is_spread = is_object and len({key for value in filled for key in value}) <= _MANY_KEYS
        if is_spread and not _is_keyed(inner, values, around, each) and len(inner) <= _DEEPEST:
            yield from _fields(values, inner, around, each)
        else:
            yield Field(inner, values)


def _objects_in(field: Field, *, is_keyed: bool) -> _Objects | None:
    filled = [value for value in field.values if value]
    if is_keyed:
        return _under_keys(field)
    lists = bool(filled) and all(isinstance(value, list) for value in filled)
    if lists and all(isinstance(item, dict) for value in filled for item in value):
        pairs = [(owner, item) for owner, value in enumerate(field.values) for item in value or ()]
        owners, items = [owner for owner, _ in pairs], [item for _, item in pairs]
        return _Objects(field.path, items, None, None, owners, _missing(field))
    return None


def _under_keys(field: Field) -> _Objects | None:
    """Return the objects under the keys of a field's objects; a key has one or a list."""
    entries = [
        (owner, key, value)
        for owner, item in enumerate(field.values)
        for key, value in (item or {}).items()
    ]
    kind = "list" if any(isinstance(value, list) for _, _, value in entries) else "object"
    found = [
        (owner, key, item)
        for owner, key, value in entries
        for item in (value if isinstance(value, list) else [value])
    ]
    if not found or not all(isinstance(item, dict) for _, _, item in found):
        return None
    owners, keys, items = (list(column) for column in zip(*found, strict=True))
    return _Objects(field.path, items, keys, kind, owners, _missing(field))


def _missing(field: Field) -> tuple[int, ...]:
    return tuple(owner for owner, value in enumerate(field.values) if value is None)


def _is_keyed(
    path: tuple[str, ...], values: Sequence[Any], around: tuple[str, ...], each: Collection[str]
) -> bool:
    return ".".join(around + path) in each or _has_digits(values)


def _has_digits(objects: Sequence[Any]) -> bool:
    """Say whether all keys of some objects are numbers with objects under them, as in a list."""
    filled = [item for item in objects if item]
    return bool(filled) and all(
        isinstance(item, dict)
        and all(key.isdecimal() and isinstance(value, dict) for key, value in item.items())
        for item in filled
    )


def alike_objects(levels: Sequence[Level]) -> list[str]:
    """Return the paths of objects whose keys may be data: they hold similar or very many objects.

    They are written as `each` takes them.
    """
    found: dict[str, None] = {}
    for number, level in enumerate(levels):
        around = path_of(levels, number)
        children: dict[tuple[str, ...], dict[str, set[tuple[str, ...]]]] = {}
        for field in level.fields:
            for place in range(len(field.path) - 1):
                inner = children.setdefault(field.path[:place], {})
                inner.setdefault(field.path[place], set()).add(field.path[place + 1 :])
            if any(isinstance(value, dict) and value for value in field.values):
                found[".".join(around + field.path)] = None
        for path, shapes in children.items():
            inside = [shape for shape in shapes.values() if len(shape) > 0]
            if len(inside) > 1 and len(inside) == len({*_names(level, path)}) and _is_one(inside):
                found[".".join(around + path) or "."] = None
        lists = [other for other in levels if other.above == number]
        by_parent: dict[tuple[str, ...], list[Level]] = {}
        for other in lists:
            by_parent.setdefault(other.path[:-1], []).append(other)
        for path, alike in by_parent.items():
            shapes_of = [{field.path for field in other.fields} for other in alike]
            if len(alike) > 1 and not _names(level, path) and _is_one(shapes_of):
                found[".".join(around + path) or "."] = None
    return list(found)


def _names(level: Level, path: tuple[str, ...]) -> list[str]:
    size = len(path)
    inside = (field.path for field in level.fields if field.path[:size] == path)
    return list(dict.fromkeys(own[size] for own in inside if len(own) > size))


def _is_one(shapes: Sequence[set[tuple[str, ...]]]) -> bool:
    """Say whether sets of fields are similar: each has most of all fields."""
    union = set().union(*shapes)
    return all(2 * len(shape) > len(union) for shape in shapes)
