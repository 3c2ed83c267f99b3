"""The columns of a file from the view of one level: a row per candidate, and kinds of cells."""

import itertools
import math
import re
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

from nnd.converters.onboard.contents.levels import KEY, path_of
from nnd.converters.onboard.contents.reading_files import Content
from nnd.converters.reading import spells_number

Kind: TypeAlias = Literal["empty", "number", "flag", "text", "numbers", "texts", "other"]

SAYS_LITTLE = ("text", "content", "value", "body")
"""Names that mean little without the name of the object."""

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\dA-Z_]+|\d+")
_SHORT = 60  # most characters of a name or a label


@dataclass(frozen=True, eq=False)
class Column:
    """A column with a value for each candidate; values of outer levels are repeated."""

    name: str  # its name in options: keys from the outermost object, joined by dots
    path: tuple[str, ...]  # keys from an object of its level to it; empty for the key of an object
    level: int  # which level of the content it is of
    values: Sequence[Any]  # one per row; lists if its level is below the candidates'
    above: int  # how many levels it is above the candidates; -1 if it is below

    @cached_property
    def words(self) -> frozenset[str]:
        """The words of the last part of its name, or last two if that is `text`; a key has none."""
        if not self.path:
            return frozenset()
        size = 2 if self.path[-1].lower() in SAYS_LITTLE else 1
        return frozenset(words_of(".".join(self.name.split(".")[-size:])))

    @cached_property
    def all_words(self) -> frozenset[str]:
        """The words of the whole name, including the lists that hold it."""
        return frozenset(words_of(self.name))

    @cached_property
    def kind(self) -> Kind:
        """The kind of its cells; if all texts spell numbers, they are numbers."""
        return _kind([value for value in self.values if value is not None])

    @cached_property
    def cells(self) -> Sequence[str]:
        """Every text, number or truth value as text, including the items of lists."""
        single = (value for value in _single(self.values) if isinstance(value, str | int | float))
        return [text_of(value) for value in single]

    @cached_property
    def counts(self) -> Counter[str]:
        """The number of occurrences of each value."""
        return Counter(self.cells)

    @cached_property
    def numbers(self) -> Sequence[float]:
        """The values as numbers, for a column of the kind number, numbers or flag."""
        return [float(value) for value in _single(self.values) if value is not None]

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self.values)

    @cached_property
    def filled(self) -> int:
        """The number of rows with a value; an empty list is a value."""
        return sum(value is not None for value in self.values)

    @cached_property
    def repetition(self) -> float:
        """The mean number of rows per distinct value."""
        return len(self.cells) / max(len(self.counts), 1)

    @cached_property
    def length(self) -> float:
        """The mean number of characters."""
        return sum(map(len, self.cells)) / max(len(self.cells), 1)

    @property
    def is_short(self) -> bool:
        """Whether every value is short enough for a name or a label."""
        return bool(self.counts) and max(map(len, self.counts)) <= _SHORT


def words_of(name: str) -> list[str]:
    """Return the words of a name in lower case: `docId_2` has doc, id and 2."""
    return [word.lower() for word in _WORD.findall(name)]


def text_of(value: object) -> str:
    """Return a value in the form in which a `table:` section reads it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value).replace("\r\n", "\n")


def columns_of(content: Content, level: int) -> list[Column]:
    """Return the columns of the objects of a level, including those of levels above and below.

    Below this level, only the fields of lists in its objects are columns.
    """
    rows = range(len(content.levels[level].owners))
    found = list[Column]()
    place: Sequence[int] = rows
    current: int | None = level
    for above in itertools.count():
        if current is None:
            break
        found = [*_fields(content, current, above, place), *found]
        owners = content.levels[current].owners
        place = [owners[i] for i in place]
        current = content.levels[current].above
    for number, entry in enumerate(content.levels):
        if entry.above == level:
            missing = set(entry.missing)
            below: list[list[int] | None] = [None if row in missing else [] for row in rows]
            for item, owner in enumerate(entry.owners):
                held = below[owner]
                if held is not None:
                    held.append(item)
            found += _fields(content, number, -1, below)
    return found


def _fields(
    content: Content, level: int, above: int, place: Sequence[int | list[int] | None]
) -> Iterator[Column]:
    """Yield the columns of a level; a row has the value of an object, of several, or none."""
    keys = path_of(content.levels, level)
    for field in content.levels[level].fields:
        values = [
            field.values[at] if isinstance(at, int) else at and [field.values[n] for n in at]
            for at in place
        ]
        name = ".".join((*keys, *(field.path or (KEY,))))
        yield Column(name, field.path, level, values, above)


def _single(values: Sequence[Any]) -> Iterator[Any]:
    for value in values:
        if isinstance(value, list):
            yield from value
        else:
            yield value


def _kind(filled: Sequence[Any]) -> Kind:
    if not filled:
        return "empty"
    if all(isinstance(value, list) for value in filled):
        items = [item for value in filled for item in value if item is not None]
        if any(isinstance(item, list) for item in items):
            return "other"
        return _KINDS_OF_LISTS.get(_kind(items), "other")
    if all(isinstance(value, bool) for value in filled):
        return "flag"
    if all(isinstance(value, str | int | float) for value in filled):
        return "number" if all(map(_is_number, filled)) else "text"
    return "other"


_KINDS_OF_LISTS: dict[Kind, Kind] = {"number": "numbers", "text": "texts", "empty": "texts"}


def _is_number(value: Any) -> bool:  # noqa: ANN401 - a value of a file may be anything
    if isinstance(value, bool):
        return False
    try:
        return spells_number(value) if isinstance(value, str) else math.isfinite(float(value))
    except (ValueError, OverflowError):
        return False


def determines(keys: Sequence[Hashable], values: Sequence[Hashable]) -> bool:
    """Say whether rows with the same key always have the same value."""
    first: dict[Hashable, Hashable] = {}
    return all(
        first.setdefault(key, value) == value for key, value in zip(keys, values, strict=True)
    )


def joint(columns: Sequence[Column]) -> list[Hashable]:
    """Return the values of several columns, a tuple per row."""
    return list(zip(*(map(_frozen, column.values) for column in columns), strict=True))


def _frozen(value: Any) -> Hashable:  # noqa: ANN401 - a value of a file may be anything
    if isinstance(value, list):
        return tuple(map(_frozen, value))
    if isinstance(value, Mapping):
        return tuple((key, _frozen(item)) for key, item in value.items())
    return value  # type: ignore[no-any-return]
