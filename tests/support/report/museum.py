"""What many tests read: made once by each worker and left as it is. Copy before you write."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from support.report.runs import MODELS, SYSTEMS, write_run

from nnd.converters.folder.conversion import convert


@contextmanager
def on_display(folder: Path) -> Iterator[Path]:
    """Yield a folder, and check that it is unchanged in the end."""
    before = _state(folder)
    yield folder
    assert _state(folder) == before, f"a test has written to {folder}"


def _state(folder: Path) -> dict[Path, tuple[int, int]]:
    found = {path: path.stat() for path in folder.rglob("*")}
    return {path: (status.st_mtime_ns, status.st_size) for path, status in found.items()}


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The sample, converted: 72 pairs of 14 contexts, and 5 systems."""
    folder = tmp_path_factory.mktemp("museum") / "sample-nnd"
    convert("sample", out=folder)
    with on_display(folder):
        yield folder


@pytest.fixture(scope="session")
def sample_run(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A run on it of five models that never were, four of which stand for its systems."""
    folder = tmp_path_factory.mktemp("museum") / "run"
    with on_display(write_run(folder, sample, MODELS, systems=SYSTEMS)):
        yield folder
