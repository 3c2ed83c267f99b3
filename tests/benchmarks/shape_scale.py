"""How tables without Python scale: `python tests/benchmarks/shape_scale.py [rows [shape …]]`.

Writes an invented JSON-lines table of each shape and converts it, every one in a fresh process;
prints annotations, pairs, seconds (by the clock and of the processor) and peak memory of the whole
conversion. The target is a million rows in 90 seconds and 4 GiB.
"""

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
from convert_scale import WORDS

from nnd.converters.check_source.memory import peak_memory
from nnd.converters.folder.conversion import convert
from nnd.converters.source.source import load_source

ROWS = 1_000_000
SYSTEMS = 10
BETTER = {"rule": "no_error", "no_error": "better"}
GAP = {"rule": "gap", "minimum": 1}
CONTEXT = {"context_id": "doc"}
CANDIDATE = CONTEXT | {"candidate": "text", "system": "by"}
WIDE = {"systems": [f"s{n}" for n in range(SYSTEMS)], "columns": {"text": "{system}"}}

Row = dict[str, Any]


def said(chance: random.Random, words: int) -> str:
    """Return a text that is unlikely to come twice."""
    return f"{' '.join(chance.choices(WORDS, k=words))} {chance.random():.9f}"


def pair_rows(chance: random.Random, row: Row) -> Row:
    """Return a better and a worse text."""
    texts = {"high": said(chance, 10), "low": said(chance, 10)}
    return row | texts | {"kind": chance.choice(["entity", "tense"])}


def vote_rows(chance: random.Random, row: Row) -> Row:
    """Return the verdict of one of three annotators, on texts that are the same for all."""
    known = random.Random(row["n"] // 3)
    texts = {"first": said(known, 10), "second": said(known, 10)}
    return row | texts | {"verdict": chance.choice("12="), "rater": row["n"] % 3}


def wide_rows(chance: random.Random, row: Row) -> Row:
    """Return texts and scores of ten systems."""
    texts = {system: said(chance, 10) for system in WIDE["systems"]}
    return row | texts | {f"{system} score": chance.randint(1, 5) for system in texts}


def rank_rows(chance: random.Random, row: Row) -> Row:
    """Return the rank that one of two annotators gave one of five systems."""
    by, rater = row["n"] % 5, row["n"] // 5 % 2
    text = f"{row['doc']} {by} {WORDS[by]}"
    return row | {"by": f"s{by}", "text": text, "rater": rater, "rank": chance.randint(1, 5)}


def span_rows(chance: random.Random, row: Row) -> Row:
    """Return one of two spans of a candidate."""
    number = row["n"] // 2
    text = said(random.Random(number), 10)
    marks = {"kind": chance.choice(["better", "entity"]), "severity": chance.choice(["a", "b"])}
    return row | marks | {"by": f"s{number % 5}", "text": f"<v>{text}</v>"}


SHAPES: dict[str, tuple[Any, dict[str, Any], dict[str, Any]]] = {
    "pairs": (
        pair_rows,
        {
            "columns": CONTEXT,
            "pairs": {"id": "n", "high": "high", "low": "low", "category": "kind"},
        },
        BETTER,
    ),
    "votes": (
        vote_rows,
        {
            "columns": CONTEXT,
            "pairs": {"first": "first", "second": "second", "better": "verdict"}
            | {"annotator": "rater", "values": {"first": 1, "second": 2, "tie": "="}},
        },
        BETTER,
    ),
    "wide": (
        wide_rows,
        {
            "columns": CANDIDATE | {"system": "_system"},
            "wide": WIDE | {"columns": {"text": "{system}", "score": "{system} score"}},
            "scores": {"answer": "score"},
        },
        GAP,
    ),
    "ranks": (
        rank_rows,
        {"columns": CANDIDATE | {"group": "rater"}, "ranks": {"answer": "rank"}},
        GAP,
    ),
    "spans": (
        span_rows,
        {
            "columns": CANDIDATE,
            "spans": {"category": "kind", "no_error": "better", "tags": ["<v>", "</v>"]}
            | {"severity": "severity", "weights": {"a": 1, "b": 5}},
        },
        BETTER,
    ),
    "expressions": (
        pair_rows,
        {
            "columns": CONTEXT,
            "compute": {"error": "REPLACE(kind, 'x', 'y')"},
            "where": "high <> low",
            "pairs": {"id": "n", "high": "high", "low": "low", "category": "error"},
        },
        BETTER,
    ),
}


def rows_of(shape: str, rows: int) -> Iterator[Row]:
    """Yield the rows of a shape; ten follow each other about one context."""
    make, _, _ = SHAPES[shape]
    chance = random.Random(0)
    article = ""
    for number in range(rows // SYSTEMS if shape == "wide" else rows):
        if number % 10 == 0 or shape == "wide":
            article = said(chance, 60)
        doc = number if shape == "wide" else number // 10
        yield make(chance, {"n": number, "doc": doc, "article": article})


def make_source(folder: Path, shape: str, rows: int) -> None:
    """Write source.yaml and made.jsonl."""
    _, table, quality = SHAPES[shape]
    names = ("worse", "entity", "tense") if quality is BETTER else ()
    facts = {k: v for k, v in load_source("sample").facts.items() if k != "variants"} | {
        "name": "made",
        "files": [{"name": "made.jsonl", "url": None, "sha256": None, "bytes": None}],
        "aspects": {"answer": "Which is better?"},
        "quality": quality,
        "taxonomy": {name: {"name": name, "group": None, "description": name} for name in names},
        "systems": {"*": None},
        "table": {"inputs": {"article": "article"}} | table,
        "expected": None,
    }
    (folder / "source.yaml").write_text(yaml.safe_dump(facts, sort_keys=False), encoding="utf-8")
    with (folder / "made.jsonl").open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows_of(shape, rows))


def convert_one(shape: str, rows: int) -> None:
    """Convert one shape and print what it took."""
    with tempfile.TemporaryDirectory() as name:
        make_source(Path(name), shape, rows)
        start, busy = time.perf_counter(), time.process_time()
        made = convert(Path(name), out=Path(name) / "out")
        seconds, busy = time.perf_counter() - start, time.process_time() - busy
    counts = f"{made.annotations.height:>12,} {made.pairs.height:>11,}"
    print(f"{shape:<12} {counts} {seconds:>8.1f} {busy:>8.1f} {peak_memory() / 2**30:>8.2f}")


def main(rows: int, shapes: list[str]) -> None:
    """Run every shape in a process of its own."""
    print(f"{'shape':<12} {'annotations':>12} {'pairs':>11} {'seconds':>8} {'CPU s':>8} {'GiB':>8}")
    for shape in shapes:
        command = [sys.executable, __file__, "--one", shape, str(rows)]
        print(subprocess.run(command, capture_output=True, text=True, check=True).stdout, end="")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        convert_one(sys.argv[2], int(sys.argv[3]))
    else:
        asked = sys.argv[1:]
        main(int(asked[0]) if asked else ROWS, asked[1:] or list(SHAPES))
