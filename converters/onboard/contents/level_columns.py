"""The columns of files: paths into their rows or nested objects, with the values at each.

A path is what a `table:` section calls a column: `outputs[].errors[].type`, `answers.*.text`. The
level of a column is its path up to the last `[]` or `*`; columns of a level have their values in
the same order.
"""

import math
import re
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

from nnd.converters.check import words_of
from nnd.converters.reading import spells_number

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
    owners: Sequence[int] = ()  # for each value, the number of the outermost object

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
        filled = [value for value in self.values if value is not None and value != ""]
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


def columns_of(records: Sequence[Mapping[str, Any]], *, is_list: bool = True) -> list[Column]:
    """Return the columns of rows or objects; a single object may have keys that are data."""
    if not is_list and _is_keyed(records):
        values = [value for record in records for value in record.values()]
        return list(_columns("*", values, range(len(values))))
    return list(_columns("", records, range(len(records))))


def _columns(path: str, values: Sequence[Any], owners: Sequence[int]) -> Iterator[Column]:
    """Yield the columns in values, which are at a path."""
    objects = [value for value in values if isinstance(value, Mapping)]
    lists = [value for value in values if isinstance(value, list)]
    if objects and path and _is_keyed(objects):
        yield from _below(
            f"{path}.*", [v if isinstance(v, Mapping) else {} for v in values], owners
        )
    elif objects:
        for name in dict.fromkeys(key for one in objects for key in one):
            inner = [one.get(name) if isinstance(one, Mapping) else None for one in values]
            yield from _columns(f"{path}.{name}" if path else name, inner, owners)
    if lists:
        yield from _below(f"{path}[]", [v if isinstance(v, list) else [] for v in values], owners)
    plain = [None if isinstance(value, Mapping | list) else value for value in values]
    if not (objects or lists) or any(value not in (None, "") for value in plain):
        yield Column(path, plain, owners)


def _below(path: str, held: Sequence[Any], owners: Sequence[int]) -> Iterator[Column]:
    """Yield the columns of the items of lists, or of the values of objects."""
    inner = [list(one.values()) if isinstance(one, Mapping) else one for one in held]
    above = [owner for owner, items in zip(owners, inner, strict=True) for _ in items]
    yield from _columns(path, [item for items in inner for item in items], above)


def _is_keyed(objects: Sequence[Mapping[str, Any]]) -> bool:
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


def determines(keys: Sequence[Hashable], values: Sequence[Hashable]) -> bool:
    """Say whether rows with the same key always have the same value."""
    first: dict[Hashable, Hashable] = {}
    return all(
        first.setdefault(key, value) == value for key, value in zip(keys, values, strict=True)
    )
