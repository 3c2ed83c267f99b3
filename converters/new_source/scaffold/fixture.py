"""A fixture for a new source: the first rows of the file with invented texts and judgements.

Nothing is copied but what source.yaml states anyway: names of columns, systems, labels and
categories, and the ends of scales. The same guess gives the same bytes.
"""

import random
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from nnd.converters.contents import Column, path_of
from nnd.converters.new_source.guess import UNUSED, Guess

_CONTEXTS = 4
_TEXTS = 6  # of a context
_ROWS = 3  # of a text
_ITEMS = 6  # of a list
_KEPT = ("system", "category", "split", "aspect")
_GOOD, _UNMARKED = 0.4, 0.9  # of the judgements, of the marks
_WHO = ("heron", "wren", "plover", "siskin", "dipper", "curlew", "bittern")
_WHAT = ("watches", "crosses", "avoids", "paints", "measures")
_WHERE = ("the old mill", "a frozen pond", "the ninth bridge", "an empty boat", "the salt garden")
_WHEN = ("before dawn", "in late autumn", "after the flood", "without a word", "on Sunday")

Objects: TypeAlias = Sequence[Mapping[str, Any]] | Mapping[str, Any]


def invent(guess: Guess, seed: int = 0) -> list[Objects]:
    """Return invented objects for each file, in its shape: rows of cells, or nested JSON.

    Args:
        guess: What the columns are.
        seed: Another one gives other judgements.
    """
    inventor = _Inventor(guess, seed)
    found: list[Objects] = []
    for records in _samples(guess):
        made = [inventor.value("", record) for record in records]
        found.append(made if guess.content.is_list else made[0])
    return found


def _samples(guess: Guess) -> list[list[Mapping[str, Any]]]:
    """Return the rows of the first contexts of each file; of nested JSON the first objects."""
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
    """Return the numbers of the rows of some contexts, those with several candidates first."""
    places: dict[str, dict[str, list[int]]] = {}
    for place, (context, candidate) in enumerate(zip(contexts, candidates, strict=True)):
        places.setdefault(str(context), {}).setdefault(str(candidate), []).append(place)
    chosen = sorted(places.values(), key=lambda texts: len(texts) == 1)[:_CONTEXTS]
    rows = (
        row for texts in chosen for rows in list(texts.values())[:_TEXTS] for row in rows[:_ROWS]
    )
    return sorted(rows)


class _Inventor:
    """What a guess says of the fields of an object, and what was invented so far."""

    def __init__(self, guess: Guess, seed: int) -> None:
        self.guess = guess
        self.random = random.Random(seed)  # noqa: S311 - nothing secret
        self.roles = guess.roles()
        self.columns = {column.name: column for column in guess.columns}
        if guess.wide is not None:
            for new, pattern in guess.wide.patterns.items():
                for part in guess.wide.systems.values():
                    name = pattern.replace("{system}", part)
                    self.roles[name] = self.roles[new]
                    self.columns[name] = self.columns[new]
        levels = guess.content.levels
        self.keyed = {
            ".".join(path_of(levels, number)) for number, level in enumerate(levels) if level.keys
        }
        self.known: dict[tuple[str, Any], int] = {}
        self.counts: dict[str, int] = {}

    def value(self, name: str, value: Any) -> Any:  # noqa: ANN401, PLR0911 - as in the file
        """Return what an invented object has where the file has `value`."""
        column, role = self.columns.get(name), self.roles.get(name, UNUSED)
        if isinstance(value, Mapping):
            return self._object(name, value)
        if isinstance(value, list):
            is_read = role != UNUSED or not value or isinstance(value[0], Mapping)
            return [self.value(name, item) for item in value[:_ITEMS]] if is_read else []
        kind = role.partition(":")[0]
        if column is None or role == UNUSED:
            return _unread(value)
        if kind in ("candidate", "context", "group") and isinstance(value, str):
            return self._text(value) if value.strip() else value
        if kind in _KEPT or (value is None and kind not in ("marks", "label")):
            return value
        if kind in ("context id", "candidate id", "annotator", "group"):
            number = self._number(name, value)
            return type(value)(number) if _is_number(value) else f"{kind[0]}{number}"
        return self._judged(column, kind, value)

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
        """Return the number of a value among those that a field has had."""
        if (name, value) not in self.known:
            self.counts[name] = self.counts.get(name, 0) + 1
        return self.known.setdefault((name, value), self.counts[name])

    def _text(self, value: str) -> str:
        """Return an invented text for a text, the same for the same, with its tags."""
        plain = value
        for tag in self.guess.tags:
            plain = plain.replace(tag, "")
        number = self._number("", plain)
        text = _sentence(number)
        if plain == value:
            return text
        first, second, rest = text.split(" ", 2)
        opening, closing = self.guess.tags[:2]
        return f"{first} {opening}{second}{closing} {rest}"

    def _judged(self, column: Column, kind: str, value: Any) -> Any:  # noqa: ANN401
        """Return a judgement: the good one now and then, else one of the others in turn."""
        good, others = self._choices(column, kind)
        if not others or self.random.random() < (_UNMARKED if kind == "marks" else _GOOD):
            chosen = good
        else:
            number = self.counts[f"{kind}:"] = self.counts.get(f"{kind}:", -1) + 1
            chosen = others[number % len(others)]
        if chosen is None:
            return "" if isinstance(value, str) else None
        if not isinstance(chosen, str) or isinstance(value, str | None):
            return str(chosen) if isinstance(value, str) else chosen
        return chosen == "true" if isinstance(value, bool) else type(value)(float(chosen))

    def _choices(self, column: Column, kind: str) -> tuple[Any, Sequence[Any]]:
        """Return the good judgement, and the others."""
        quality, rule = self.guess.quality, self.guess.quality.rule
        if kind in ("score", "ratings", "judged") and column.kind in ("number", "numbers"):
            numbers = sorted({*column.numbers}, reverse=column.name not in quality.lower)
            if rule["rule"] == "credit":
                return rule["high"][0], rule["low"]
            plain = [int(n) if n.is_integer() else n for n in (numbers[0], numbers[-1])]
            return plain[0], plain[1:]
        cells = [cell for cell in column.counts if cell.strip()]
        if kind == "marks":
            return None if column.filled < column.rows else cells[-1], cells[:1]
        best = rule.get("no_error") or rule["better"][0][0]
        if kind in ("verdict", "error"):
            return cells[0], cells[1:] or cells
        blank = quality.blank is not None and column.kind != "texts"
        labels = cells if self.guess.error else quality.errors
        return None if blank else best, [label for label in labels if label != best]


def _unread(value: Any) -> Any:  # noqa: ANN401 - as in the file
    """Return what is in a field that is not read, of the type that it has there."""
    if isinstance(value, bool):
        return False
    if isinstance(value, int | float):
        return type(value)(0)
    return "invented" if isinstance(value, str) and value.strip() else value


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) or (isinstance(value, str) and value.isdecimal())


def _sentence(number: int) -> str:
    """Return an invented sentence; of the first 875 numbers every one gives another."""
    words: list[str] = []
    for choices in (_WHO, _WHAT, _WHERE, _WHEN):
        number, place = divmod(number, len(choices))
        words.append(choices[place])
    return f"The {' '.join(words)}."
