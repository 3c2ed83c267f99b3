"""The levels of nested JSON: the objects of lists, and the fields that they share."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
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
    if not is_list and ("." in each or _has_digits(records)):
        found = _objects_in(Field((), records), is_keyed=True)
    else:
        found = Level((), None, range(len(records)), None, ()), records
    if found is not None:
        _add_level(levels, *found, each)
    return levels


def _add_level(
    levels: list[Level], level: Level, objects: Sequence[Any], each: Collection[str]
) -> None:
    """Add a level, with the fields of its objects and the levels below it."""
    number, fields = len(levels), list(level.fields)
    around = path_of(levels, level.above) + level.path
    below: list[tuple[Level, Sequence[Any]]] = []
    for field in _fields(objects, (), around, each):
        inner = _objects_in(field, is_keyed=_is_keyed(field.path, field.values, around, each))
        if inner is None or _depth(levels, level.above) >= _DEEPEST:
            fields.append(field)
        else:
            below.append(inner)
    levels.append(replace(level, fields=tuple(fields)))
    for lower, items in below:
        _add_level(levels, replace(lower, above=number), items, each)


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


def _objects_in(field: Field, *, is_keyed: bool) -> tuple[Level, Sequence[Any]] | None:
    """Return the objects in the lists of a field, or under its keys, which have one or a list.

    Their level has no fields yet except the key, and no level above.
    """
    filled = [(owner, value) for owner, value in enumerate(field.values) if value]
    entries = [("", *entry) for entry in filled]
    kind = None
    if is_keyed:
        entries = [(key, owner, inner) for owner, value in filled for key, inner in value.items()]
        kind = "list" if any(isinstance(value, list) for *_, value in entries) else "object"
    elif not all(isinstance(value, list) for _, value in filled):
        return None
    found = [
        (key, owner, item)
        for key, owner, value in entries
        for item in (value if isinstance(value, list) else [value])
    ]
    if not found or not all(isinstance(item, dict) for *_, item in found):
        return None
    keys, owners, objects = (list(column) for column in zip(*found, strict=True))
    own = (Field((), keys),) if is_keyed else ()
    missing = tuple(owner for owner, value in enumerate(field.values) if value is None)
    return Level(field.path, None, owners, kind, own, missing), objects


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
        # Path of an object → path of an object or list in it → the fields of that.
        inside = defaultdict[tuple[str, ...], dict[tuple[str, ...], set[tuple[str, ...]]]](dict)
        for field in level.fields:
            for place in range(1, len(field.path)):
                shapes = inside[field.path[: place - 1]]
                shapes.setdefault(field.path[:place], set()).add(field.path[place:])
            if any(isinstance(value, dict) and value for value in field.values):
                found[".".join(around + field.path)] = None
        of_objects = {*inside}
        for other in levels:
            if other.above == number and other.path[:-1] not in of_objects:
                inside[other.path[:-1]][other.path] = {field.path for field in other.fields}
        plain = {field.path[:-1] for field in level.fields if field.path}
        for path, shapes in inside.items():
            if len(shapes) > 1 and path not in plain and _is_one(shapes.values()):
                found[".".join(around + path) or "."] = None
    return list(found)


def _is_one(shapes: Collection[set[tuple[str, ...]]]) -> bool:
    """Say whether sets of fields are similar: each has most of all fields."""
    union = set().union(*shapes)
    return all(2 * len(shape) > len(union) for shape in shapes)
