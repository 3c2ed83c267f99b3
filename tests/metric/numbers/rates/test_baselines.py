"""Baselines beside pass rates: who wins, what is a tie, and what cannot be told apart."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.stored_folders import read_manifest
from support.two_models import lengths, scored

from nnd.metric.data.pairs import load_pairs
from nnd.metric.likelihood.engine.answers import Likelihoods
from nnd.metric.numbers.rates.baselines import BASELINES, Baseline
from nnd.metric.numbers.rates.pass_rates import Rate, pass_rates
from nnd.metric.run.pair_scoring import score_pairs
from nnd.metric.text.encoding.templates import TEMPLATES


def overall(verdicts: str, **columns: Any) -> Rate:
    return pass_rates(scored("x", verdicts, **columns)).overall


def baseline(name: str, verdicts: str, **columns: Any) -> Baseline:
    """One of its baselines, which exists."""
    found = overall(verdicts, **columns).baselines[name]
    assert found is not None
    return found


# Who wins


def test_length_by_hand() -> None:
    both = lengths((3, 9), (9, 3), (4, 4), (2, 5))
    shorter, longer = (baseline(f"{name}_wins", "++--", **both) for name in ("shorter", "longer"))
    assert (shorter.pass_rate, shorter.ties, shorter.unscored) == (0.5, 1, 0)
    assert (longer.pass_rate, longer.ties, longer.unscored) == (0.25, 1, 0)
    # A coin decides the tie: 2.5 and 1.5 of 4, against the model's 2.
    assert (shorter.with_coin, longer.with_coin) == (0.625, 0.375)
    assert (shorter.lead, longer.lead) == (-0.125, 0.125)


@pytest.mark.parametrize(
    ("name", "columns"), [("copy_wins", "copied"), ("unconditional", "ll_alone")]
)
def test_the_larger_number_wins(name: str, columns: str) -> None:
    numbers = {f"{columns}_high": [0.5, 0.1, 0.2, 0.3], f"{columns}_low": [0.2, 0.4, 0.2, None]}
    found = baseline(name, "++++", **numbers)
    assert (found.pass_rate, found.ties, found.unscored) == (0.25, 1, 1)
    assert (found.with_coin, found.lead) == (0.5, 0.5)  # a coin for two of four


def test_a_model_that_guesses_at_equal_lengths_has_no_lead() -> None:
    # 100 tests that shorter_wins and the model pass, 100 of equal length of which it passes half.
    rows = lengths(*[(1, 9)] * 100, *[(5, 5)] * 100)
    found = baseline("shorter_wins", "+" * 150 + "-" * 50, **rows)
    assert (found.pass_rate, found.with_coin, found.lead) == (0.5, 0.75, 0.0)
    assert found.verdict == "close"


def test_a_baseline_that_decides_nothing_is_none() -> None:
    copied = {"copied_high": [0.0, None], "copied_low": [0.0, 0.5]}
    assert overall("+-", **copied).baselines["copy_wins"] is None


def test_the_model_itself_is_not_its_own_baseline() -> None:
    alone = {"ll_alone_high": [-1.0, -2.0], "ll_alone_low": [-2.0, -1.0]}
    assert overall("+-", **alone).baselines["unconditional"] is None
    # A second test with a context: the baseline is of both.
    changed = baseline("unconditional", "+-", **alone | {"ll_alone_low": [-2.0, -1.5]})
    assert (changed.pass_rate, changed.lead) == (0.5, 0.0)


def test_without_any_number_there_is_no_baseline() -> None:
    found = overall("+-", tokens_high=None, tokens_low=None)
    assert found.baselines == dict.fromkeys(BASELINES)
    assert found.length_matched is None


def test_every_slice_has_its_own_baselines() -> None:
    rows = scored("x", "+-+", aspect=["p", "q", "q"], **lengths((1, 2), (2, 1), (2, 1)))
    found = pass_rates(rows).by["aspect"]
    rates = {name: rate.baselines["shorter_wins"] for name, rate in found.items()}
    assert {name: each and each.pass_rate for name, each in rates.items()} == {"p": 1.0, "q": 0.0}


def test_two_candidates_count_once_overall() -> None:
    same = {name: ["x", "x", "y"] for name in ("context_id", "high_id", "low_id")}
    found = baseline("shorter_wins", "+++", **same, **lengths((1, 2), (1, 2), (2, 1)))
    assert found.pass_rate == 0.5


# The lead of the model


def test_the_lead_is_paired_and_over_contexts() -> None:
    # In one context of three tests the model passes all and shorter_wins none, in another of one
    # it is the other way round: two contexts that differ leave everything open.
    contexts = ["c", "c", "c", "d"]
    rows = lengths((2, 1), (2, 1), (2, 1), (1, 2))
    found = baseline("shorter_wins", "+++-", context_id=contexts, **rows)
    assert (found.lead, found.verdict) == (0.5, "close")
    assert found.lead_interval == pytest.approx((-1.0, 1.0))


@pytest.mark.parametrize(
    ("verdicts", "verdict"),
    [("+" * 20, "behind"), ("-" * 20, "ahead"), ("+" * 10 + "-" * 10, "close")],
)
def test_where_a_baseline_stands(verdicts: str, verdict: str) -> None:
    # shorter_wins passes tests 5 to 14.
    rows = lengths(*[(2, 1)] * 5, *[(1, 2)] * 10, *[(2, 1)] * 5)
    found = baseline("shorter_wins", verdicts, **rows)
    assert found.verdict == verdict


def test_one_context_cannot_show_a_lead() -> None:
    found = baseline("shorter_wins", "+", **lengths((2, 1)))
    assert (found.lead, found.lead_interval, found.verdict) == (1.0, None, "close")


# Matched lengths


def test_lengths_match_within_a_tenth_of_the_longer() -> None:
    # 9 of 10 and 27 of 30 just match, 8 of 10 and 26 of 30 do not; nor do 10 and 12: 2 > 1.2.
    # Two empty ones match. Of unknown ones nobody knows.
    both = [(10, 9), (27, 30), (8, 10), (30, 26), (10, 12), (0, 0), (None, 5)]
    found = overall("+-++++-", **lengths(*both)).length_matched
    assert found is not None
    assert (found.n, found.passes, found.pass_rate) == (3, 2, 2 / 3)
    found = overall("++", **lengths((1, 9), (9, 1))).length_matched
    assert found is not None
    assert (found.n, found.pass_rate, found.interval, found.wilson) == (0, None, None, None)
    # Intervals are over contexts: tests 0 and 1 match, one passed; tests 2 and 3 do not count.
    found = overall("+-++", **lengths((5, 5), (5, 5), (1, 9), (1, 9))).length_matched
    assert found is not None
    assert found.interval == pytest.approx((0.0, 1.0), abs=1e-10)


# From texts


def test_the_rates_are_those_that_convert_reports(sample: Path) -> None:
    reported = read_manifest(sample)["hygiene"]["pairs"]

    def scorer(requests: Any) -> Likelihoods:
        n = len(requests)
        return Likelihoods(np.zeros(n), np.ones(n, dtype=np.int64), np.zeros(n, dtype=np.bool_))

    rates = pass_rates(score_pairs(load_pairs(sample), scorer, TEMPLATES["default"]))
    for name in ("shorter_wins", "longer_wins"):
        found = rates.overall.baselines[name]
        assert found is not None
        assert found.pass_rate == pytest.approx(reported["overall"][name])
        for category, rate in rates.by["error_category"].items():
            each = rate.baselines[name]
            assert each is not None
            assert each.pass_rate == pytest.approx(reported["by_error_category"][category][name])


def test_the_dictionary_is_plain_json() -> None:
    rows = lengths((1, 2), (2, 1), (5, 5))
    found = overall("+-+", copied_high=[0.5] * 3, copied_low=[0.1] * 3, **rows).to_dict()
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert found["baselines"]["copy_wins"]["pass_rate"] == 1
    assert found["baselines"]["unconditional"] is None
    assert found["length_matched"]["n"] == 1
