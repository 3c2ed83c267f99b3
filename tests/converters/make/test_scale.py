"""Deriving from many pairs: reduced here, 100,000 of them with NND_TEST_FULL=1."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks/derive_scale.py"
FULL = bool(os.environ.get("NND_TEST_FULL"))


@pytest.mark.alone
def test_time_and_memory_stay_in_bounds() -> None:
    """10,000 contexts of 500 tokens, 100,000 pairs, four operations: 60 CPU seconds and 2 GiB."""
    contexts, most_seconds, most_gib = (10_000, 60, 2.0) if FULL else (25, 10, 1.0)
    done = subprocess.run(
        [sys.executable, SCRIPT, str(contexts)], capture_output=True, text=True, check=True
    )
    children, seconds, peak = done.stdout.split()

    assert int(children) > 0.9 * 4 * 10 * contexts
    assert float(seconds) < most_seconds
    assert float(peak) < most_gib
