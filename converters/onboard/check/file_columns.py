"""The columns of the parts of files.

A column is the values at the same place of all records. That of nested JSON is named by its keys
(`questions.*.label`). `*` is any item of a list, or any key of an object whose keys are numbers or
varying names, such as ids and annotators.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

from nnd.converters.check import words_of

Value: TypeAlias = Any
"""A list of rows, each a dict by column, or any value of nested JSON."""

Keys: TypeAlias = tuple[str, ...]

ANY = "*"
_MANY_KEYS = 8


class Slot(NamedTuple):
    """A place that holds a value: a dict or list, and a key or index.

    It also states whether it is in the last of several items of a list.
    """

    holder: Any
    key: Any
    is_last: bool

    @property
    def value(self) -> Any:  # noqa: ANN401 - a JSON value may be anything
        """Its value."""
        return self.holder[self.key]


@dataclass(frozen=True)
class FileColumn:
    """The same place in all records, with the keys that lead there from a record."""

    path: Keys
    slots: list[Slot]

    @property
    def name(self) -> str:
        """The path in messages."""
        return ".".join(self.path[1:] if self.path[:1] == (ANY,) else self.path)

    @cached_property
    def words(self) -> set[str]:
        """The words of the last key, or of all keys if that is `*`."""
        return {*words_of(self.path[-1] if self.path[-1] != ANY else self.name)}

    @property
    def values(self) -> list[Hashable]:
        """The values of the places, without empty ones."""
        return [value for slot in self.slots if (value := slot.value) not in (None, "")]

    @property
    def texts(self) -> list[str]:
        """The values that are texts."""
        return [value for value in self.values if isinstance(value, str)]

    @property
    def tail(self) -> "FileColumn | None":
        """The last items of its lists that have several."""
        slots = [slot for slot in self.slots if slot.is_last]
        return FileColumn(self.path, slots) if slots else None


def columns_of(value: Value) -> dict[Keys, FileColumn]:
    """Return the columns of a part by path."""
    found: dict[Keys, FileColumn] = {}
    _collect([Slot([value], 0, is_last=False)], (), found)
    return found


def _collect(slots: Iterable[Slot], path: Keys, found: dict[Keys, FileColumn]) -> None:
    dicts, items = list[Slot](), list[Slot]()
    for slot in slots:
        if isinstance(slot.value, dict):
            dicts.append(slot)
        elif isinstance(slot.value, list):
            items += _items(slot, range(len(slot.value)), is_record=not path)
        else:
            found.setdefault(path, FileColumn(path, [])).slots.append(slot)
    if _is_keyed(dicts):
        items += [item for slot in dicts for item in _items(slot, slot.value, is_record=not path)]
        dicts = []
    if items:
        _collect(items, (*path, ANY), found)
    for key in dict.fromkeys(key for slot in dicts for key in slot.value):
        inner = [Slot(slot.value, key, slot.is_last) for slot in dicts if key in slot.value]
        _collect(inner, (*path, str(key)), found)


def _items(slot: Slot, keys: Iterable[Any], *, is_record: bool) -> Iterator[Slot]:
    keys = list(keys)
    for number, key in enumerate(keys, start=1):
        is_last = not is_record and 1 < number == len(keys)
        yield Slot(slot.value, key, is_last or (slot.is_last and len(keys) == 1))


def _is_keyed(dicts: list[Slot]) -> bool:
    """Say whether the keys of objects are numbers or varying names, not the names of fields."""
    counts = Counter(key for slot in dicts for key in slot.value)
    if not counts or all(str(key).isdecimal() for key in counts):
        return bool(counts)
    if len(counts) < _MANY_KEYS:
        return False
    is_nested = all(isinstance(value, dict) for slot in dicts for value in slot.value.values())
    return 2 * counts.total() < len(dicts) * len(counts) or (is_nested and len(dicts) == 1)
