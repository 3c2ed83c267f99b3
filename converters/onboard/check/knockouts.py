"""The columns of the parts of files, and which of them a converter reads.

A column is the values at the same place of all records. That of nested JSON is named by its keys
(`questions.*.label`). `*` is any item of a list, or any key of an object whose keys are numbers or
varying names, such as ids and annotators. If a copy of the files with exchanged values of a column
gives the same annotations, the column is not read.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

from nnd.converters.onboard.check.file_content import Contents, Value
from nnd.converters.onboard.check.separate_run import Run
from nnd.converters.onboard.check.source_readings import Reading, copy_files
from nnd.converters.onboard.contents.level_columns import words_of

Keys: TypeAlias = tuple[str, ...]

ANY = "*"
_MANY_KEYS = 8

Effect: TypeAlias = Literal["judgement", "text", "other", "unread"]
"""What a column changes in annotations: labels and scores, texts, something else, nothing."""

Convert: TypeAlias = Callable[[Sequence[Reading]], list[Run]]

_RECORDS = 600
_BLOCKS = 12
_MOST_COLUMNS = 200
_LEAST_ROWS = 40
_TEXTS = ["context", "candidate"]
_JUDGEMENTS = [*_TEXTS, "aspect", "label", "score", "ratings"]


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
class Column:
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
    def tail(self) -> "Column | None":
        """The last items of its lists that have several."""
        slots = [slot for slot in self.slots if slot.is_last]
        return Column(self.path, slots) if slots else None


def columns_of(value: Value) -> dict[Keys, Column]:
    """Return the columns of a part by path."""
    found: dict[Keys, Column] = {}
    _collect([Slot([value], 0, is_last=False)], (), found)
    return found


def _collect(slots: Iterable[Slot], path: Keys, found: dict[Keys, Column]) -> None:
    dicts, items = list[Slot](), list[Slot]()
    for slot in slots:
        if isinstance(slot.value, dict):
            dicts.append(slot)
        elif isinstance(slot.value, list):
            items += _items(slot, range(len(slot.value)), is_record=not path)
        else:
            found.setdefault(path, Column(path, [])).slots.append(slot)
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


def swap_values(column: Column) -> bool:
    """Replace every value of a column by another of its values; say whether it has two.

    Every value is replaced by the next distinct one, so equal places stay equal.
    """
    values = {slot.value for slot in column.slots}
    empty = [value for value in (None, "") if value in values][:1]
    truths = [value for value in (True, False) if any(value is other for other in values)]
    kinds = [
        sorted(v for v in values - {""} if isinstance(v, kind) and not isinstance(v, bool))
        for kind in (str, int | float)
    ]
    orders: list[list[Any]] = [*([*kind, *empty] for kind in kinds if kind), truths]
    after = {v: w for order in orders for v, w in zip(order, order[1:] + order[:1], strict=True)}
    for slot in column.slots:
        slot.holder[slot.key] = after.get(slot.value, slot.value)
    return any(value != other for value, other in after.items())


@dataclass(frozen=True, slots=True)
class Family:
    """Parts whose records have the same fields.

    Attributes:
        places: File and part of each.
        columns: Their columns by path.
        effects: The effect of each; a column that could not be changed has none.
        tails: The effect of the last items of the lists of each.
    """

    places: list[tuple[str, str]]
    columns: dict[Keys, Column]
    effects: dict[Keys, Effect]
    tails: dict[Keys, Effect]


def fields_of(columns: Mapping[Keys, Column]) -> frozenset[str]:
    """Return the names of the outermost fields of the records of a part."""
    return frozenset(
        path[1] if path[:1] == (ANY,) and path[1:] else path[0] for path in columns if path
    )


def families_of(contents: Contents) -> list[Family]:
    """Return the parts of files, grouped by fields."""
    found: dict[frozenset[str], Family] = {}
    for name, parts in contents.items():
        for part, value in parts.items():
            columns = columns_of(value)
            family = found.setdefault(fields_of(columns), Family([], {}, {}, {}))
            family.places.append((name, part))
            for path, column in columns.items():
                family.columns.setdefault(path, Column(path, [])).slots.extend(column.slots)
    return list(found.values())


def try_columns(
    readings: Sequence[Reading], contents: Contents, place: Path, convert: Convert
) -> list[Family]:
    """Change the columns of files one after the other, and find their effects.

    Args:
        readings: The files in one set and each variant; a column is read if any of them reads it.
        contents: The content of the files.
        place: A new folder for copies.
        convert: Converts readings.
    """
    samples = {
        name: {part: _sample(one) for part, one in own.items()} for name, own in contents.items()
    }
    # A sample may lack related records.
    for number, tried in enumerate([samples, contents] if samples != contents else [contents]):
        families = families_of(tried)
        rows = _try(readings, tried, families, place / str(number), convert)
        if rows >= _LEAST_ROWS or (rows and tried is contents):
            return families
    return families_of(contents)


def _sample(value: Value) -> Value:
    """Return a sample of a part's records, in blocks spread over it."""
    if isinstance(value, dict) and len(value) <= _RECORDS:
        return {
            key: _sample(inner) if isinstance(inner, list) else inner
            for key, inner in value.items()
        }
    entries = list(value.items()) if isinstance(value, dict) else value
    if isinstance(entries, list) and len(entries) > _RECORDS:
        size = _RECORDS // _BLOCKS
        starts = range(0, len(entries) - size + 1, (len(entries) - size) // (_BLOCKS - 1))
        entries = [entry for start in starts for entry in entries[start : start + size]]
    return dict(entries) if isinstance(value, dict) else entries


def _try(
    readings: Sequence[Reading],
    contents: Contents,
    families: Sequence[Family],
    place: Path,
    convert: Convert,
) -> int:
    """Note the effects of columns in families; return the number of annotations."""
    jobs = [
        (noted, path, column)
        for family in families
        for path, whole in family.columns.items()
        for noted, column in ((family.effects, whole), (family.tails, whole.tail))
        if column is not None
    ][:_MOST_COLUMNS]
    files = readings[0].files
    copies, changed = [copy_files(files, contents, place / "base")], []
    for number, (noted, path, column) in enumerate(jobs):
        before = [slot.value for slot in column.slots]
        if swap_values(column):
            copies.append(copy_files(files, contents, place / str(number)))
            changed.append((noted, path))
        for slot, value in zip(column.slots, before, strict=True):
            slot.holder[slot.key] = value
    runs = iter(convert([replace(one, origin=copy) for copy in copies for one in readings]))
    bases, *others = [[_prints(next(runs)) for _ in readings] for _ in copies]
    rows = max(len(base[0]) for base in bases)
    for (noted, path), found in zip(changed, others if rows else [], strict=False):
        noted[path] = min(
            (_effect(base, one) for base, one in zip(bases, found, strict=True) if base[0]),
            key=get_args(Effect).index,
        )
    return rows


_Prints: TypeAlias = tuple[list[int], set[int], set[int]]
"""What annotations are compared by: everything, texts, and judgements of texts."""


def _prints(run: Run) -> _Prints:
    rows = run.annotations
    whole = [*rows.hash_rows(), *run.references.hash_rows()]
    return (
        sorted(whole),
        {*rows.select(_TEXTS).hash_rows()},
        {*rows.select(_JUDGEMENTS).hash_rows()},
    )


def _effect(before: _Prints, after: _Prints) -> Effect:
    if before[0] == after[0]:
        return "unread"
    if before[1] != after[1]:
        return "text" if after[1] else "other"
    return "other" if before[2] == after[2] else "judgement"
