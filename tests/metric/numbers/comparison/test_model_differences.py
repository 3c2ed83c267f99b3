"""Differences of two models on the same tests: what is counted, and when one is called better."""

import json
import math
import os
from typing import Any

import numpy as np
import polars as pl
import pytest
from support.report.leads import NO_LEAD
from support.two_models import scored

from nnd.metric.numbers.comparison.model_differences import ModelDifference, find_differences
from nnd.metric.numbers.rates.equal_length import LENGTHS, add_lengths
from nnd.metric.numbers.rates.pass_rates import SLICES
from nnd.metric.numbers.statistics.context_intervals import cluster_intervals
from nnd.metric.numbers.statistics.significance import pairs_needed

FULL = bool(os.environ.get("NND_TEST_FULL"))


def differences(
    a: str, b: str, *, known: dict[str, list[str]] | None = None, **columns: Any
) -> Any:
    """Differences of two models by their verdicts on the same tests (`two_models.scored`)."""
    one, other = scored("a", a, **columns), scored("b", b, **columns)
    lacking = [frame[f"ll_{side}"].is_null() for frame in (one, other) for side in ("high", "low")]
    tokens = {
        f"{name}_{side}": frame[name]
        for side, frame in zip(("first", "second"), map(add_lengths, (one, other)), strict=True)
        for name in LENGTHS
    }
    both = one.with_columns(
        **tokens,
        passed_first="passed",
        passed_second=other["passed"],
        unscored=pl.Series(np.any([each.to_numpy() for each in lacking], axis=0), dtype=pl.Boolean),
    )
    values = {column: sorted(one[column].drop_nulls().unique()) for column in SLICES}
    return find_differences(both, values | (known or {}))


def overall(a: str, b: str, **columns: Any) -> ModelDifference:
    found: ModelDifference = differences(a, b, **columns)[0]
    return found


# Counts


def test_counts_rates_and_p() -> None:
    # Both pass 8 and fail 20; 10 only a, 2 only b: a 18 of 40, b 10 of 40.
    found = overall(
        "+" * 8 + "-" * 20 + "+" * 10 + "-" * 2, "+" * 8 + "-" * 20 + "-" * 10 + "+" * 2
    )
    assert (found.n, found.only_first, found.only_second) == (40, 10, 2)
    assert (found.rate, found.other) == (18 / 40, 10 / 40)
    assert found.difference == 8 / 40
    assert found.p == pytest.approx(158 / 4096)
    assert found.p_holm is None


def test_ties_and_unscored_tests_are_failures_of_the_one_that_has_them_and_counted_once() -> None:
    found = overall("+=", "==")
    assert (found.rate, found.other, found.only_first, found.unscored) == (0.5, 0, 1, 0)
    found = overall("?+?-", "++?-")
    assert (found.rate, found.other) == (0.25, 0.5)
    assert (found.unscored, found.only_second) == (2, 1)


def test_overall_takes_two_candidates_once_and_each_category_takes_them_too() -> None:
    same: dict[str, Any] = {name: ["x", "x", "y"] for name in ("context_id", "high_id", "low_id")}
    found = differences("++-", "---", **same, error_category=["rude", "wrong", "wrong"])
    assert found[0].n == 2
    assert {name: each.n for name, each in found[1]["error_category"].items()} == {
        "rude": 1,
        "wrong": 2,
    }


def test_every_slice_has_its_own_tests() -> None:
    for column in SLICES:
        found = differences("+-+", "--+", **{column: ["x", "y", "y"]})
        assert {name: (each.n, each.only_first) for name, each in found[1][column].items()} == {
            "x": (1, 1),
            "y": (2, 0),
        }
        assert all(found[1][other] == {} for other in SLICES if other != column)


# Very little, or nothing


def test_of_two_tests_or_fewer_nothing_is_decided() -> None:
    assert overall("", "") == NO_LEAD
    # One context shows no spread, and one coin no lean.
    found = overall("+", "-")
    assert (found.difference, found.interval, found.p, found.needed) == (1.0, None, 1.0, None)
    assert found.verdict == "undecided"
    # p = 2 / 2^2; both contexts agree: 1 - 2 * 1.96^2 / (2 + 1.96^2) = -0.3152.
    found = overall("++", "--")
    assert (found.difference, found.contexts, found.p) == (1.0, 2, 0.5)
    assert found.interval == pytest.approx((-0.3152, 1.0), abs=5e-5)
    assert found.verdict == "undecided"


@pytest.mark.parametrize("verdicts", ["+" * 9, "-" * 9, "=" * 9, "?" * 9])
def test_all_equal(verdicts: str) -> None:
    # No discordant test in 9 contexts: Tango's interval, +- 1.96^2 / (9 + 1.96^2).
    found = overall(verdicts, verdicts)
    assert (found.difference, found.p) == (0.0, 1.0)
    assert found.interval == pytest.approx((-0.2991, 0.2991), abs=5e-5)
    assert (found.verdict, found.needed) == ("undecided", None)


def test_a_category_without_a_test_is_null_and_no_member_of_the_family() -> None:
    found = differences(*("+" * 6, "-" * 6), known={"aspect": ["gone", "x"]}, aspect="x")[1][
        "aspect"
    ]
    assert found["gone"] == NO_LEAD
    # 2 / 2^6, alone in its family.
    assert found["x"].p_holm == found["x"].p == 1 / 32


# Intervals


def test_the_interval_is_over_contexts() -> None:
    # One context holds three tests of a's, the other one of b's: that leaves everything open.
    found = overall("+++-", "---+", context_id=["x", "x", "x", "y"])
    assert found.interval == pytest.approx((-1.0, 1.0))
    assert found.contexts == 2


