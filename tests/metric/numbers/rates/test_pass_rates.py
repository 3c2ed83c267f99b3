"""Pass rates: what is counted once, what twice, and what an empty slice is."""

import json
from typing import Any

import polars as pl
import pytest

from nnd.metric.data.scored_schema import SCORED_SCHEMA
from nnd.metric.numbers.rates.baselines import BASELINES
from nnd.metric.numbers.rates.context_sums import count_by_context, distinct_tests, slices_by
from nnd.metric.numbers.rates.pass_rates import Rate, pass_rates

PASS: dict[str, Any] = {"ll_high": -1.0, "ll_low": -2.0, "passed": True}
FAIL: dict[str, Any] = {"ll_high": -2.0, "ll_low": -1.0, "passed": False}
TIE: dict[str, Any] = {"ll_high": -1.0, "ll_low": -1.0, "passed": False, "tie": True}
UNSCORED: dict[str, Any] = {"ll_high": -1.0, "ll_low": None, "passed": False}


def scored(*rows: dict[str, Any]) -> pl.DataFrame:
    """Scored pairs; each a test of its own in a context of its own, unless a row says otherwise."""
    filled = [
        {
            "pair_id": f"p{number}",
            "split": "test",
            "context_id": f"c{number}",
            "high_id": f"h{number}",
            "low_id": f"l{number}",
            "tokens_high": 3,
            "tokens_low": 3,
            "truncated": False,
            "tie": False,
        }
        | row
        for number, row in enumerate(rows)
    ]
    return pl.DataFrame(filled, SCORED_SCHEMA, orient="row")


# Counts


def test_counts_and_rate() -> None:
    found = pass_rates(scored(PASS, PASS, FAIL, TIE, UNSCORED)).overall
    assert (found.n, found.passes, found.ties, found.unscored) == (5, 2, 1, 1)
    assert found.pass_rate == 0.4
    # Whichever likelihood is missing, a test is unscored once.
    both = {"ll_high": None, "ll_low": None, "passed": False}
    high = {"ll_high": None, "ll_low": -1.0, "passed": False}
    assert pass_rates(scored(both, high, UNSCORED)).overall.unscored == 3
    cut = {"truncated": True}
    found = pass_rates(scored(PASS | cut, FAIL | cut, PASS)).overall
    assert (found.n, found.truncated) == (3, 2)


def test_two_candidates_are_one_test_overall_and_one_per_category() -> None:
    same = {"context_id": "c", "high_id": "h", "low_id": "l"}
    found = pass_rates(
        scored(
            PASS | same | {"error_category": "rude"},
            PASS | same | {"error_category": "wrong"},
            FAIL | {"error_category": "wrong"},
        )
    )
    # Overall the first two are one: 1 of 2. By category each counts: rude 1 of 1, wrong 1 of 2.
    assert (found.n_pairs, found.overall.n, found.overall.passes) == (3, 2, 1)
    counts = {name: (rate.passes, rate.n) for name, rate in found.by["error_category"].items()}
    assert counts == {"rude": (1, 1), "wrong": (1, 2)}


@pytest.mark.parametrize("key", ["split", "context_id", "high_id", "low_id"])
def test_what_differs_in_one_key_is_another_test(key: str) -> None:
    same = {"split": "test", "context_id": "c", "high_id": "h", "low_id": "l"}
    assert pass_rates(scored(PASS | same, FAIL | same | {key: "other"})).overall.n == 2


def test_pairs_without_a_split_are_told_apart_too() -> None:
    same = {"split": None, "context_id": "c", "high_id": "h", "low_id": "l"}
    found = pass_rates(scored(PASS | same, PASS | same, FAIL | same | {"low_id": "x"})).overall
    assert (found.n, found.passes) == (2, 1)


# Slices


@pytest.mark.parametrize("column", ["error_category", "aspect", "category", "error_group"])
def test_every_slice_counts_its_own_rows(column: str) -> None:
    rows = scored(PASS | {column: "b"}, FAIL | {column: "a"}, PASS | {column: "b"})
    found = pass_rates(rows).by[column]
    assert {name: (rate.passes, rate.n) for name, rate in found.items()} == {
        "a": (0, 1),
        "b": (2, 2),
    }


def test_slices_stand_in_order_and_null_is_none_but_counts_overall() -> None:
    rows = scored(*(PASS | {"aspect": name} for name in "cab"), FAIL)
    found = pass_rates(rows)
    assert list(found.by) == ["error_category", "aspect", "category", "error_group"]
    assert list(found.by["aspect"]) == ["a", "b", "c"]
    assert found.overall.n == 4
    assert found.by["error_group"] == {}


def test_slices_are_the_rows_of_each_value() -> None:
    rows = scored(PASS | {"aspect": "b", "category": "x"}, PASS | {"aspect": "a"})
    found = [(value, own["pair_id"].to_list()) for value, own in slices_by(rows, "aspect").items()]
    assert found == [("a", ["p1"]), ("b", ["p0"])]
    assert slices_by(rows, "error_group") == {}


# Intervals


