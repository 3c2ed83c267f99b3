"""The columns of a file's parts: what stands at the same place of all its records.

A column of nested JSON goes by its keys (`questions.*.label`). `*` is any item of a list, and any
key of an object whose keys are numbers or names that vary, such as ids and annotators.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from nnd.converters.check_source.content import Value

Path: TypeAlias = tuple[str, ...]

ANY = "*"
_MANY_KEYS = 8


class Slot(NamedTuple):
    """A place that holds a value.

    Attributes:
        holder: The dict or list.
        key: Where in it.
        is_last: Whether it is in the last of several items of the list around it.
    """

    holder: Any
    key: Any
    is_last: bool

    @property
    def value(self) -> Any:  # noqa: ANN401 - a JSON value may be anything
        """What it holds."""
        return self.holder[self.key]


@dataclass(frozen=True, slots=True)
class Column:
    """The places that stand alike in all records.

    Attributes:
        path: The keys that lead there from a record.
        slots: The places.
    """

    path: Path
    slots: list[Slot]

    @property
    def name(self) -> str:
        """The path as messages have it."""
        return ".".join(self.path[1:] if self.path[:1] == (ANY,) else self.path)

    @property
    def values(self) -> list[Hashable]:
        """What the places hold, those with nothing in them left out."""
        return [value for slot in self.slots if (value := slot.value) not in (None, "")]

    @property
    def texts(self) -> list[str]:
        """Those values that are texts."""
        return [value for value in self.values if isinstance(value, str)]

    @property
    def tail(self) -> "Column | None":
        """The last items of its lists, where they have several."""
        slots = [slot for slot in self.slots if slot.is_last]
        return Column(self.path, slots) if slots else None


def columns_of(value: Value) -> dict[Path, Column]:
    """Return the columns of a part by path."""
    found: dict[Path, list[Slot]] = {}
    _collect([Slot([value], 0, is_last=False)], (), found)
    return {path: Column(path, slots) for path, slots in found.items()}


def _collect(slots: Iterable[Slot], path: Path, found: dict[Path, list[Slot]]) -> None:
    dicts, items = list[Slot](), list[Slot]()
    for slot in slots:
        value = slot.value
        if isinstance(value, dict):
            dicts.append(slot)
        elif isinstance(value, list):
            items += _items(slot, range(len(value)), is_record=not path)
        else:
            found.setdefault(path, []).append(slot)
    if items:
        _collect(items, _below(path), found)
    if _is_keyed(dicts):
        _collect(
            [item for slot in dicts for item in _items(slot, slot.value, is_record=not path)],
            _below(path),
            found,
        )
    else:
        for key in dict.fromkeys(key for slot in dicts for key in slot.value):
            inner = [Slot(s.value, key, s.is_last) for s in dicts if key in s.value]
            _collect(inner, (*path, str(key)), found)


def _below(path: Path) -> Path:
    """Return the path of the items: a record goes without."""
    return (*path, ANY) if path else (ANY,)


def _items(slot: Slot, keys: Iterable[Any], *, is_record: bool) -> Iterator[Slot]:
    keys = list(keys)
    for number, key in enumerate(keys, start=1):
        is_last = not is_record and 1 < number == len(keys)
        yield Slot(slot.value, key, is_last or (slot.is_last and len(keys) == 1))


def _is_keyed(dicts: list[Slot]) -> bool:
    """Whether the keys of objects are not the names of fields: numbers, or names that vary."""
    counts = Counter(key for slot in dicts for key in slot.value)
    if not counts or all(str(key).isdecimal() for key in counts):
        return bool(counts)
    if len(counts) < _MANY_KEYS:
        return False
    is_nested = all(isinstance(value, dict) for slot in dicts for value in slot.value.values())
    return 2 * counts.total() < len(dicts) * len(counts) or (is_nested and len(dicts) == 1)


def swap_values(column: Column) -> bool:
    """Put another of its values in every place of a column; say whether it has two to swap.

    Every value gives way to the next one, so that equal places stay equal.
    """
    values = {slot.value for slot in column.slots}
    empty = [value for value in (None, "") if value in values][:1]
    values -= {None, ""}
    truths = {value for value in values if isinstance(value, bool)}
    kinds = [{v for v in values - truths if isinstance(v, kind)} for kind in (str, int | float)]
    orders = [[*sorted(kind), *empty] for kind in kinds if kind]
    after = {v: w for order in orders for v, w in zip(order, order[1:] + order[:1], strict=True)}
    if len(truths) > 1:
        after |= {True: False, False: True}
    for slot in column.slots:
        slot.holder[slot.key] = after.get(slot.value, slot.value)
    return any(value != other for value, other in after.items())
