"""A copy of a file with its rows in another order: nothing a converter gives may depend on it."""

import random
from pathlib import Path
from typing import TypeVar

from nnd.converters.check_source.content import Value, read_parts, write_parts
from nnd.schemas import SourceError

T = TypeVar("T")


def shuffle_file(path: Path, out: Path, *, seed: int = 0) -> bool:
    """Write a copy of a file with its rows shuffled.

    Rows are those of a table or a sheet, lines of JSON, the entries of a JSON list, or of the
    object that is the whole file and of its lists of objects; of every sheet or member.

    Args:
        path: The file.
        out: Where to write.
        seed: Which order.

    Returns:
        Whether it was; a file of another kind, or one that is broken, is not written.
    """
    chance = random.Random(seed)  # noqa: S311 - it guards no secret
    try:
        parts = read_parts(path)
        if parts:
            write_parts(path, out, {name: _shuffle(value, chance) for name, value in parts.items()})
    except (ValueError, OSError, SourceError):
        return False
    return bool(parts)


def _shuffle(value: Value, chance: random.Random) -> Value:
    if isinstance(value, dict):
        entries = [(key, _rows(inner, chance)) for key, inner in value.items()]
        return dict(_in_another_order(entries, chance))
    return _in_another_order(value, chance) if isinstance(value, list) else value


def _rows(value: Value, chance: random.Random) -> Value:
    """Shuffle a list of objects; lists of anything else may be columns, or a text by words."""
    is_rows = isinstance(value, list) and all(isinstance(one, dict) for one in value)
    return _in_another_order(value, chance) if is_rows else value


def _in_another_order(rows: list[T], chance: random.Random) -> list[T]:
    """Return the rows in an order that is not theirs, where there are two."""
    found = chance.sample(rows, len(rows))
    return found if found != rows else found[::-1]
