"""Slices on the page of a report."""

from pathlib import Path

import pytest
from support.report.runs import MODELS, write_run

from nnd.metric.numbers import slice_runs
from nnd.metric.show.reports.page.report import report


@pytest.mark.usefixtures("undrawn")
def test_the_page_shows_slices_where_they_are_asked_for(small: Path, tmp_path: Path) -> None:
    data, run = small, write_run(tmp_path / "run", small, MODELS[:2])
    plain, sliced = tmp_path / "plain.html", tmp_path / "sliced.html"
    report(run, plain, data=data)
    made = report(run, sliced, data=data, by=["length:words"], figures=tmp_path / "figures")

    assert 'id="slices"' not in plain.read_text(encoding="utf-8")
    page = sliced.read_text(encoding="utf-8")
    found = slice_runs(run, data, by="length:words")
    assert '<a href="#slices">Slices</a>' in page
    assert found.headline() in page
    for each in found.slices:
        assert f"<bdi>{each.name}</bdi>" in page
    assert tmp_path / "figures" / "slices.svg" in made.figures
