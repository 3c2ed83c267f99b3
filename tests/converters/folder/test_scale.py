"""Converting many annotations: reduced here, a million of them with NND_TEST_FULL=1."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "convert_scale.py"
FULL = bool(os.environ.get("NND_TEST_FULL"))


@pytest.mark.alone
def test_time_and_memory_stay_in_bounds() -> None:
    """A million annotations (100,000 contexts x 10) in under 60 CPU seconds and 4 GiB."""
    contexts, most_seconds, most_gib = (100_000, 60, 4.0) if FULL else (2_000, 10, 1.0)
    done = subprocess.run(
        [sys.executable, BENCHMARK, "--one", str(contexts)],
        capture_output=True,
        text=True,
        check=True,
    )
    pairs, seconds, peak = (float(figure) for figure in done.stdout.split())
    assert pairs > 20 * contexts
    assert seconds < most_seconds
    assert peak < most_gib
