"""How tables of each shape scale: `python tests/benchmarks/table_scale.py [rows [shape …]]`.

Writes an invented table of each shape that a `table` section can say, and converts it, every shape
in a fresh process; prints annotations, pairs, CPU seconds and peak memory of the whole conversion.
"""

import csv
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from convert_scale import CANDIDATES, WORDS
from peak_memory import peak_memory

from nnd.converters.folder.conversion import convert
from nnd.converters.source.source import load_source

ROWS = 1_000_000
SYSTEMS = [f"system{number}" for number in range(CANDIDATES)]
ASPECTS = {"question": "Is it a good question?", "answer": "Is it a good answer?"}
LABELS = ("good", "good", "good", "disfluent", "off_target", "wrong_context")

INPUTS = {"inputs": {"paragraph": "paragraph"}}
COLUMNS = {"context_id": "doc", "candidate": "text", "system": "by"}
CANDIDATE: dict[str, Any] = {**INPUTS, "columns": COLUMNS}
LABELLED = CANDIDATE | {"labels": {"question": "label"}}
BETTER = {"rule": "no_error", "no_error": "better"}
GOOD = {"rule": "no_error", "no_error": "good"}
GAP = {"rule": "gap", "minimum": 1}

SHAPES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "candidates": (LABELLED, GOOD),
    "pairs": (
        INPUTS
        | {
            "columns": {"context_id": "doc"},
            "pairs": {"high": "text", "low": "other", "category": "error", "id": "row"},
        },
        BETTER,
    ),
    "votes": (
        INPUTS
        | {
            "columns": {"context_id": "doc"},
            "pairs": {
                "first": "text",
                "second": "other",
                "better": "verdict",
                "values": {"first": "A", "second": "B", "tie": "="},
                "annotator": "rater",
            },
        },
        BETTER,
    ),
    "wide": (
        INPUTS
        | {
            "wide": {
                "systems": SYSTEMS,
                "columns": {"text": "{system}", "points": "{system} points"},
            },
            "columns": COLUMNS | {"system": "_system"},
            "scores": {"question": "points"},
        },
        GAP,
    ),
    "pivot": (CANDIDATE | {"pivot": {"aspect": "aspect", "score": "points"}}, GAP),
    "ranks": (
        CANDIDATE | {"columns": COLUMNS | {"group": "rater"}, "ranks": {"question": "rank"}},
        GAP,
    ),
    "raters": (
        CANDIDATE | {"columns": COLUMNS | {"annotator": "rater"}, "scores": {"question": "points"}},
        GAP | {"ratings": "median"},
    ),
    "spans": (
        CANDIDATE
        | {
            "spans": {
                "category": "label",
                "no_error": "good",
                "severity": "severity",
                "weights": {"Major": 5, "Minor": 1},
                "annotator": "rater",
                "tags": ["<v>", "</v>"],
            }
        },
        GOOD,
    ),
    "join": (
        LABELLED | {"join": {"file": "texts.jsonl", "on": "doc", "columns": {"paragraph": "text"}}},
        GOOD,
    ),
    "computed": (
        LABELLED
        | {
            "where": "CAST(points AS DOUBLE) >= 0",
            "compute": {"label": "CASE WHEN points = '5' THEN 'good' ELSE label END"},
        },
        GOOD,
    ),
}
"""Shape → its `table` section and its quality rule."""


