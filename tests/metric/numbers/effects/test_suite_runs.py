"""Evaluating a suite: one pass over parents and sets, and a run folder that models are added to."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from support.metric_runs import pair_rows
from support.refusals import refusal
from support.stored_folders import write_sealed
from support.suites.folders import shouted_pairs, write_suite

from nnd.metric.data import choose_part, load_pairs
from nnd.metric.likelihood import Likelihoods, LoadedModel, Scoring
from nnd.metric.run import Evaluation, evaluate
from nnd.metric.run.pair_scoring import score_suite
from nnd.metric.text import Request, find_template
from nnd.schemas import check_rows

Loaded = Callable[[str], LoadedModel]


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One that is only read."""
    return write_suite(tmp_path_factory.mktemp("suites") / "suite")


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """One to change."""
    return write_suite(tmp_path / "suite")


def run(model: LoadedModel | list[LoadedModel], data: Path, out: Path | None = None) -> Evaluation:
    found = evaluate(model, data, out=out, scoring=Scoring(cache=False, unconditional=False))
    assert isinstance(found, Evaluation)
    return found


@pytest.fixture(scope="module")
def gpt2_run(loaded: Loaded, suite: Path) -> Evaluation:
    return run(loaded("gpt2"), suite)


@pytest.fixture(scope="module")
def birds_run(loaded: Loaded, birds: Path) -> Evaluation:
    """The human pairs of the suite alone."""
    return run(loaded("gpt2"), birds)


@pytest.fixture(scope="module")
def both(
    loaded: Loaded, suite: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Evaluation, Path]:
    """Two models, and the folder of their run."""
    out = tmp_path_factory.mktemp("both") / "run"
    return run([loaded("gpt2"), loaded("bart")], suite, out), out


def test_parents_and_sets_are_scored_in_one_call_and_shared_pairs_once(suite: Path) -> None:
    calls: list[Sequence[Request]] = []

    def scorer(requests: Sequence[Request]) -> Likelihoods:
        calls.append(requests)
        n = len(requests)
        return Likelihoods(
            np.arange(n, dtype=float), np.ones(n, dtype=int), np.zeros(n, dtype=bool)
        )

    found = score_suite(load_pairs(suite), scorer, find_template("default"))
    scored, children = found.pairs, found.children

    (requests,) = calls
    assert len(requests) == 2 * (8 + 6)  # the pairs of slice-first are parents, and scored as such
    assert scored["pair_id"].to_list() == pair_rows()["pair_id"].to_list()
    assert children["set"].value_counts().sort("set").rows() == [("shouted", 6), ("slice-first", 3)]
    assert children["ll_high"].to_list() == [float(n) for n in [*range(8, 14), 0, 1, 2]]


def test_the_pass_rate_is_that_of_the_human_pairs(
    gpt2_run: Evaluation, birds_run: Evaluation
) -> None:
    (result,) = gpt2_run.to_dict()["results"]

    effects = result.pop("suite")
    ignored = {"engine": None, "signature": None}  # tokens; the name of the folder
    assert result | ignored == birds_run.to_dict()["results"][0] | ignored
    assert gpt2_run.scored.equals(birds_run.scored)
    assert [(each["set"], each["kind"], each["op"], each["n"]) for each in effects] == [
        ("shouted", "perturbation", "shout", 6),
        ("slice-first", "slice", "first", 3),
    ]
    assert effects[0]["other"] is not None


def test_negatives_are_beside_the_human_pairs_and_not_among_them(
    loaded: Loaded, own: Path, birds_run: Evaluation
) -> None:
    made = (
        pair_rows()
        .head(4)
        .with_columns(
            pair_id="made" + pl.col("pair_id"),
            parent_id=pl.lit(None, pl.String),
            origin=pl.lit("synthetic:negation"),
            candidate_low="not " + pl.col("candidate_high"),
            low_id=pl.col("high_id") + "~negation.1",
        )
    )
    made.write_parquet(own / "sets" / "negation.parquet")
    negation = {"name": "negation", "kind": "negatives", "operation": "negation"}
    write_sealed(own / "manifest.json", {"sets": [negation]})
    (alone,) = birds_run.to_dict()["results"]
    (result,) = run(loaded("gpt2"), own).to_dict()["results"]
    (effect,) = result["suite"]

    assert (result["n"], result["pass_rate"]) == (alone["n"], alone["pass_rate"])
    assert (effect["n"], effect["parents"]) == (made["low_id"].n_unique(), None)
    assert effect["other"] == alone["pass_rate"]
    assert effect["difference"] == effect["rate"] - effect["other"]


