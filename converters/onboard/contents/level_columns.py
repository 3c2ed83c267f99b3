"""The columns of files: paths into their rows or nested objects, with the values at each.

A path is what a `table:` section calls a column: `outputs[].errors[].type`, `answers.*.text`. The
level of a column is its path up to the last `[]` or `*`; columns of a level have their values in
the same order. `new-source` reads such columns, and `check-source` exchanges their values.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias

from nnd.converters.check import words_of
from nnd.schemas import spells_number

Kind: TypeAlias = Literal["empty", "number", "flag", "text"]

SAYS_LITTLE = ("text", "content", "value", "body")
"""Names that mean little without the name of the object."""

_LEVEL = re.compile(r"(.*(?:\[\]|\*))?")
_MANY_KEYS = 50


@dataclass(frozen=True, eq=False)
class Column:
    """A column, with its value in each row or object of its level; None where there is none."""

    path: str
    values: Sequence[Any]
    # For each value: the number of the outermost object, the object or list that holds it, its key
    # or place there, and whether it is in the last of several items of a list.
    owners: Sequence[int] = ()
    holders: Sequence[Any] = ()
    keys: Sequence[Any] = ()
    lasts: Sequence[bool] = ()

    @property
    def level(self) -> str:
        """Its path up to the last list or keyed object; empty for a column of a table."""
        return level_of(self.path)

    @property
    def holder(self) -> str:
        """The path of the object that holds it."""
        return self.path.rpartition(".")[0]

    @cached_property
    def name(self) -> str:
        """The last part of its path, or the last two if that says little."""
        parts = [part for part in re.split(r"\.|\[\]|\*", self.path) if part]
        size = 2 if parts and parts[-1].lower() in SAYS_LITTLE else 1
        return ".".join(parts[-size:])

    @property
    def pattern(self) -> str:
        """Its path in `unread` and in messages, with `*` for any item: `outputs.*.text`."""
        return self.path.removeprefix("*.").replace("[]", ".*").removeprefix(".")

    @property
    def field(self) -> str:
        """The key of its values; that of the first, if they are items of lists."""
        return str(self.keys[0])

    def places(self, *, is_tail: bool = False) -> Iterator[tuple[Any, Any]]:
        """Yield the holder and the key of each value that is there, or only of the last items."""
        for holder, key, is_last in zip(self.holders, self.keys, self.lasts, strict=True):
            is_there = isinstance(holder, list) or (isinstance(holder, Mapping) and key in holder)
            is_meant = is_there and (is_last or not is_tail)
            if is_meant and not isinstance(holder[key], Mapping | list):
                yield holder, key

    def followed_by(self, other: "Column") -> "Column":
        """Return the same column of these files and of others."""
        parts = ("values", "owners", "holders", "keys", "lasts")
        return Column(self.path, *([*getattr(self, n), *getattr(other, n)] for n in parts))

    @cached_property
    def words(self) -> frozenset[str]:
        """The words of its name."""
        return frozenset(words_of(self.name))

    @cached_property
    def all_words(self) -> frozenset[str]:
        """The words of its whole path."""
        return frozenset(words_of(self.path))

    @cached_property
    def cells(self) -> Sequence[str]:
        """Its values as a `table:` section reads them, without the missing and the blank."""
        texts = (text_of(value) for value in self.values if value is not None)
        return [text for text in texts if text.strip()]

    @cached_property
    def counts(self) -> Counter[str]:
        """The number of occurrences of each value."""
        return Counter(self.cells)

    @cached_property
    def kind(self) -> Kind:
        """The kind of its values; texts that all spell numbers are numbers."""
        filled = [value for value in self.values if value is not None and str(value).strip()]
        if not self.cells:
            return "empty"
        if all(isinstance(value, bool) for value in filled):
            return "flag"
        return "number" if all(map(_is_number, filled)) else "text"

    @cached_property
    def numbers(self) -> Sequence[float]:
        """Its values as numbers."""
        return [float(cell) for cell in self.cells]

    @property
    def is_full(self) -> bool:
        """Whether every row has a value."""
        return len(self.cells) == len(self.values)

    @property
    def repetition(self) -> float:
        """The mean number of occurrences of a value."""
        return len(self.cells) / max(len(self.counts), 1)

    @property
    def has_spaces(self) -> bool:
        """Whether any value has a space, unlike names and keys."""
        return any(" " in cell for cell in self.counts)

    @property
    def length(self) -> float:
        """The mean number of characters."""
        return sum(map(len, self.cells)) / max(len(self.cells), 1)


def text_of(value: object) -> str:
    """Return a value in the form in which a `table:` section reads it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value).replace("\r\n", "\n")


