"""Changes of what a converter reads: rows in another order, or other values in a column."""

import copy
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from nnd.converters.onboard.contents.level_columns import columns_in
from nnd.converters.onboard.contents.reading_files import Value

T = TypeVar("T")

_RECORDS = 600
_BLOCKS = 12


class Swap(NamedTuple):
    """Values of a column, and what to read in place of them."""

    # File and part of each place of the column; the part of a file with one is empty.
    places: Sequence[tuple[str, str]]
    path: str  # the path of the column
    is_tail: bool  # whether only the last items of its lists that have several are changed
    values: dict[Any, Any]  # value → what is read instead; other values stay


class Change(NamedTuple):
    """What is changed: the order of rows, a column, or nothing except that a sample is read."""

    shuffles: bool = False
    samples: bool = False
    swap: Swap | None = None


@dataclass
class Changer:
    """Applies a change to what `Files` reads, and notes the names of the files.

    The samples are kept for other changes of the same files.
    """

    change: Change
    samples: dict[tuple[object, ...], Value]
    files: set[str] = field(default_factory=set)

    def __call__(self, key: tuple[str, ...], load: Callable[[], Value]) -> Value:
        """Return the changed content of a file; `key` is as in `Files.change`."""
        name, part, *_ = key
        self.files.add(name)
        value = self._sample(key, load) if self.change.samples else load()
        if self.change.shuffles:
            value = shuffle(value, random.Random(0))  # noqa: S311 - it guards no secret
        swap = self.change.swap
        if swap is not None and any(_is_at(place, name, part) for place in swap.places):
            column = columns_in(value).get(swap.path)
            for holder, place in column.places(is_tail=swap.is_tail) if column else ():
                holder[place] = swap.values.get(holder[place], holder[place])
        return value

    def _sample(self, key: tuple[str, ...], load: Callable[[], Value]) -> Value:
        if key not in self.samples:
            self.samples[key] = sample_of(load())
        return copy.deepcopy(self.samples[key])


def _is_at(place: tuple[str, str], name: str, part: str) -> bool:
    """Say whether a file is that place; a member may be named without its folders."""
    return name == place[0] and f"/{place[1]}".endswith(f"/{part}")


def sample_of(value: Value) -> Value:
    """Return a sample of a part's records, in blocks spread over it."""
    if isinstance(value, dict) and len(value) <= _RECORDS:
        return {
            key: sample_of(inner) if isinstance(inner, list) else inner
            for key, inner in value.items()
        }
    entries = list(value.items()) if isinstance(value, dict) else value
    if isinstance(entries, list) and len(entries) > _RECORDS:
        size = _RECORDS // _BLOCKS
        starts = range(0, len(entries) - size + 1, (len(entries) - size) // (_BLOCKS - 1))
        entries = [entry for start in starts for entry in entries[start : start + size]]
    return dict(entries) if isinstance(value, dict) else entries


def shuffle(value: Value, chance: random.Random) -> Value:
    """Return rows in another order: those of a table, lines of JSON, or the entries of a JSON list.

    For a JSON object, its entries and those of its lists of objects.
    """
    if isinstance(value, dict):
        entries = [(key, _rows(inner, chance)) for key, inner in value.items()]
        return dict(_in_another_order(entries, chance))
    return _in_another_order(value, chance) if isinstance(value, list) else value


def _rows(value: Value, chance: random.Random) -> Value:
    """Shuffle a list of objects; other lists may be columns, or the words of a text."""
    is_rows = isinstance(value, list) and all(isinstance(one, dict) for one in value)
    return _in_another_order(value, chance) if is_rows else value


def _in_another_order(rows: list[T], chance: random.Random) -> list[T]:
    """Return the rows in a different order, if there are two."""
    found = chance.sample(rows, len(rows))
    return found if found != rows else found[::-1]
