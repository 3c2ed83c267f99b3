"""The page of a run over a suite: sets and models, with the numbers of the result file."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from support.refusals import refusal
from support.report.page import Page
from support.stored_folders import write_sealed
from support.suites.folders import write_suite

from nnd.metric.likelihood import LoadedModel, Scoring
from nnd.metric.run import evaluate
from nnd.metric.show.reports.page.report import report

Loaded = Callable[[str], LoadedModel]
SCORING = Scoring(cache=False, unconditional=False)


@pytest.mark.usefixtures("undrawn")
def test_effects_are_those_of_the_result_file(loaded: Loaded, tmp_path: Path) -> None:
    suite, run = write_suite(tmp_path / "suite"), tmp_path / "run"
    evaluate([loaded("gpt2"), loaded("bart")], suite, out=run, scoring=SCORING)
    report(run, tmp_path / "report.html", data=suite)
    page = Page(tmp_path / "report.html")

    results = json.loads((run / "result.json").read_text())["results"]
    expected = [{"model": each["model"], **found} for each in results for found in each["suite"]]
    for row in expected:
        del row["by_error_category"]
    assert page.numbers["effects"] == expected
    assert "Sets of the suite" in page.text


def test_models_of_different_sets_have_no_common_page(loaded: Loaded, tmp_path: Path) -> None:
    suites = [write_suite(tmp_path / name) for name in ("one", "other")]
    manifest = json.loads((suites[1] / "manifest.json").read_text())
    write_sealed(suites[1] / "manifest.json", {"sets": manifest["sets"][:1]})
    for suite, model in zip(suites, ("gpt2", "bart"), strict=True):
        evaluate(loaded(model), suite, out=tmp_path / model, scoring=SCORING)

    with refusal("run.another-data"):
        report([tmp_path / "gpt2", tmp_path / "bart"], tmp_path / "report.html")
