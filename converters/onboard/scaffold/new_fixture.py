"""A fixture of a new source: the first rows of the file with invented texts and judgements.

Texts are invented, keys are numbered, and judgements are drawn from those of their column. Names of
columns, systems, categories and aspects are kept. The same guess gives the same bytes.
"""

import random
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from nnd.converters.onboard.contents.levels import path_of
from nnd.converters.onboard.guess.guessing import UNUSED, Guess
from nnd.converters.onboard.guess.row_shapes import without_tags

_CONTEXTS = 4
_TEXTS = 6  # of a context
_ROWS = 3  # of a text
_ITEMS = 6  # of a list
_KEPT = ("system", "category", "split", "aspect")
_NUMBERED = ("context id", "candidate id", "annotator", "group")
_WHO = ("heron", "wren", "plover", "siskin", "dipper", "curlew", "bittern")
_WHAT = ("watches", "crosses", "avoids", "paints", "measures")
_WHERE = ("the old mill", "a frozen pond", "the ninth bridge", "an empty boat", "the salt garden")
_WHEN = ("before dawn", "in late autumn", "after the flood", "without a word", "on Sunday")

Objects: TypeAlias = Sequence[Mapping[str, Any]] | Mapping[str, Any]


def invent(guess: Guess, seed: int = 0) -> list[Objects]:
    """Return invented objects for each file, in its shape; the seed decides the judgements."""
    inventor = _Inventor(guess, seed)
    found: list[Objects] = []
    for records in _samples(guess):
        made = [inventor.value("", record) for record in records]
        found.append(made if guess.content.is_list else made[0])
    return found


def _samples(guess: Guess) -> list[list[Mapping[str, Any]]]:
    """Return the rows of the first contexts of each file, or the first objects of nested JSON."""
    content, found, start = guess.content, [], 0
    is_flat = guess.level == 0 and guess.wide is None and content.levels[0].keys is None
    for records in content.records:
        chosen = list(range(min(len(records), _CONTEXTS)))
        if is_flat:
            own = slice(start, start + len(records))
            chosen = _rows_of(guess.context[0].values[own], guess.candidate.values[own])
        found.append([records[place] for place in chosen])
        start += len(records)
    return found


def _rows_of(contexts: Sequence[Any], candidates: Sequence[Any]) -> list[int]:
    """Return the row numbers of some contexts, those with several candidates first."""
    places: dict[str, dict[str, list[int]]] = {}
    for place, (context, candidate) in enumerate(zip(contexts, candidates, strict=True)):
        places.setdefault(str(context), {}).setdefault(str(candidate), []).append(place)
    chosen = sorted(places.values(), key=lambda texts: len(texts) == 1)[:_CONTEXTS]
    texts = (rows[:_ROWS] for each in chosen for rows in list(each.values())[:_TEXTS])
    return sorted(row for rows in texts for row in rows)


class _Inventor:
    def __init__(self, guess: Guess, seed: int) -> None:
        self.guess = guess
        self.random = random.Random(seed)  # noqa: S311 - nothing secret
        self.roles = guess.roles()
        self.columns = {column.name: column for column in guess.columns}
        for name, new in guess.wide.renamed.items() if guess.wide else ():
            self.roles[name], self.columns[name] = self.roles[new], self.columns[new]
        levels = guess.content.levels
        self.keyed = {
            ".".join(path_of(levels, number)) for number, level in enumerate(levels) if level.keys
        }
        self.known: dict[str, list[Any]] = {}
        self.judged: dict[str, list[Any]] = {}

    def value(self, name: str, value: Any) -> Any:  # noqa: ANN401, PLR0911 - as in the file
        """Return the invented replacement of `value`."""
        role = self.roles.get(name, UNUSED)
        if isinstance(value, Mapping):
            return self._object(name, value)
        if isinstance(value, list):
            is_read = role != UNUSED or not value or isinstance(value[0], Mapping)
            return [self.value(name, item) for item in value[:_ITEMS]] if is_read else []
        if role == UNUSED:
            return _unread(value)
        kind = role.partition(":")[0]
        may_be_none = kind in ("marks", "label")
        if kind in _KEPT or (value is None and not may_be_none):
            return value
        if kind in ("candidate", "context", "group") and isinstance(value, str):
            return self._text(value) if value.strip() else value
        if kind in _NUMBERED:
            number = self._number(name, value)
            is_text = isinstance(value, str) and not value.isdecimal()
            return f"{kind[0]}{number}" if is_text else type(value)(number)
        if name not in self.judged:
            values = self.columns[name].values
            cells = (value if isinstance(value, list) else [value] for value in values)
            items = (item for cell in cells for item in cell)
            self.judged[name] = [item for item in items if item is not None or may_be_none]
        return self.random.choice(self.judged[name])

    def _object(self, name: str, value: Mapping[str, Any]) -> dict[str, Any]:
        if name not in self.keyed:
            return self._fields(name, value)
        keeps = self.roles.get(f"{name}.*" if name else "*") in _KEPT
        return {
            key if keeps else str(self._number(f"{name}.*", key)): [
                self._fields(name, each) for each in item[:_ITEMS]
            ]
            if isinstance(item, list)
            else self._fields(name, item)
            for key, item in list(value.items())[:_ITEMS]
        }

    def _fields(self, name: str, value: Mapping[str, Any]) -> dict[str, Any]:
        inner = f"{name}." if name else ""
        return {key: self.value(f"{inner}{key}", item) for key, item in value.items()}

    def _number(self, name: str, value: object) -> int:
        """Return the number of a value among the distinct values of a field so far."""
        known = self.known.setdefault(name, [])
        if value not in known:
            known.append(value)
        return known.index(value) + 1

    def _text(self, value: str) -> str:
        """Return an invented text with the tags of a text; equal texts get equal ones."""
        plain = without_tags(value, self.guess.tags)
        text = _sentence(self._number("", plain))
        if plain == value:
            return text
        first, second, rest = text.split(" ", 2)
        opening, closing = self.guess.tags[:2]
        return f"{first} {opening}{second}{closing} {rest}"


def _unread(value: Any) -> Any:  # noqa: ANN401 - as in the file
    """Return a value of the same type for a field that is not read."""
    if isinstance(value, str):
        return "invented" if value.strip() else value
    return value if value is None else type(value)()


def _sentence(number: int) -> str:
    """Return an invented sentence; the first 875 numbers give distinct ones."""
    words: list[str] = []
    for choices in (_WHO, _WHAT, _WHERE, _WHEN):
        number, place = divmod(number, len(choices))
        words.append(choices[place])
    return f"The {' '.join(words)}."
