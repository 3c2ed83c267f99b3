"""Folders of runs, made of scored pairs."""

from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest
from support.two_models import write_run


@pytest.fixture
def runs(tmp_path: Path) -> Callable[..., list[Path]]:
    """`runs(frame, frame)`: folders like those of `nnd evaluate`, one for each frame."""
    numbers = count()
    return lambda *frames: [write_run(tmp_path / f"run{next(numbers)}", each) for each in frames]
