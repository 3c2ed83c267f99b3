"""Fixtures that every room shares: where the real annotation files are."""

import itertools
import os
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

# An example is not wrong because the machine is busy.
settings.register_profile("nnd", deadline=None)
settings.load_profile("nnd")

# Before any Hub client is imported: no test asks the Hub, and none waits for its retries. Those
# that want a Hub start a client of their own against the loopback server.
os.environ["HF_HUB_OFFLINE"] = "1"

# Compiled once and not by every worker and child process, as PYTHONDONTWRITEBYTECODE would have it.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Tests run side by side: threads of one more library each would only wait for one another.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")

NO_DATA = "the real annotation files are not there: set NND_DATA to the folder that holds them"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip tests marked `full`, and deselect cases of `sampled` ones, but for `make test-full`."""
    if os.environ.get("NND_TEST_FULL"):
        return
    seen = set()
    left_out = []
    for item in items:
        if item.get_closest_marker("full"):
            item.add_marker(pytest.mark.skip(reason="takes long: NND_TEST_FULL=1"))
        elif sampled := item.get_closest_marker("sampled"):
            test = (item.path, getattr(item, "originalname", item.name))
            # By a digest: every n-th one would step over parameters at the same pace.
            if test in seen and zlib.crc32(item.name.encode()) % sampled.args[0]:
                left_out.append(item)
            seen.add(test)
    config.hook.pytest_deselected(items=left_out)
    gone = set(left_out)
    items[:] = [item for item in items if item not in gone]


@pytest.fixture(scope="session")
def _caches(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("nnd-caches")
    return (folder / str(number) for number in itertools.count())


@pytest.fixture(autouse=True)
def _cache_of_its_own(_caches: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads or fills the cache of another, or of the person who runs it."""
    monkeypatch.setenv("NND_CACHE", str(next(_caches)))


@pytest.fixture(autouse=True)
def _no_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    """No line is folded for the terminal of the person who runs the tests."""
    monkeypatch.delenv("COLUMNS", raising=False)
    os.unsetenv("COLUMNS")  # readline sets it behind Python's back, and child processes see it


@pytest.fixture(scope="session")
def nnd_data() -> Path:
    """The folder of real annotation files: $NND_DATA, else ../shared/data beside the checkout."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("NND_DATA") or beside)
    if not folder.is_dir():
        pytest.skip(NO_DATA)
    return folder


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how many tests did not see real data, so that a green run cannot hide it."""
    skipped = terminalreporter.stats.get("skipped", [])
    blind = sum(NO_DATA in str(report.longrepr) for report in skipped)
    terminalreporter.write_line(f"real annotation files: {blind} tests skipped for want of them")