def level_of(path: str) -> str:
    """Return a path up to its last `[]` or `*`, or nothing."""
    found = _LEVEL.match(path)
    return (found and found[1]) or ""


def columns_of(records: Sequence[Any], *, is_list: bool = True) -> list[Column]:
    """Return the columns of rows or objects; a single object may have keys that are data."""
    size = len(records)
    whole = Column("", records, range(size), [records] * size, range(size), [False] * size)
    if not is_list and is_keyed(records):
        whole = _items_of(whole, "*", Mapping)
        size = len(whole.values)
        whole = replace(whole, owners=range(size), lasts=[False] * size)
    return list(_unnested(whole))


def columns_in(value: Any) -> dict[str, Column]:  # noqa: ANN401 - any JSON
    """Return the columns of the content of a file by path."""
    is_list = isinstance(value, list)
    found = columns_of(value if is_list else [value], is_list=is_list)
    return {column.path: column for column in found}


def _unnested(column: Column) -> Iterator[Column]:
    """Yield the columns in the values of a column, which may be objects and lists."""
    values, path = column.values, column.path
    objects = [value for value in values if isinstance(value, Mapping)]
    lists = [value for value in values if isinstance(value, list)]
    if objects and path and is_keyed(objects):
        yield from _unnested(_items_of(column, f"{path}.*", Mapping))
    elif objects:
        for name in dict.fromkeys(key for one in objects for key in one):
            inner = [one.get(name) if isinstance(one, Mapping) else None for one in values]
            keys = [name] * len(inner)
            below = f"{path}.{name}" if path else name
            field = replace(column, path=below, values=inner, holders=values, keys=keys)
            yield from _unnested(field)
    if lists:
        yield from _unnested(_items_of(column, f"{path}[]", list))
    plain = [None if isinstance(value, Mapping | list) else value for value in values]
    if not (objects or lists) or any(value not in (None, "") for value in plain):
        yield replace(column, values=plain)


def _items_of(column: Column, path: str, kind: type[Any]) -> Column:
    """Return the items of the lists, or the values of the objects, in a column."""
    found = [
        (holder[key], owner, holder, key, number == size if size > 1 else is_last)
        for holder, owner, is_last in zip(column.values, column.owners, column.lasts, strict=True)
        for size in ([len(holder)] if isinstance(holder, kind) else ())
        for number, key in enumerate(range(size) if kind is list else holder, start=1)
    ]
    return Column(path, *zip(*found, strict=True)) if found else Column(path, ())


def is_keyed(objects: Sequence[Mapping[str, Any]]) -> bool:
    """Say whether the keys of objects are data: they are numbers, very many, or hold one form."""
    keys = {key for one in objects for key in one}
    if len(keys) > _MANY_KEYS or (keys and all(key.isdecimal() for key in keys)):
        return True
    held = [value for one in objects for value in one.values()]
    forms = {frozenset(value) if isinstance(value, Mapping) else None for value in held}
    return len(keys) > 1 and len(forms) == 1 and all(form and len(form) > 1 for form in forms)


def _is_number(value: Any) -> bool:  # noqa: ANN401 - a value of a file may be anything
    if isinstance(value, bool):
        return False
    try:
        return spells_number(value) if isinstance(value, str) else math.isfinite(float(value))
    except (ValueError, OverflowError, TypeError):
        return False
