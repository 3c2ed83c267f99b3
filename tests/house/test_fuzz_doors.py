"""Mutations of one valid file per door: refused in one sentence, or read as they plainly say.

A mutation changes the structure of the file, so that the damage lies deep: a value of another kind,
a key that is missing or there twice, a row more or less, brackets in brackets. What comes out is
what a literal reading of the mutated structure gives (`support/fuzz/doors.py`), under 2 CPU seconds
and 1 GB, and never a traceback. 100 mutations here, 2,000 with NND_TEST_FULL=1.
"""

import copy
import os
import random
import resource
import time
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from support.damage import read_or_refused
from support.fuzz.doors import DOORS, PAIRS, TWICE, Unwritten, Wrong, read_pairs

FULL = bool(os.environ.get("NND_TEST_FULL"))
SEED = 20261128
EACH = 170 if FULL else 8
"""Mutations of each of the thirteen files."""

MOST_SECONDS, MOST_GROWTH = 2.0, 2**30

VALUES: list[Any] = [
    *(None, "", " ", 0, 1, -1, 1.5, -0.0, 1e-320, 1e308, True, False, 10**400, float("nan")),
    *(float("inf"), "nan", "1_000", "\u0661\u0662", "0x1f", "true", "1,5", "1.5", "-2", "0", "1"),
    *("overall", "a\0b", "\ud83d", "x" * 100_000, "a\nb", 'a"b', "a,b", "\u202eabc", "=1+1"),
    *("../../etc/passwd", "/etc/passwd", "https://example.org/a.csv", "zip://a::b", "~", "data/*"),
    *([], {}, [1], ["a", "b"], {"a": 1}, [[["a"]]]),
]

seen: Counter[str] = Counter()
"""What became of the mutations."""


def deep(levels: int = 150) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


def places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the path to each value inside another one."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    found = []
    for key, each in items if isinstance(value, dict | list) else ():
        found += [(*at, key), *(places(each, (*at, key)) if isinstance(each, dict | list) else ())]
    return found


def mutated(structure: Any, chance: random.Random) -> tuple[Any, str]:
    """Return a structure with one to three changes, and what they were."""
    changed, told = copy.deepcopy(structure), []
    for _ in range(chance.choice([1, 1, 1, 2, 3])):
        if all_places := places(changed):
            *above, key = chance.choice(all_places)
            parent = changed
            for step in above:
                parent = parent[step]
            told.append(f"{above} {key} {change(parent, key, chance)}")
    return changed, "; ".join(told)


def change(parent: Any, key: Any, chance: random.Random) -> str:
    """Change an object or a list at one of its keys."""
    kind = chance.choice(["value"] * 5 + ["gone", "double", "renamed", "deep"])
    if kind == "value":
        parent[key] = copy.deepcopy(chance.choice(VALUES))
        return f"= {str(parent[key])[:40]!r}"
    if kind == "gone":
        del parent[key]
    elif kind == "deep":
        parent[key] = deep()
    elif isinstance(parent, list):
        parent.insert(key, copy.deepcopy(parent[key]))
    elif kind == "double":
        parent[f"{TWICE}{key}"] = copy.deepcopy(parent[key])
    else:
        parent[f"{key}s"] = parent.pop(key)
    return kind


@pytest.mark.parametrize("name", DOORS)
def test_a_mutated_file_is_refused_or_read_as_it_says(name: str, tmp_path: Path) -> None:
    door, chance = DOORS[name], random.Random(f"{SEED} {name}")
    door.write(door.structure, tmp_path)
    assert door.read(tmp_path) == door.plain(door.structure)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    done = 0
    while done < EACH:
        structure, told = mutated(door.structure, chance)
        try:
            door.write(structure, tmp_path)
        except Unwritten:
            continue
        done += 1
        start = time.process_time()
        found = read_or_refused(lambda: door.read(tmp_path))
        assert time.process_time() - start < MOST_SECONDS, told
        seen["refused" if found is None else "read"] += 1
        if found is None or (name == "cost.json" and not found):  # that is how it refuses
            continue
        try:
            wanted = door.plain(structure)
        except Wrong:
            wanted = "refused"
        assert found == wanted, f"seed {SEED}, {name}: {told}"
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown * 1024 < MOST_GROWTH


@pytest.mark.parametrize("packing", ["zstd", "uncompressed"])
def test_changed_metadata_of_parquet_makes_no_text(packing: Any, tmp_path: Path) -> None:
    """Bytes of the footer: refused, or every row has its own texts, or none of a column."""
    path = tmp_path / "p.parquet"
    pl.DataFrame(PAIRS, strict=False).drop("note").write_parquet(path, compression=packing)
    raw = path.read_bytes()
    footer = len(raw) - 8 - int.from_bytes(raw[-8:-4], "little")
    chance = random.Random(f"{SEED} footer")
    for _ in range(EACH):
        spoilt = bytearray(raw)
        for _ in range(chance.choice([1, 1, 2, 8])):
            spoilt[chance.randrange(footer, len(raw))] = chance.randrange(256)
        path.write_bytes(spoilt)
        found = read_or_refused(lambda: read_pairs("p.parquet")(tmp_path))
        seen["refused" if found is None else "read"] += 1
        for row, pair in zip(found or (), PAIRS, strict=True) if found else ():
            assert all(text in (pair[key], None, "") for key, text in row.items()), (row, pair)


def test_the_mutations_were_met(capsys: pytest.CaptureFixture[str]) -> None:
    """Or the oracle has never had anything to say."""
    with capsys.disabled():
        print(f"\nmutations, seed {SEED}: {dict(seen)}")  # noqa: T201 - the count
    assert min(seen["read"], seen["refused"]) > seen.total() / 10
