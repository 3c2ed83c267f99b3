"""What a run cost is told and stored beside its results, and no digest covers it."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from support.metric_runs import write_pairs

from nnd.metric.data import read_run
from nnd.metric.likelihood import LoadedModel, Scoring, Work
from nnd.metric.run import evaluate
from nnd.metric.run.model_cost import COST, ModelCost, add_costs, cost_of, read_costs
from nnd.schemas import NNDError, read_document

Loaded = Callable[[str], LoadedModel]

PLAIN = Scoring(cache=False)


def test_the_time_of_the_model_is_shared_with_the_baseline_by_tokens() -> None:
    """10 s of the model, a quarter of its tokens in the baseline; 2 s of proof; 15 s in all."""
    work = Work(
        *("packed", (), 0.0), tokens=400, requests=9, seconds=10, proof_seconds=2, baseline=0.25
    )
    cost = cost_of("m", work, loading=3, seconds=15, peak_bytes=2_000_000_000)
    assert (cost.baseline_seconds, cost.scoring_seconds) == (2.5, 15 - 2 - 2.5)
    assert cost.sentence() == (
        "m took 18.0 s (loading 3.0, proof 2.0, baseline 2.5, scoring 10.5), for 400 tokens "
        "(0 of 9 requests were stored), and at most 2.00 GB of memory"
    )


def test_a_run_says_what_it_cost(loaded: Loaded, tmp_path: Path) -> None:
    data, run = write_pairs(tmp_path), tmp_path / "run"
    found = evaluate(loaded("gpt2"), data, out=run, scoring=PLAIN)

    (cost,) = found.costs
    (work,) = (result.work for result in found.results)
    assert (cost.tokens, cost.requests, cost.stored) == (work.tokens, work.requests, 0)
    assert min(cost.proof_seconds, cost.baseline_seconds, cost.scoring_seconds) > 0
    assert cost.peak_bytes > 10_000_000
    # Of each context's tokens, and of each candidate's with its context and without: 4 contexts,
    # so the baseline has less than half.
    assert 0 < work.baseline < 0.5
    assert cost.sentence() in found.details()
    assert json.loads((run / COST).read_bytes())["models"] == [cost.to_dict()]
    assert COST not in read_document(run / "result.json")["outputs"]
    alone = evaluate(loaded("gpt2"), data, scoring=Scoring(cache=False, unconditional=False))
    assert [result.work.baseline for result in alone.results] == [0]


def test_a_model_that_is_kept_keeps_its_cost(loaded: Loaded, tmp_path: Path) -> None:
    data, run = write_pairs(tmp_path), tmp_path / "run"
    first = evaluate(loaded("gpt2"), data, out=run, scoring=PLAIN)
    both = evaluate(loaded("bart"), data, out=run, scoring=PLAIN)
    assert [each.model for each in both.costs] == ["gpt2", "bart"]
    assert both.costs[0] == first.costs[0]
    assert read_costs(run / COST) == {each.model: each for each in both.costs}


def test_a_run_that_computes_nothing_keeps_the_cost_of_the_one_that_did(
    loaded: Loaded, tmp_path: Path
) -> None:
    data, run = write_pairs(tmp_path), tmp_path / "run"
    first = evaluate(loaded("gpt2"), data, out=run)
    again = evaluate(loaded("gpt2"), data, out=run)
    assert [result.work.tokens for result in again.results] == [0]
    assert again.costs == first.costs == (*read_costs(run / COST).values(),)
    assert "gpt2 took" in first.costs[0].sentence()
    assert "s in an earlier run (loading" in again.costs[0].sentence()
    # The bill in the folder is not that of other weights of this name.
    other = replace(loaded("bart"), name="gpt2")
    evaluate(other, data)
    assert [each.tokens for each in evaluate(other, data, out=run).costs] == [0]


def test_what_parts_cost_is_added() -> None:
    one = ModelCost(model="m", loading_seconds=1.5, scoring_seconds=0.25, tokens=7, requests=3)
    other = ModelCost(
        model="m",
        loading_seconds=2,
        proof_seconds=0.5,
        baseline_seconds=0.125,
        scoring_seconds=0.5,
        tokens=5,
        requests=4,
        stored=1,
        peak_bytes=9,
    )
    assert add_costs([one, other, replace(other, peak_bytes=4)]).to_dict() == {
        "model": "m",
        "loading_seconds": 5.5,
        "proof_seconds": 1.0,
        "baseline_seconds": 0.25,
        "scoring_seconds": 1.25,
        "tokens": 17,
        "requests": 11,
        "stored": 2,
        "peak_bytes": 9,
    }


def test_what_people_do_to_the_cost_concerns_no_result(loaded: Loaded, tmp_path: Path) -> None:
    data, run = write_pairs(tmp_path), tmp_path / "run"
    evaluate(loaded("gpt2"), data, out=run, scoring=PLAIN)
    rows = read_run(run)
    for damage in ("{", '{"models": [{"model": "gpt2", "tokens": "many"}]}'):
        (run / COST).write_text(damage)
        assert read_costs(run / COST) == {}
        assert read_run(run).equals(rows)
        with pytest.raises(NNDError, match=COST):  # a person's file is not replaced
            evaluate(loaded("gpt2"), data, out=run, scoring=PLAIN)
        (run / COST).unlink()
        assert read_costs(run / COST) == {}
        evaluate(loaded("gpt2"), data, out=run, scoring=PLAIN)
        assert [*read_costs(run / COST)] == ["gpt2"]
    (run / "result.json").unlink()
    (run / "log_likelihoods.parquet").unlink()
    with pytest.raises(NNDError, match=COST):  # of a folder that nnd did not write
        evaluate(loaded("gpt2"), data, out=run, scoring=PLAIN)


def test_a_stored_result_cost_nothing() -> None:
    cost = ModelCost(model="m", requests=9, stored=9)
    assert cost.sentence() == "m cost nothing: all likelihoods are from earlier runs"
