"""A report of the run of the museum, and what it holds."""

from pathlib import Path

import pytest
from support.report.page import Page
from support.report.runs import FAMILIES

from nnd.metric.show.reports.page import page as page_module
from nnd.metric.show.reports.page.report import report


@pytest.fixture(scope="session")
def page_file(sample_run: Path, sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its report."""
    out = tmp_path_factory.mktemp("page") / "report.html"
    report(sample_run, out, data=sample, families=FAMILIES)
    return out


@pytest.fixture(scope="session")
def page(page_file: Path) -> Page:
    """What the report holds."""
    return Page(page_file)


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures stay empty, for what a page says beside them: drawing takes most of the time."""
    monkeypatch.setattr(page_module, "svg_inline", lambda *_, **__: "")


@pytest.fixture(scope="session")
def two(small_run: Path, other_run: Path, small: Path, other: Path) -> list[tuple[Path, Path]]:
    """Runs, each with its dataset."""
    return [(small_run, small), (other_run, other)]
