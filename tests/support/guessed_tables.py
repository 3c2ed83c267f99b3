"""Tables of four contexts by three systems, and what is guessed of them."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from nnd.converters.onboard.contents.reading_files import read_content
from nnd.converters.onboard.guess.guessing import Guess, guess
from nnd.converters.onboard.guess.questions import Answers

BIRDS = ("heron", "wren", "plover")
ROOMS = ("the blue room", "the long hall", "the old kitchen", "the narrow stairs")


def look(
    place: Path, columns: Mapping[str, Sequence[Any]], answers: Answers | None = None
) -> Guess:
    """Return the guess for a table of these columns, which is written into a folder."""
    header = list(columns)
    rows = [dict(zip(header, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    path = place / "judged.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return guess(read_content({path.name: path}), answers)


def texts(**names: str) -> dict[str, list[Any]]:
    """Return columns of four contexts by three systems, called as asked for."""
    pairs = [(room, bird) for room in ROOMS for bird in BIRDS]
    return {
        names.get("context", "source"): [f"Somebody asked the way to {room}." for room, _ in pairs],
        names.get("system", "system"): [bird for _, bird in pairs],
        names.get("candidate", "output"): [f"The {bird} points at {room}." for room, bird in pairs],
    }


def cycle(*values: Any) -> list[Any]:
    """Return a value per row; every system gets every value where there are not three of them."""
    return [values[number % len(values)] for number in range(len(ROOMS) * len(BIRDS))]


def no_error(label: str) -> dict[str, Any]:
    return {"rule": "no_error", "no_error": label}


def gap(minimum: float) -> dict[str, Any]:
    return {"rule": "gap", "minimum": minimum, "tolerance": 1e-6}
