"""Annotation files of each shape that `new_source` knows, and what it makes of one."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from nnd.converters.onboard.scaffold.new_source_result import NewSource
from nnd.converters.onboard.scaffold.scaffolding import new_source

BIRDS = ("heron", "wren", "plover")
ROOMS = ("the blue room", "the long hall", "the old kitchen", "the narrow stairs")
PAIRS = [(room, bird) for room in ROOMS for bird in BIRDS]
TEXTS = {
    "source": [f"Somebody asked the way to {room}." for room, _ in PAIRS],
    "system": [bird for _, bird in PAIRS],
    "output": [f"The {bird} points at {room}." for room, bird in PAIRS],
}


def cycle(*values: Any) -> list[Any]:
    return [values[number % len(values)] for number in range(len(PAIRS))]


def rows_of(columns: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def look(place: Path, content: Any, **options: Any) -> tuple[NewSource, dict[str, Any]]:
    """Return what is said of a file, and the source.yaml that is written."""
    path = place / "judged.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    made = new_source("birds", path, place / "birds", **options)
    return made, yaml.safe_load((place / "birds" / "source.yaml").read_text("utf-8"))


EDITED = [
    {"article": f"It rains in {n}.", "reference": f"Rain in {n}.", "edited": f"Sun in {n}."}
    for n in ROOMS
]
TWO = [
    {"prompt": f"Where is {n}?", "output_a": f"There, in {n}.", "output_b": f"Not in {n}, no."}
    for n in ROOMS
]
NESTED = [
    {
        "source": f"Somebody asked the way to {room}.",
        "outputs": [
            {"system": bird, "text": f"The {bird} points at {room}.", "errors": errors}
            for bird, errors in zip(
                BIRDS, ([], [{"type": "rude"}], [{"type": "vague"}]), strict=True
            )
        ],
    }
    for room in ROOMS
]
KEYED = {
    f"q{number}": {
        "question": f"Where is {room}?",
        "answers": {
            bird: {"text": f"By {bird} of {room}.", "score": n} for n, bird in enumerate(BIRDS)
        },
    }
    for number, room in enumerate(ROOMS)
}
RATED = TEXTS | {"fluency": [1, 3, 5] * len(ROOMS)}
SCORED = {"score_a": 5, "score_b": 1, "score_c": 1}
SHAPES: list[tuple[str, Any, dict[str, Any], int]] = [
    ("scores", rows_of(RATED), {"scores": {"fluency": "fluency"}}, 12),
    (
        "labels",
        rows_of(TEXTS | {"verdict": cycle("ok", "rude", "rude")}),
        {"labels": {"verdict": "verdict"}},
        8,
    ),
    (
        "marks",
        rows_of(TEXTS | {"Tense": cycle("no", "yes", "no"), "Object": cycle("no", "no", "yes")}),
        {"marks": {"errors": {"no_error": "no error", "marks": ["yes"], "blank": ["no"],
                              "columns": {"Tense": "Tense", "Object": "Object"}}}},
        8,
    ),
    (
        "ratings",
        rows_of(TEXTS | {"rating_1": cycle(5, 1, 1), "rating_2": cycle(5, 1, 5)}),
        {"ratings": {"rating": ["rating_1", "rating_2"]}},
        12,  # means of 5, 1 and 3
    ),
    ("edited", EDITED, {"pairs": {"high": "reference", "low": "edited", "id": "_row"}}, 4),
    (
        "verdicts",
        [{**row, "preferred": v} for row, v in zip(TWO, ("A", "B", "tie", "A"), strict=True)],
        {"pairs": {"first": "output_a", "second": "output_b", "better": "preferred",
                   "values": {"first": ["A"], "second": ["B"], "tie": ["tie"]}, "id": "_row"}},
        3,
    ),
    (
        "verdicts",
        [{**row, "vote_ann": "AABB"[n], "vote_bob": "ABAB"[n]} for n, row in enumerate(TWO)],
        {"wide": {"systems": ["vote_ann", "vote_bob"], "columns": {"verdict": "{system}"}}},
        2,
    ),
    (
        "systems",
        [{**row, **SCORED, "output_c": row["output_b"][::-1]} for row in TWO],
        {"wide": {"systems": ["a", "b", "c"],
                  "columns": {"candidate": "output_{system}", "score": "score_{system}"}}},
        8,
    ),
    (
        "choices",
        [{"question": f"Where is {n}?", "choices": ["Go left, then.", "Up."], "label": k % 2}
         for k, n in enumerate(ROOMS)],
        {"unfold": "choices[]", "scores": {"quality": "is_right"}},
        4,
    ),
    (
        "lists",
        NESTED,
        {"unfold": "outputs[]",
         "labels": {"errors": {"column": "outputs[].errors[].type", "empty": "no error"}}},
        8,
    ),
    ("scores", KEYED, {"unfold": "*.answers.*", "scores": {"score": "*.answers.*.score"}}, 12),
]  # fmt: skip
