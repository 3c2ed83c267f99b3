"""The levels of nested JSON: objects that lie side by side in lists, and the fields they share."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

MOST_FIELDS = 300
"""Fields of a level that are looked at; a file with more holds something else than annotations."""

_DEEPEST = 6
_MANY_KEYS = 50
_READS_LIKE_TEXT = 20  # characters on average


@dataclass(frozen=True, slots=True)
class Field:
    """A column of a table, or a field of the objects of one level.

    Attributes:
        path: Keys from the object to the field; a column has one, the object's own key none.
        values: One per object; None where there is none.
    """

    path: tuple[str, ...]
    values: Sequence[Any]


@dataclass(frozen=True, slots=True)
class Level:
    """Objects that lie side by side: the rows of a table, or the items of lists in JSON.

    Attributes:
        path: Keys from an object of the level above to them.
        above: Which level that is; None for the outermost.
        owners: For every object the number of the one it lies in.
        keyed: Whether each lies under a key of its own, rather than in a list.
        fields: What they have.
        missing: Numbers of the objects above that have null, or nothing, where others have a list.
    """

    path: tuple[str, ...]
    above: int | None
    owners: Sequence[int]
    keyed: bool
    fields: tuple[Field, ...]
    missing: tuple[int, ...] = ()


def lay_out(records: Sequence[Mapping[str, Any]], *, is_list: bool) -> list[Level]:
    """Lay objects out in levels, the outermost first.

    Args:
        records: The objects of a list; or one that holds all, which is no list.
        is_list: Whether they are a list.
    """
    levels: list[Level] = []
    if not is_list and _is_keyed_outermost(records[0]):
        _add_level(levels, _Found((), list(records[0].values()), list(records[0])), None)
    elif records:
        _add_level(levels, _Found((), records), None)
    return levels


@dataclass(frozen=True, slots=True)
class _Found:
    """Objects that were found in the lists of another level (see `Level`)."""

    path: tuple[str, ...]
    objects: Sequence[Any]
    keys: Sequence[str] | None = None
    owners: Sequence[int] | None = None
    missing: tuple[int, ...] = ()


def _add_level(levels: list[Level], found: _Found, above: int | None) -> None:
    """Add a level and, behind it, those of the lists that its objects hold."""
    number = len(levels)
    fields = [] if found.keys is None else [Field((), found.keys)]
    below: list[_Found] = []
    for field in itertools.islice(_fields(found.objects, (), 0), MOST_FIELDS):
        inner = _objects_in(field)
        if inner is None:
            fields.append(field)
        else:
            below.append(inner)
    owners = range(len(found.objects)) if found.owners is None else found.owners
    keyed = found.keys is not None
    levels.append(Level(found.path, above, owners, keyed, tuple(fields), found.missing))
    for inner in below if _depth(levels, number) < _DEEPEST else ():
        _add_level(levels, inner, number)


def _depth(levels: Sequence[Level], number: int | None) -> int:
    return 0 if number is None else 1 + _depth(levels, levels[number].above)


def _fields(objects: Sequence[Any], path: tuple[str, ...], depth: int) -> Iterator[Field]:
    """Yield the fields of objects; those of an object within each are fields of a longer path."""
    names = dict.fromkeys(key for item in objects if item is not None for key in item)
    for name in names:
        values = [None if item is None else item.get(name) for item in objects]
        filled = [value for value in values if value is not None]
        is_object = bool(filled) and all(isinstance(value, dict) for value in filled)
        if is_object and not _is_keyed(filled) and depth < _DEEPEST:
            yield from _fields(values, (*path, name), depth + 1)
        else:
            yield Field((*path, name), values)


def _objects_in(field: Field) -> _Found | None:
    """Return the objects that a field's lists hold, or lie in it under keys; None: it has none."""
    filled = [value for value in field.values if value]
    missing = tuple(owner for owner, value in enumerate(field.values) if value is None)
    lists = bool(filled) and all(isinstance(value, list) for value in filled)
    if lists and all(isinstance(item, dict) for value in filled for item in value):
        pairs = [(owner, item) for owner, value in enumerate(field.values) for item in value or ()]
        owners, items = [owner for owner, _ in pairs], [item for _, item in pairs]
        return _Found(field.path, items, None, owners, missing)
    if filled and all(isinstance(value, dict) for value in filled) and _is_keyed(filled):
        found = [
            (owner, key, item)
            for owner, value in enumerate(field.values)
            for key, item in (value or {}).items()
        ]
        owners, keys, items = (list(column) for column in zip(*found, strict=True))
        return _Found(field.path, items, keys, owners, missing)
    return None


def _is_keyed_outermost(document: Mapping[str, Any]) -> bool:
    """Say whether a file is one object that holds the others, each under its key."""
    values = list(document.values())
    alike = len(values) > 1 and all(isinstance(value, dict) and value for value in values)
    return _is_keyed([document]) or (alike and len({frozenset(value) for value in values}) == 1)


def _is_keyed(objects: Sequence[Mapping[str, Any]]) -> bool:
    """Say whether the keys of objects are data, names of systems say, and not names of fields.

    They are where every value is an object, and where these share a text, or there are many.
    """
    values = [value for item in objects for value in item.values()]
    if all(len(item) == 1 for item in objects):
        return False
    if not values or not all(isinstance(value, dict) and value for value in values):
        return False
    if len({key for item in objects for key in item}) > _MANY_KEYS:
        return True
    for name in set.intersection(*(set(value) for value in values)):
        texts = [value[name] for value in values if isinstance(value[name], str)]
        if len(texts) == len(values) and sum(map(len, texts)) >= _READS_LIKE_TEXT * len(texts):
            return True
    return False
