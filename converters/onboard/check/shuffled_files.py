"""Shuffling the rows of files, on whose order no result of a converter may depend."""

import random
from typing import TypeVar

from nnd.converters.onboard.check.file_content import Contents, Value

T = TypeVar("T")


def shuffle_rows(contents: Contents) -> Contents:
    """Return files with their rows shuffled.

    Rows are those of a table or sheet, lines of JSON, or the entries of a JSON list; for a JSON
    object, its entries and those of its lists of objects.
    """
    chance = random.Random(0)  # noqa: S311 - it guards no secret
    return {
        name: {part: _shuffle(value, chance) for part, value in parts.items()}
        for name, parts in contents.items()
    }


def _shuffle(value: Value, chance: random.Random) -> Value:
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
