"""Another model written to the folder of a run is added to it; what does not fit is refused."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from support.refusals import refusal
from support.stored_folders import write_sealed, write_text

from nnd.metric.data import read_run
from nnd.metric.likelihood import LoadedModel, Scoring
from nnd.metric.numbers import agree
from nnd.metric.run import VERSION, Evaluation, evaluate
from nnd.metric.run.launchers import here
from nnd.metric.run.model_scoring import evaluate_model
from nnd.metric.show.reports.page.report import report

Saved = Callable[[str], Path]


def run(models: str | list[str], data: Path, out: Path | None, **more: Any) -> Evaluation:
    scoring = Scoring(cache=False, protocol=more.pop("protocol", "native"))
    found = evaluate(models, data, out=out, scoring=scoring, **more)
    assert isinstance(found, Evaluation)
    return found


def results(folder: Path) -> list[dict[str, Any]]:
    found = json.loads((folder / "result.json").read_text(encoding="utf-8"))["results"]
    assert isinstance(found, list)
    return found


@pytest.fixture(scope="module")
def first_run(models: list[str], birds: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("first") / "run"
    run(models[0], birds, out)
    return out


@pytest.fixture
def out(first_run: Path, tmp_path: Path) -> Path:
    """A run of the first model, to add to."""
    return Path(shutil.copytree(first_run, tmp_path / "run"))


def test_a_model_that_another_process_adds_meanwhile_stays(
    models: list[str], birds: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gpt2, bart = models

    def score_while_another_is_added(loaded: LoadedModel, *asked: Any, **options: Any) -> Any:
        if loaded.name == bart:
            run(gpt2, birds, tmp_path / "run")
        return evaluate_model(loaded, *asked, **options)

    monkeypatch.setattr(here, "evaluate_model", score_while_another_is_added)

    found = run(bart, birds, tmp_path / "run")

    assert [each.model for each in found.results] == [gpt2, bart]
    assert [each["model"] for each in results(tmp_path / "run")] == [gpt2, bart]


def test_a_model_that_is_there_is_replaced(models: list[str], birds: Path, tmp_path: Path) -> None:
    run(models, birds, tmp_path / "run")
    stored = json.loads((tmp_path / "run" / "result.json").read_text())
    stored["results"][0]["notes"] = ["stale"]
    write_sealed(tmp_path / "run" / "result.json", stored)

    run(models[0], birds, tmp_path / "run")

    found = results(tmp_path / "run")
    assert sorted(each["model"] for each in found) == sorted(models)
    assert not any("stale" in each["notes"] for each in found)
    rows = pl.read_parquet(tmp_path / "run" / "log_likelihoods.parquet")
    assert rows.select("model", "pair_id").is_unique().all()


def test_a_template_of_one_model_stays_with_it(
    models: list[str], birds: Path, tmp_path: Path, saved: Saved
) -> None:
    out, templates = tmp_path / "run", {models[0]: "Q: {paragraph}"}
    run(models[0], birds, out, templates=templates)
    last = run(models[1], birds, out)
    run(third := str(saved("t5")), birds, out)

    assert last.templates == templates
    assert {each["model"]: each["template"] for each in results(out)} == {
        models[0]: "Q: {paragraph}",
        models[1]: "default",
        third: "default",
    }
    with refusal("place.holds-a-run", "run"):
        run(models[0], birds, out)


@pytest.mark.parametrize(
    ("more", "facts"),
    [({"protocol": "sum"}, ["native", "sum"]), ({"limit": 2}, ["--limit 2"])],
)
def test_another_run_is_refused(
    models: list[str], birds: Path, out: Path, more: dict[str, Any], facts: list[str]
) -> None:
    before = (out / "result.json").read_bytes()

    with refusal("place.holds-a-run", str(out)) as caught:
        run(models[1], birds, out, **more)

    assert all(fact in caught.value.what for fact in (models[0], *facts))
    assert (out / "result.json").read_bytes() == before


def test_a_run_of_earlier_rules_is_refused(models: list[str], birds: Path, out: Path) -> None:
    stored = json.loads((out / "result.json").read_text())
    (signature,) = [each["signature"] for each in stored["results"]]
    stored["results"][0]["signature"] = signature.replace(f"|v:{VERSION}|", "|v:0.1.0|")
    write_sealed(out / "result.json", stored)

    with refusal("place.holds-a-run", "run"):
        run(models[1], birds, out)


@pytest.mark.parametrize("broken", ["{}", '{"results": [{}]}', "[]"])
def test_a_result_that_cannot_be_added_to_is_refused(
    models: list[str], birds: Path, out: Path, broken: str
) -> None:
    write_text(out / "result.json", broken)
    before = (out / "log_likelihoods.parquet").read_bytes()

    with refusal("place.foreign-files", "run"):
        run(models[1], birds, out)
    assert (out / "log_likelihoods.parquet").read_bytes() == before


def test_who_stands_for_whom_is_kept_and_used(
    models: list[str], birds: Path, tmp_path: Path
) -> None:
    chosen = dict(zip(models, ["left", "right"], strict=True))
    for model in models:
        last = run(model, birds, tmp_path / "run", systems={model: chosen[model]})

    assert last.systems == chosen
    assert last.agreement is not None
    assert agree(tmp_path / "run", birds).systems == chosen
    crossed = dict(zip(models, ["right", "left"], strict=True))
    assert agree(tmp_path / "run", birds, systems=crossed).systems == crossed


def test_a_part_says_of_how_many_tests(models: list[str], birds: Path, tmp_path: Path) -> None:
    whole = run(models[0], birds, tmp_path / "whole").results[0].to_dict()
    found = run(models[0], birds, tmp_path / "run", limit=3)
    part = found.results[0].to_dict()
    page = report(tmp_path / "run", out=tmp_path / "report.html").page.read_text(encoding="utf-8")

    assert 0 < part["n"] < whole["n"]
    assert "n_whole" not in whole
    assert part["n_whole"] == whole["n"]
    assert f" % of {part['n']} of {whole['n']} tests" in found.headline()
    title = f"<title>birds ({part['n']} of {whole['n']} tests): Near-Negative Distinction</title>"
    assert title in page
    assert f"of {part['n']} of {whole['n']} tests" in page.partition("<h1>")[2]


def test_a_part_is_told_in_headline_and_signature(
    models: list[str], birds: Path, tmp_path: Path
) -> None:
    found = run(models[0], birds, tmp_path / "run", limit=3, categories=["off_target"])

    assert "--category off_target" in found.headline()
    assert "--limit 3" in found.headline()
    assert "|category:off_target|limit:3|" in found.results[0].signature
    assert found.results[0].rates.n_pairs <= 3
    with refusal("name.unknown", "birds"):
        run(models[0], birds, None, categories=["off"])


# Several writers

WRITERS = """
import gc, multiprocessing, sys
import torch, transformers  # once for all writers
from nnd.metric.likelihood import Scoring
from nnd.metric.run import evaluate
import nnd.metric.run.launchers.side_by_side  # which is imported late

