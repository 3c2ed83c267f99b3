"""Converting many annotations: reduced here, a million of them with NND_TEST_FULL=1."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
FULL = bool(os.environ.get("NND_TEST_FULL"))
SHAPES = [
    *("candidates", "pairs", "votes", "wide", "pivot"),
    *("ranks", "raters", "spans", "join", "computed"),
]


def printed(script: str, *arguments: str) -> list[list[str]]:
    done = subprocess.run(
        [sys.executable, BENCHMARKS / script, *arguments],
        capture_output=True,
        text=True,
        check=True,
    )
    return [line.split() for line in done.stdout.splitlines()]


@pytest.mark.alone
def test_time_and_memory_stay_in_bounds() -> None:
    """A million annotations (100,000 contexts x 10) in under 60 CPU seconds and 4 GiB."""
    contexts, most_seconds, most_gib = (100_000, 60, 4.0) if FULL else (2_000, 10, 1.0)
    ((pairs, seconds, peak),) = printed("convert_scale.py", "--one", str(contexts))
    assert int(pairs) > 20 * contexts
    assert float(seconds) < most_seconds
    assert float(peak) < most_gib


@pytest.mark.alone
@pytest.mark.parametrize("shapes", [[shape] for shape in SHAPES] if FULL else [[]])
def test_tables_of_each_shape_stay_in_bounds(shapes: list[str]) -> None:
    """A million rows in under 90 CPU seconds and 4 GiB; all shapes at once where reduced."""
    rows, most_seconds, most_gib = (1_000_000, 90, 4.0) if FULL else (1_000, 10, 1.0)
    found = printed("table_scale.py", "--here", str(rows), *shapes)
    assert [shape for shape, *_ in found] == (shapes or SHAPES)
    for _, annotations, pairs, seconds, peak in found:
        assert int(annotations) >= rows // 2
        assert int(pairs) > rows // 10
        assert float(seconds) < most_seconds
        assert float(peak) < most_gib
