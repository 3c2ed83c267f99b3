"""Evaluations and sweeps show themselves: headline, table, picture, frame."""

from typing import Any

import polars as pl
import pytest
from support.screens.evaluations import evaluation, result
from support.screens.tables import row
from support.shown import check_pictured, check_shown
from support.two_models import scored

from nnd.metric.data import SCORED_SCHEMA
from nnd.metric.numbers import pass_rates
from nnd.metric.run import Evaluation, Failure, ModelResult, Sweep
from nnd.schemas import table_text

# 40 tests, each in a context of its own, every other one "rude".
CATEGORIES = ["wrong", "rude"] * 20
BEST = scored("org/best", "+" * 30 + "-" * 10, error_category=CATEGORIES)
WORST = scored("org/worst", "+-" * 10 + "=?" * 10, error_category=CATEGORIES)


def test_the_headline_names_the_best_model() -> None:
    # 30 of 40 passed; 95 % of 10,000 resamples of 40 contexts, the interval of the result itself
    one = evaluation(BEST)
    low, high = one.results[0].rates.overall.interval or (0, 0)
    passes = f"best passes 75.0 % of 40 tests [{100 * low:.1f}, {100 * high:.1f}] on birds"
    assert one.headline() == f"{passes}."
    assert evaluation(WORST, BEST).headline() == f"{passes}, the highest of 2 models."


def test_models_that_pass_alike_share_the_headline() -> None:
    other = BEST.reverse().with_columns(model=pl.lit("org/other"))
    both = "best and other pass 75.0 % of 40 tests on birds"
    assert evaluation(BEST, other).headline() == f"{both}."
    assert evaluation(BEST, WORST, other).headline() == f"{both}, the highest of 3 models."


def test_the_headline_of_nothing() -> None:
    empty = BEST.clear()
    nothing = Evaluation("birds", (), empty, None, None)
    named = result(BEST)
    none = ModelResult(**{**_fields(named), "rates": pass_rates(empty.select(*SCORED_SCHEMA))})
    shown = Evaluation(**{**_fields(nothing), "results": (none,)})
    assert shown.headline() == "There are no tests in birds."
    check_shown(shown)


def _fields(each: Any) -> dict[str, Any]:
    return {name: getattr(each, name) for name in each.__dataclass_fields__}


def test_an_evaluation_shows_its_table_and_its_picture() -> None:
    shown = evaluation(WORST, BEST)
    marks = check_pictured(shown)
    assert "error category: rude" not in str(shown)
    assert row(shown.details()[0], "error category: rude").startswith("20 ")
    for name, rate in (("worst", "25.0 %"), ("best", "75.0 %")):
        assert [mark for mark in marks if mark.startswith(f"{name}, overall: {rate}")]


def test_a_row_of_the_frame_is_a_slice_of_a_model() -> None:
    shown = evaluation(WORST, BEST)
    frame = shown.to_frame()
    assert frame.select("model", "slice", "value").rows() == [
        (f"org/{model}", column, value)
        for model in ("worst", "best")
        for column, value in (
            ("overall", "overall"),
            ("error_category", "rude"),
            ("error_category", "wrong"),
        )
    ]
    # worst: 20 of 40 is + or -, alternately; then ties and unscored ones, alternately
    counts = ("n", "passes", "ties", "unscored")
    assert frame.select(*counts).rows()[:3] == [(40, 10, 10, 10), (20, 0, 0, 10), (20, 10, 10, 0)]
    assert frame["pass_rate"].to_list() == pytest.approx([0.25, 0, 0.5, 0.75, 0.75, 0.75])
    for at, model in ((0, 0), (3, 1)):
        bounds = shown.results[model].rates.overall.interval
        assert frame.select("low", "high").row(at) == bounds
    # All rude ones failed, in every resample as well: Wilson's interval of 0 of 20 stands there.
    assert frame.select("low", "high").row(1) == pytest.approx((0.0, 0.1611), abs=1e-4)


def test_a_sweep_shows_every_dataset() -> None:
    found = {"birds": evaluation(WORST, BEST), "trees": evaluation(BEST, data="trees")}
    failure = Failure("org/worst", "trees", "it does not fit")
    shown = Sweep(found, {}, (failure,))
    check_shown(shown)
    assert shown.headline() == "Results of 2 models on 2 datasets; 1 failure."
    rows = [line.split() for line in table_text(shown.table()).splitlines() if line.strip()]
    assert [row[:3] for row in rows if row[0] in found] == [
        ["birds", "40", "75.0"],  # the first column is the model with the highest mean
        ["trees", "40", "75.0"],
    ]
    frame = shown.to_frame()
    assert (
        frame.filter(pl.col("dataset") == "trees").drop("dataset").equals(found["trees"].to_frame())
    )
    assert frame.height == 9


def test_a_sweep_in_which_all_failed_shows_that() -> None:
    shown = Sweep({}, {}, (Failure(None, "birds", "it is not there"),))
    check_shown(shown)
    assert shown.headline() == "Results of 0 models on 0 datasets; 1 failure."
    assert shown.to_frame().is_empty()
