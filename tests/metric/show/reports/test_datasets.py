"""A report of several datasets: a summary, then a part for each, as its own report has it."""

from pathlib import Path
from typing import Any

import pytest
from support.refusals import refusal
from support.report.page import Page
from support.report.runs import SYSTEMS

from nnd.metric.show.reports.page.report import report


@pytest.fixture(scope="module")
def page(two: list[tuple[Path, Path]], tmp_path_factory: pytest.TempPathFactory) -> Page:
    folder, (runs, data) = tmp_path_factory.mktemp("several"), zip(*two, strict=True)
    # Runs and data need not be in the same order.
    report(runs[::-1], folder / "report.html", data=data, systems=SYSTEMS)
    return Page(folder / "report.html")


def embedded(page: Page, name: str) -> str:
    return page.html.split(f'id="{name}">')[1].split("</script>")[0]


def test_the_summary_says_how_it_weighs(page: Page) -> None:
    # Both have 34 tests. dog passes 30 of the sample and 31 of the other: (88.24 + 91.18) / 2.
    words = page.words()
    assert "2 datasets Mean over 2 datasets, each counting once: dog 89.7 %, eel 75.0 %," in words
    assert "mean over 2 datasets 89.7 75.0 69.1 35.3 n/a" in words  # ant is on one alone


@pytest.mark.usefixtures("undrawn")
def test_a_part_is_as_in_a_report_of_its_own(
    page: Page, two: list[tuple[Path, Path]], tmp_path: Path
) -> None:
    of, data = two[1]
    report(of, tmp_path / "alone.html", data=data)
    alone = Page(tmp_path / "alone.html")
    for name in ("numbers", "packed"):
        assert embedded(page, f"{name}-2") == embedded(alone, name) != embedded(page, f"{name}-1")
    (told,) = [alone.words().split(" A test is")[0].split("Distinction ")[-1]]
    assert told in page.words()


def test_ids_are_unique_and_what_is_linked_is_there(page: Page) -> None:
    ids = [attrs["id"] for _, attrs in page.elements if "id" in attrs]
    assert len(ids) == len({*ids})
    links = [attrs.get("href") or "" for tag, attrs in page.elements if tag == "a"]
    inside = [link.removeprefix("#") for link in links if link.startswith("#")]
    assert inside == ["dataset-1", "dataset-2", "pairs", "provenance"]
    assert {*inside} <= {*ids}
    assert all(attrs.get("aria-label") for tag, attrs in page.elements if tag == "article")


@pytest.mark.usefixtures("undrawn")
def test_without_data_runs_are_of_one_dataset_that_share_pairs(
    small_run: Path, other_run: Path, tmp_path: Path
) -> None:
    found = report(
        [small_run, other_run],
        tmp_path / "r.html",
        figures=tmp_path / "f",
        families={"zoo/ant": "zoo"},
    )
    assert found.models == ("zoo/dog", "zoo/cat", "zoo/eel", "zoo/bee", "zoo/ant")
    folders = {path.parent.name for path in found.figures}
    assert len(folders) == 2
    assert f"in {tmp_path / 'f'}." in found.headline()
    page = Page(tmp_path / "r.html")
    assert "2 datasets" in page.words()
    assert "candidates are shown by their ids" in page.words()


def test_what_does_not_fit(
    small_run: Path, other_run: Path, two: list[tuple[Path, Path]], tmp_path: Path
) -> None:
    out, runs = tmp_path / "r.html", [small_run, other_run]
    sample, other = [data for _, data in two]
    scores = sample / "human_scores.parquet"
    refusals: list[tuple[Any, dict[str, Any], str, str]] = [
        (runs, {"data": [sample, other], "human_scores": scores}, "option.conflict", ""),
        (runs, {"human_scores": scores}, "option.conflict", ""),
        (small_run, {"data": [sample, other]}, "run.another-dataset", "other"),
        (runs, {"data": [sample]}, "run.another-data", str(other_run)),
        (runs, {"families": {"zoo/fly": "zoo"}}, "name.unknown", "--family"),
    ]
    for folders, options, code, where in refusals:
        with refusal(code, where):
            report(folders, out, **options)