def test_the_interval_is_paired() -> None:
    # Two models that fail the same half of 100 tests and differ in one: the lead is known to +- 2
    # points, though each rate for itself is known to +-10 points only.
    a = "+" * 50 + "-" * 50
    found = overall(a, "-" + a[1:])
    assert found.interval is not None
    assert -0.01 <= found.interval[0] <= 0.01 <= found.interval[1] <= 0.03


def test_the_other_way_round_everything_is_mirrored() -> None:
    a, b = "++-+-+++-+" * 6, "+--+--+-++" * 6  # of ten, 3 only a passes and 1 only b
    one, other = overall(a, b), overall(b, a)
    counts = (other.difference, other.only_first, other.only_second)
    assert counts == (-(one.difference or 0), 6, 18)
    assert (other.p, one.only_first) == (one.p, 18)
    assert one.interval is not None
    assert other.interval == pytest.approx([-bound for bound in one.interval[::-1]], abs=0.02)


# When one is better


def test_the_better_one_is_so_by_interval_and_p_value() -> None:
    assert overall("+" * 10, "-" * 10).verdict == "first"
    assert overall("-" * 10, "+" * 10).verdict == "second"
    # p = 2 / 2^5 = 0.0625; all five contexts agree: Tango's bound solves, for a difference d,
    # (5 - 5 d)^2 = 1.96^2 * 5 (1 - d^2), so d = (5 - 1.96^2) / (5 + 1.96^2).
    found = overall("+" * 5, "-" * 5)
    assert found.p == 0.0625
    assert found.interval == pytest.approx((0.1310, 1.0), abs=5e-5)
    assert found.verdict == "undecided"
    # Six contexts are a's, p = 2 / 2^6; a large one is nobody's.
    found = overall("+" * 6 + "-" * 40, "-" * 46, context_id=[*"abcdef", *"g" * 40])
    assert found.p == 2 / 2**6
    assert found.interval == pytest.approx((-1.0, 1.0))
    assert found.verdict == "undecided"


def test_categories_are_one_family_and_each_column_has_its_own() -> None:
    # Six tests of a's in each of two categories: p = 2 / 2^6 each, doubled 0.0625. As one aspect
    # they are twelve, p = 2 / 2^12 and nothing to adjust for.
    found = differences("+" * 12, "-" * 12, error_category=["x"] * 6 + ["y"] * 6, aspect="all")
    assert [each.p_holm for each in found[1]["error_category"].values()] == [0.0625, 0.0625]
    assert [each.verdict for each in found[1]["error_category"].values()] == ["undecided"] * 2
    assert found[1]["aspect"]["all"].p_holm == 2 / 2**12
    assert found[1]["aspect"]["all"].verdict == "first"
    # Alone, either category would do.
    alone = differences("+" * 6, "-" * 6, error_category="x")[1]["error_category"]["x"]
    assert alone.verdict == "first"


# How many it takes


@pytest.mark.parametrize(
    ("together", "effect"),
    [(1, 400 / 399), (5, 5 * 80 / 79)],  # the variance of independent tests, but for n / (n - 1)
    ids=["each alone", "five alike in a context"],
)
def test_needed_from_the_discordance_and_the_design_effect(together: int, effect: float) -> None:
    # 400 tests, 40 of them a's and 40 b's: discordance 0.2. Five alike to a context: effect 5.
    contexts = [f"c{number // together}" for number in range(400)]
    verdicts = ("+" * 40 + "-" * 360, "-" * 40 + "+" * 40 + "-" * 320)
    found = overall(*verdicts, context_id=contexts).needed
    assert found is not None
    assert found.discordance == 0.2
    assert found.design_effect == pytest.approx(effect)
    assert found.tests == pairs_needed(0.2, 0.02, design_effect=found.design_effect)
    assert found.clusters == math.ceil(found.tests / together)


# For machines


def test_the_dictionary_is_plain_json() -> None:
    found = differences("+-?=", "-+++", aspect=["x", "x", "y", "y"])
    plain = found[0].to_dict()
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert plain["verdict"] == "undecided"
    assert found[1]["aspect"]["y"].to_dict()["unscored"] == 1
    assert found[1]["error_category"] == {}


# Coverage


@pytest.mark.slow
def test_the_interval_covers_the_true_difference_as_often_as_it_says() -> None:
    # 150 contexts of 1 to 6 tests. Each context draws how likely a is to pass from Beta(3, 2), mean
    # 0.6, and b from the same draw, halved for every other context: mean 0.6 * 0.75 = 0.45. So the
    # true difference is 0.15; tests of one context share their chances.
    # Drawn in turn: both pass, else a alone, else b alone.
    times = 4_000 if FULL else 1_000
    rng = np.random.default_rng(5)
    shape = (150, times)
    tests = rng.integers(1, 7, size=shape)
    chance = rng.beta(3, 2, size=shape)
    halved = np.where(rng.random(shape) < 0.5, 0.5, 1.0)
    both = rng.binomial(tests, chance * chance * halved)
    only_first = rng.binomial(
        tests - both, chance * (1 - chance * halved) / (1 - chance**2 * halved)
    )
    only_second = rng.binomial(tests - both - only_first, chance * halved)
    found = cluster_intervals(only_first - only_second, only_first + only_second, tests, lowest=-1)
    covered = sum(each.bounds[0] <= 0.15 <= each.bounds[1] for each in found if each.bounds)
    reach = 0 if FULL else 3 * math.sqrt(0.95 * 0.05 / times)
    assert 0.93 - reach <= covered / times <= 0.97 + reach