def test_two_contexts_that_differ_show_next_to_nothing() -> None:
    # One passed, one not, 1 degree of freedom: logit +- 12.706 * 0.5 / 0.25, that is +- 25.4.
    found = pass_rates(scored(PASS, FAIL)).overall
    assert found.interval == pytest.approx((0.0, 1.0), abs=1e-10)
    assert (found.interval_method, found.contexts) == ("logit-t", 2)
    # Wilson's beside it: z = 1.96, n = 2, p = 1/2: centre 1/2, half width
    # z sqrt(1/8 + z²/16) / (1 + z²/2) = 1.95996 * 0.60422 / 2.92073 = 0.40546.
    assert found.wilson == pytest.approx((0.09454, 0.90546), abs=1e-5)


def test_pairs_of_one_context_move_together() -> None:
    # Twenty contexts of two pairs, both passed in half of them: as much as twenty single pairs say.
    half = [PASS] * 10 + [FAIL] * 10
    twice = [{**each, "context_id": f"c{n}"} for n, each in enumerate(half)]
    rows = scored(*twice, *({**each, "low_id": "x"} for each in twice))
    found, single = pass_rates(rows).overall, pass_rates(scored(*half)).overall
    assert (found.n, single.n) == (40, 20)
    assert found.interval == pytest.approx(single.interval)


@pytest.mark.parametrize("verdict", [PASS, FAIL])
def test_where_all_contexts_agree_each_is_one_test(verdict: dict[str, Any]) -> None:
    # Wilson's for 5 of 5 begins at 5 / (5 + 1.96^2) = 0.5655, though there are ten tests.
    contexts = [{**verdict, "context_id": f"c{n // 2}", "low_id": f"{n}"} for n in range(10)]
    found = pass_rates(scored(*contexts)).overall
    assert (found.interval_method, found.contexts, found.n) == ("all-agree", 5, 10)
    expected = (0.5655, 1.0) if verdict is PASS else (0.0, 0.4345)
    assert found.interval == pytest.approx(expected, abs=5e-5)


ONE = {"context_id": "c"}
DERIVED = [{"context_id": f"c~typos.{n}", "cluster": "c"} for n in range(3)]


@pytest.mark.parametrize(
    "rows",
    [
        [PASS | ONE, FAIL | ONE | {"split": "train"}],
        [PASS | ONE, *(PASS | child for child in DERIVED), FAIL],
        [PASS | {"split": None}, FAIL | {"split": None}],
    ],
    ids=["an id in two splits", "derived pairs count with theirs", "without a split"],
)
def test_what_two_contexts_are(rows: list[dict[str, Any]]) -> None:
    assert pass_rates(scored(*rows)).overall.contexts == 2


def test_one_context_shows_no_spread() -> None:
    overall = pass_rates(scored(PASS | ONE, FAIL | ONE)).overall
    assert (overall.pass_rate, overall.interval) == (0.5, None)
    rows = scored(PASS | {"aspect": "a"}, FAIL | {"aspect": "b"}, PASS | {"aspect": "b"})
    found = pass_rates(rows)
    assert found.by["aspect"]["a"].interval is None
    assert found.by["aspect"]["b"].interval is not None


def test_intervals_are_the_same_every_time_and_in_any_order_of_rows() -> None:
    rows = scored(*([PASS, FAIL, PASS] * 5), *({**PASS, "context_id": "c"} for _ in range(4)))
    first = pass_rates(rows).overall.interval
    assert pass_rates(rows).overall.interval == first
    assert pass_rates(rows.reverse()).overall.interval == first
    assert first is not None
    assert 0 < first[0] < first[1] < 1


# Nothing


def test_no_pairs_have_no_rate() -> None:
    found = pass_rates(scored())
    nothing = dict.fromkeys(BASELINES)
    assert found.overall == Rate(
        pass_rate=None,
        n=0,
        passes=0,
        ties=0,
        unscored=0,
        undecidable=0,
        truncated=0,
        interval=None,
        interval_reason="fewer than two independent contexts",
        wilson=None,
        baselines=nothing,
        length_matched=None,
    )
    assert found.n_pairs == 0
    assert all(rates == {} for rates in found.by.values())
    plain = found.to_dict()
    assert json.loads(json.dumps(plain)) == plain
    assert (plain["pass_rate"], plain["n"], plain["interval"]) == (None, 0, None)


# For others


def test_passes_and_tests_per_context() -> None:
    one = {"context_id": "c"}
    rows = scored(
        PASS | {"aspect": "a"}, PASS | one | {"aspect": "a"}, FAIL | one | {"aspect": "b"}
    )
    passes, tests = count_by_context(
        rows, [distinct_tests(rows), *slices_by(rows, "aspect").values()]
    )
    # Contexts c0 and c; columns: all, aspect a, aspect b.
    assert passes.tolist() == [[1, 1, 0], [1, 1, 0]]
    assert tests.tolist() == [[1, 1, 0], [2, 1, 1]]


def test_the_dictionary_is_plain_json() -> None:
    found = pass_rates(scored(PASS | {"aspect": "a"}, FAIL)).to_dict()
    assert json.loads(json.dumps(found)) == found
    assert found["interval"] == pytest.approx([0.0, 1.0], abs=1e-10)
    assert found["by_aspect"]["a"]["n"] == 1
    assert found["n_pairs"] == 2
