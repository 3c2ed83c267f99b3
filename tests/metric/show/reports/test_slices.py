"""Slices on the page of a report."""

from pathlib import Path

import pytest
from support.report.page import Page
from support.report.runs import MODELS, write_run

from nnd.metric.numbers import slice_runs
from nnd.metric.show.reports.page.report import report


@pytest.mark.usefixtures("undrawn")
def test_the_page_shows_slices_where_they_are_asked_for(
    small: Path, page: Page, tmp_path: Path
) -> None:
    run, out = write_run(tmp_path / "run", small, MODELS[:2]), tmp_path / "sliced.html"
    made = report(run, out, data=small, by=["length:words"], figures=tmp_path / "figures")

    assert 'id="slices"' not in page.html
    sliced = out.read_text(encoding="utf-8")
    found = slice_runs(run, small, by="length:words")
    assert '<a href="#slices">Slices</a>' in sliced
    assert found.headline() in sliced
    for each in found.slices:
        assert f"<bdi>{each.name}</bdi>" in sliced
    assert tmp_path / "figures" / "slices.svg" in made.figures