def test_the_effect_is_that_of_pairs_scored_alone(loaded: Loaded, gpt2_run: Evaluation) -> None:
    (of_suite,) = gpt2_run.to_dict()["results"]
    children = evaluate(loaded("gpt2"), shouted_pairs(), scoring=Scoring(cache=False)).to_dict()
    parents = evaluate(loaded("gpt2"), pair_rows().head(6), scoring=Scoring(cache=False)).to_dict()

    effect = of_suite["suite"][0]
    assert effect["rate"] == children["results"][0]["pass_rate"]
    assert effect["other"] == parents["results"][0]["pass_rate"]


def test_the_result_keeps_the_schema_and_a_run_of_other_sets_takes_no_model(
    loaded: Loaded, own: Path, tmp_path: Path
) -> None:
    run(loaded("gpt2"), own, tmp_path / "run")
    stored = json.loads((tmp_path / "run" / "result.json").read_text(encoding="utf-8"))

    assert list(check_rows("result", [stored])) == []
    assert {*stored["outputs"]} == {"log_likelihoods.parquet", "sets.parquet"}
    assert pl.read_parquet(tmp_path / "run" / "log_likelihoods.parquet").height == 8
    sets = pl.read_parquet(tmp_path / "run" / "sets.parquet")
    assert sets.columns[:4] == ["model", "set", "parent_id", "pair_id"]
    assert sets.height == 6 + 3
    shouted_pairs().head(5).write_parquet(own / "sets" / "shouted.parquet")
    with refusal("place.holds-a-run", "run"):
        run(loaded("bart"), own, tmp_path / "run")


def test_a_run_made_model_by_model_is_the_run_of_both(
    loaded: Loaded, suite: Path, both: tuple[Evaluation, Path], tmp_path: Path
) -> None:
    for name in ("gpt2", "bart"):
        last = run(loaded(name), suite, tmp_path / "run")

    found, out = both
    assert last.to_dict() == found.to_dict()
    for name in ("result.json", "log_likelihoods.parquet", "sets.parquet"):
        assert (tmp_path / "run" / name).read_bytes() == (out / name).read_bytes()


def test_a_part_of_a_suite_keeps_the_children_of_its_pairs(suite: Path) -> None:
    part = choose_part(load_pairs(suite), categories=["disfluent"])
    disfluent = pair_rows().filter(pl.col("error_category") == "disfluent")["pair_id"].to_list()

    assert part.pairs["pair_id"].to_list() == disfluent
    children, first = part.sets
    assert children.pairs["parent_id"].to_list() == disfluent[:2]
    assert first.pairs["pair_id"].to_list() == disfluent[:1]


def test_a_suite_without_a_parent_or_a_set_of_its_manifest_is_refused(own: Path) -> None:
    (own / "sets" / "shouted.parquet").unlink()
    with refusal("data.convert-again", "suite"):
        load_pairs(own)
    shouted_pairs().write_parquet(own / "sets" / "shouted.parquet")
    pair_rows().tail(7).write_parquet(own / "pairs.parquet")
    with refusal("data.convert-again", f"{own}: set shouted") as caught:
        load_pairs(own)
    assert "child0000000000000000" in caught.value.what


def test_what_people_see_has_the_headline_as_ever_and_a_table_of_effects(
    both: tuple[Evaluation, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    found, _ = both
    lines = str(found).splitlines()

    assert lines[0] == found.headline()
    assert "No set of the suite lowers a pass rate significantly." in lines
    table = [line.split() for line in lines[lines.index(" shouted") :]]
    assert [row[:2] for row in table[1:3]] == [["gpt2", "6"], ["bart", "6"]]
    assert max(len(line) for line in lines if line.startswith(" ")) <= 80
    assert "<td" in found._repr_html_()
