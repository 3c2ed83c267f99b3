"""Slices of stored runs: rates, intervals, what is below the rest; nothing is scored again."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from support.refusals import refusal
from support.shown import check_pictured
from support.two_models import scored, write_run

from nnd.metric.data import load_pairs
from nnd.metric.likelihood import Likelihoods
from nnd.metric.numbers import Slices, pass_rates, slice_runs
from nnd.metric.run import score_pairs
from nnd.metric.text import Request, find_template
from nnd.schemas import check_rows, table_text

N = 60
"""Tests, each of a context of its own; those of the first third are "hard"."""

KINDS = ["hard"] * 20 + ["easy"] * 40
GOOD = "+---" * 5 + "+" * 38 + "-" * 2  # 5 of 20, 38 of 40
EVEN = "+-" * 30


@pytest.fixture
def run(tmp_path: Path) -> Path:
    texts = {"characters_high": [5] * N, "characters_low": [5] * N}
    frames = [
        scored(name, verdicts, error_category=KINDS, aspect="quality", **texts)
        for name, verdicts in (("org/good", GOOD), ("org/even", EVEN))
    ]
    return write_run(tmp_path / "run", *frames)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    frame = pl.DataFrame(
        {
            "pair_id": [f"p{n}" for n in range(N)],
            "context_id": [f"c{n}" for n in range(N)],
            "context": ["x" * n for n in range(N)],
            "candidate_high": ["x why"] * N,
            "candidate_low": ["x not"] * N,
        }
    )
    frame.write_parquet(tmp_path / "birds.parquet")
    return tmp_path / "birds.parquet"


def rates(found: Slices, model: str) -> dict[str, float | None]:
    return {each.name: each.models[model].rate.pass_rate for each in found.slices}


def test_a_category_is_the_one_of_the_result(run: Path) -> None:
    found = slice_runs(run, by="error_category")
    stored = pl.read_parquet(run / "log_likelihoods.parquet").filter(model="org/good")
    expected = pass_rates(stored.drop("model"))
    assert found.overall["org/good"] == expected.overall
    by_name = {each.value: each.models["org/good"].rate for each in found.slices}
    assert by_name == expected.by["error_category"]


def test_a_slice_below_the_rest_is_said(run: Path) -> None:
    found = slice_runs(run, by="error_category")
    assert found.headline() == (
        "Of 2 slices of run, 1 is significantly below the rest; furthest is error_category=hard, "
        "where good passes 25.0 % of 20 tests, 70.0 points below the rest."
    )
    verdicts = {
        (each.value, model): one.from_rest.verdict
        for each in found.slices
        for model, one in each.models.items()
    }
    assert verdicts == {
        ("easy", "org/good"): "first",
        ("hard", "org/good"): "second",
        ("easy", "org/even"): "undecided",
        ("hard", "org/even"): "undecided",
    }
    # The two slices are each other's rest: one p each for two models, twice; Holm of four.
    good = found.slices[1].models["org/good"].from_rest
    assert good.p is not None
    assert good.p_holm == pytest.approx(4 * good.p)


def test_g12_an_empty_bin_is_null_with_n_0(run: Path, data: Path) -> None:
    found = slice_runs(run, data, by="length=0,30,59,100,200")
    empty = found.slices[-1]
    assert [each.n for each in found.slices] == [30, 29, 1, 0]
    assert [one.rate.pass_rate for one in empty.models.values()] == [None, None]
    one = empty.to_dict()["models"]["org/good"]
    assert (one["rate"]["n"], one["rate"]["interval"]) == (0, None)
    assert one["from_rest"]["verdict"] == "untested"
    assert re.search(r"length=\[100,200\] +0 +0 +n/a +n/a", table_text(found.table(), 200))


def test_g20_a_test_in_two_categories_counts_in_both_and_that_is_said(tmp_path: Path) -> None:
    pairs = scored(
        "a",
        "++--",
        context_id=["c0", "c0", "c1", "c2"],
        high_id=["h", "h", "h1", "h2"],
        low_id=["l", "l", "l1", "l2"],
        error_category=["x", "y", "x", None],
    )
    found = slice_runs(write_run(tmp_path / "run", pairs), by="error_category")
    assert found.n == 3  # the first two are one test
    assert {each.value: each.n for each in found.slices} == {"x": 2, "y": 1}
    overlap, outside, *_ = found.remarks()
    assert overlap.startswith("error_category: its slices hold 3 tests together and 2 different")
    assert outside == "error_category: 1 of 3 tests are in none of its slices."
    # The test of y is a test of x too: it is not in the rest of x.
    x = found.slices[0].models["a"]
    assert x.from_rest.difference == 1 / 2 - 0 / 1


def test_g27_twenty_slices_call_the_scorer_once(tmp_path: Path, data: Path) -> None:
    calls = 0

    def score(requests: Sequence[Request]) -> Likelihoods:
        nonlocal calls
        calls += 1
        values = np.random.default_rng(0).normal(size=len(requests))
        count = len(requests)
        return Likelihoods(values, np.ones(count, np.int64), np.zeros(count, np.bool_))

    rows = score_pairs(load_pairs(data), score, find_template("default"))
    run = write_run(tmp_path / "run", rows.select(pl.lit("a").alias("model"), pl.all()))
    found = slice_runs(
        run,
        data,
        by="length:quantiles=10,novelty:low=0%,50%,100%,shape:low,length:high,candidates",
        where=["length > 7", "length < 9"],
    )
    assert len(found.slices) + len(slice_runs(run, data, by="novelty").slices) >= 20
    assert calls == 1


def test_slices_are_found_and_the_search_is_paid_for(run: Path, data: Path) -> None:
    found = slice_runs(run, data, find=True)
    assert found.search is not None
    # p0 … p19 are the hard ones, and the ones of short contexts; equal slices are tried once.
    assert [each.name for each in found.slices] == ["category=hard", "length=[0,15)"]
    tried = found.search.tried
    one = found.slices[0].models["org/good"].from_rest
    assert one.p is not None
    assert one.p_holm is not None
    assert tried * one.p < one.p_holm < 2 * tried * one.p  # of two models, and not the smallest p
    among_two = slice_runs(run, by="category", find=True).slices[0].models["org/good"].from_rest
    assert among_two.p == one.p
    assert among_two.p_holm == pytest.approx(4 * one.p)
    assert found.headline().startswith(
        f"Of {tried} slices of birds with 10 contexts or more, 2 are "
    )
    large = slice_runs(run, data, by="error_category", find=True, contexts=21)
    assert [each.name for each in large.slices] == []  # "hard" has 20, "easy" is above
    assert large.headline() == (
        "Of 1 slice of birds with 21 contexts or more, none is significantly below the rest."
    )
    assert large.table() is None


def test_conditions_and_joined_names_are_slices(run: Path, data: Path) -> None:
    both = "error_category=hard & where=length > 9"
    options: dict[str, Any] = {"by": "error_category", "where": "length > 9"}
    found = slice_runs(run, data, **options, names=["where=length > 9", both])
    assert [each.name for each in found.slices] == ["where=length > 9", both]
    assert found.slices[1].pair_ids.to_list() == [f"p{n}" for n in range(10, 20)]
    alone = slice_runs(run, data, where="length > 9")
    assert alone.headline() == "where=length > 9 is not significantly below the rest of birds."
    assert rates(found, "org/good") == {"where=length > 9": 40 / 50, both: 0.2}


def test_it_shows_itself(run: Path, data: Path) -> None:
    found = slice_runs(run, data, by="error_category,length=0,30,59")
    marks = check_pictured(found)
    assert [mark for mark in marks if mark.startswith("good, error category=hard: 25.0 %")]
    assert [*check_rows("slices", [found.to_dict()])] == []
    frame = found.to_frame()
    assert frame.height == 8
    row = frame.row(
        by_predicate=(pl.col("value") == "hard") & (pl.col("model") == "org/good"), named=True
    )
    assert (row["n"], row["contexts"], row["pass_rate"], row["verdict"]) == (20, 20, 0.25, "second")
    assert row["difference"] == pytest.approx(-0.7)
    details = table_text(found.details()[0], 200)  # type: ignore[arg-type]
    assert re.search(r"error_category=hard +good +20 +-70\.0 \[.*below", details)


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({}, "input.missing"),
        ({"by": "length"}, "column.missing"),
        ({"where": "length > 9"}, "column.missing"),
        ({"by": "colour"}, "name.unknown"),
        ({"where": "colour = 'red'"}, "name.unknown"),
        ({"where": "ll_high > 5"}, "slice.empty"),
        ({"where": "length >"}, "expression.invalid"),
        ({"by": "aspect", "names": "aspect=style"}, "name.unknown"),
    ],
)
def test_what_does_not_work_is_one_clear_error(
    run: Path, options: dict[str, Any], code: str
) -> None:
    with refusal(code):
        slice_runs(run, **options)


def test_a_run_of_other_data_is_one_clear_error(run: Path, data: Path) -> None:
    pairs = pl.read_parquet(data)
    with refusal("run.another-data", "frame"):
        slice_runs(run, pairs.head(50), by="length")
    with refusal("run.another-data", "frame"):
        slice_runs(run, pairs.with_columns(candidate_low=pl.lit("others")), by="length")