def rows_of(shape: str, rows: int) -> Iterator[dict[str, str]]:
    """Yield the rows of a table, ten of each context; a wide one has those of a context in one."""
    chance = random.Random(0)
    # Judgements of one candidate or pair that follow each other.
    per_text = {"votes": 3, "pivot": 2, "ranks": 2, "raters": 2, "spans": 2}.get(shape, 1)
    for number in range(rows // CANDIDATES if shape == "wide" else rows):
        place, judgement = divmod(number % CANDIDATES, per_text)
        if number % CANDIDATES == 0 or shape == "wide":
            paragraph = _words(chance, 60)
        if judgement == 0:
            text, other = (f"{_words(chance, 10)} {place}{end}" for end in "?!")
        points = str(chance.randrange(6))
        label = chance.choice(LABELS)
        row = {
            "row": str(number),
            "doc": str(number if shape == "wide" else number // CANDIDATES),
            "paragraph": paragraph,
            "text": text,
            "other": other,
            "by": SYSTEMS[place],
            "label": label,
            "error": "off_target" if label == "good" else label,
            "severity": "" if label == "good" else chance.choice(["Major", "Minor"]),
            "points": points,
            "rank": str(1 + (place * (1 + 2 * judgement)) % 5),
            "rater": f"r{judgement}",
            "aspect": list(ASPECTS)[judgement % 2],
            "verdict": chance.choice("AAB="),
        }
        if shape == "wide":
            row |= {system: f"{_words(chance, 10)} {system}" for system in SYSTEMS}
            row |= {f"{system} points": str(chance.randrange(6)) for system in SYSTEMS}
        if shape == "spans":
            row["text"] = f"<v>{text}</v>"
        if shape == "join":
            del row["paragraph"]
        yield row


def _words(chance: random.Random, n: int) -> str:
    return " ".join(chance.choices(WORDS, k=n))


def make_table(folder: Path, shape: str, rows: int) -> None:
    """Write source.yaml, made.csv and, to be joined, texts.jsonl."""
    table, quality = SHAPES[shape]
    names = ["made.csv", *(["texts.jsonl"] if shape == "join" else [])]
    facts: dict[str, Any] = {**load_source("sample").facts, "name": "made"}
    facts["instruction"] = "Write about this text: {context}"
    del facts["instruction_variants"]
    worse = {"worse": {"name": "Worse", "group": None, "description": "The other is better."}}
    facts |= {
        "table": table,
        "quality": quality,
        "aspects": ASPECTS if shape == "pivot" else {"question": ASPECTS["question"]},
        "taxonomy": facts["taxonomy"] | worse,
        "systems": {"*": None},
        "files": [{"name": name, "url": None, "sha256": None, "bytes": None} for name in names],
    }
    (folder / "source.yaml").write_text(yaml.safe_dump(facts), encoding="utf-8")
    made = rows_of(shape, rows)
    first = next(made)
    with (folder / "made.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(first))
        writer.writeheader()
        writer.writerow(first)
        writer.writerows(made)
    if shape == "join":
        chance = random.Random(1)
        with (folder / "texts.jsonl").open("w", encoding="utf-8") as file:
            for doc in range(rows // CANDIDATES):
                file.write(json.dumps({"doc": str(doc), "text": _words(chance, 60)}) + "\n")


def convert_shapes(rows: int, shapes: list[str]) -> None:
    """Convert tables in this process; print annotations, pairs, CPU seconds, peak GiB of each."""
    for shape in shapes:
        with tempfile.TemporaryDirectory() as name:
            make_table(Path(name), shape, rows)
            start = time.process_time()
            done = convert(Path(name), out=Path(name) / "out")
            seconds, gib = time.process_time() - start, peak_memory() / 2**30
        print(shape, done.annotations.height, done.pairs.height, f"{seconds:.2f} {gib:.2f}")


def main(rows: int, shapes: list[str]) -> None:
    """Run every shape in a process of its own."""
    print(f"{'shape':>12} {'annotations':>12} {'pairs':>11} {'seconds':>8} {'GiB peak':>9}")
    for shape in shapes:
        command = [sys.executable, __file__, "--here", str(rows), shape]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        _, annotations, pairs, seconds, peak = done.stdout.split()
        print(f"{shape:>12} {int(annotations):>12,} {int(pairs):>11,} {seconds:>8} {peak:>9}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--here"]:
        convert_shapes(int(sys.argv[2]), sys.argv[3:] or list(SHAPES))
    else:
        main(int((sys.argv[1:] or [str(ROWS)])[0]), sys.argv[2:] or list(SHAPES))