tries, data, place, *models = sys.argv[1:]
several = multiprocessing.get_context("fork")
all_ready = several.Barrier(len(models))
gc.freeze()  # a collection in a writer would copy all that it visits

def write(model):
    for number in range(int(tries)):
        all_ready.wait()
        evaluate(model, data, out=f"{place}/run {number}", scoring=Scoring(cache=False))

writers = [several.Process(target=write, args=(model,)) for model in models]
for writer in writers:
    writer.start()
for writer in writers:
    writer.join()
sys.exit(any(writer.exitcode for writer in writers))
"""

TRIES = 12 if os.environ.get("NND_TEST_FULL") else 2


def test_several_processes_add_their_models_to_one_run(
    saved: Saved, birds: Path, tmp_path: Path
) -> None:
    """As in an array of jobs."""
    models = [str(saved(name)) for name in ("gpt2", "bart", "t5")]
    place = tmp_path / "place"
    place.mkdir()
    command = [sys.executable, "-c", WRITERS, str(TRIES), birds, place, *models]
    subprocess.run(command, check=True, timeout=300)
    for number in range(TRIES):
        out = place / f"run {number}"
        assert sorted(each["model"] for each in results(out)) == sorted(models)
        assert sorted(read_run(out)["model"].unique()) == sorted(models)
    assert len([*place.iterdir()]) == TRIES
