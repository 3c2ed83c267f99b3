"""Fixtures that every room shares: where the real annotation files are."""

import os
from pathlib import Path

import pytest

# Before any Hub client is imported: no test asks the Hub, and none waits for its retries. Those
# that want a Hub start a client of their own against the loopback server.
os.environ["HF_HUB_OFFLINE"] = "1"

NO_DATA = "the real annotation files are not there: set NND_DATA to the folder that holds them"


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
