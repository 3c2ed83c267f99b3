"""Candidate-level meta-evaluation: its three levels by hand."""

import math
import random
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats
from support.refusals import refusal

from nnd.metric.numbers.statistics.correlations import STATISTICS as CORRELATIONS
from nnd.metric.other_metrics import candidate_correlations
from nnd.metric.other_metrics.candidate_correlations import (
    STATISTICS,
    correlate,
    correlate_candidates,
)

UNDEFINED = dict.fromkeys(STATISTICS)


def table(*rows: tuple[str, str | None, float | None, float | None]) -> pl.DataFrame:
    """Rows of context, system, score, human."""
    schema = {
        "context_id": pl.String,
        "system": pl.String,
        "score": pl.Float64,
        "human": pl.Float64,
    }
    return pl.DataFrame(rows, schema, orient="row").with_columns(split=pl.lit("test"))


# Context 1: scores 1 2 3, people 1 3 2. Context 2: scores 11 12, people 5 6. Within contexts:
#   1: ranks 1 2 3 and 1 3 2: rho = 1 - 6 * (0 + 1 + 1) / (3 * 8) = 1/2; r = 1/2 (ranks are the
#      numbers); tau = (2 - 1) / 3 = 1/3
#   2: all 1
# Pooled, ranks 1 2 3 4 5 and 1 3 2 4 5: rho = 1 - 6 * 2 / (5 * 24) = 9/10; tau = (9 - 1) / 10.
# Systems: a (1 + 11) / 2 = 6 and (1 + 5) / 2 = 3; b 7 and 4.5; c 3 and 2. All in one order.
BY_HAND = table(
    ("1", "a", 1, 1), ("1", "b", 2, 3), ("1", "c", 3, 2), ("2", "a", 11, 5), ("2", "b", 12, 6)
)


def test_three_levels_by_hand() -> None:
    found = correlate_candidates(BY_HAND)
    assert found.sample["spearman"] == pytest.approx(0.9)
    assert found.sample["tau_b"] == pytest.approx(0.8)
    assert found.by_context == pytest.approx(
        {"spearman": 3 / 4, "pearson": 3 / 4, "tau_b": (1 / 3 + 1) / 2}
    )
    assert (found.by_system["spearman"], found.by_system["tau_b"]) == (1, 1)
    # r of (6, 7, 3) and (3, 4.5, 2): deviations 2/3 5/3 -7/3 and -1/6 4/3 -7/6, times 3 and 6:
    # 2 5 -7 and -1 8 -7; (-2 + 40 + 49) / sqrt(78 * 114)
    assert found.by_system["pearson"] == pytest.approx(87 / math.sqrt(78 * 114))
    assert (found.n, found.contexts, found.systems) == (5, 2, 3)
    assert (found.unjudged, found.unscored) == (0, 0)
    assert (found.constant_contexts, found.single_contexts) == (0, 0)


def test_intervals_come_from_leaving_out_contexts() -> None:
    # Without the second context rho is 1/2, without the first 1. Pooled: the variance is half of
    # the squares of 1/2 - 9/10 and 1 - 9/10, the bias half of their sum; Kish's 25 / 13 contexts
    # leave one degree of freedom, whose t is 12.706.
    found = correlate_candidates(BY_HAND)
    error = math.sqrt((0.4**2 + 0.1**2) / 2 + 0.15**2)
    reach = 12.7062 * error / 2 / (0.95 * 0.05)
    ends = [math.tanh(math.atanh(0.9) + side / 2) for side in (-reach, reach)]
    assert found.sample_intervals["spearman"] == pytest.approx(ends, abs=1e-5)
    assert found.to_dict()["sample_intervals"]["spearman"] == pytest.approx(ends, abs=1e-5)
    # Mean of 1/2 and 1: the variance is half of the two squares of 1/4.
    reach = 12.7062 * 0.25 / 2 / (0.875 * 0.125)
    ends = [math.tanh(math.atanh(0.75) + side / 2) for side in (-reach, reach)]
    assert found.by_context_intervals["spearman"] == pytest.approx(ends, abs=1e-5)
    assert (found.sample_interval_reasons, found.by_context_interval_reasons) == ({}, {})


def test_without_an_interval_there_is_a_reason() -> None:
    found = correlate_candidates(BY_HAND.filter(context_id="1")).to_dict()
    reason = dict.fromkeys(("spearman", "pearson", "tau_b"), "fewer than two independent contexts")
    assert found["sample_interval_reasons"] == found["by_context_interval_reasons"] == reason


def test_what_is_left_out_is_counted() -> None:
    found = correlate_candidates(
        table(
            *BY_HAND.select("context_id", "system", "score", "human").iter_rows(),
            ("3", "a", 4, 1),  # the scorer's number is constant
            ("3", "b", 4, 2),
            ("4", "a", 1, 3),  # people's is
            ("4", "b", 2, 3),
            ("5", "a", 9, 9),  # alone, for want of the other's number
            ("5", "b", None, 1),
            ("6", "a", 1, None),
            ("6", "b", None, None),
        )
    )
    assert (found.contexts, found.constant_contexts, found.single_contexts) == (2, 2, 1)
    assert (found.n, found.unscored, found.unjudged) == (10, 1, 2)
    assert found.by_context["pearson"] == pytest.approx(3 / 4)


def test_splits_part_contexts() -> None:
    rows = BY_HAND.with_columns(context_id=pl.lit("1"))
    parted = rows.with_columns(
        split=pl.when(pl.col("score") > 10).then(pl.lit("b")).otherwise("split")
    )
    assert correlate_candidates(rows).contexts == 1
    assert correlate_candidates(parted).by_context == correlate_candidates(BY_HAND).by_context


def test_a_text_of_several_systems_counts_for_each() -> None:
    # a: 1 and 3, means 2 and 15; b: 1; c: 3.
    found = correlate_candidates(table(("1", "a|b", 1, 10), ("1", "a|c", 3, 20), ("1", None, 7, 0)))
    assert (found.n, found.systems) == (3, 3)
    assert found.by_system["pearson"] == pytest.approx(1)


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [("1", "a", 1.0, 1.0)],
        [("1", "a", 1.0, 1.0), ("1", "b", 1.0, 2.0)],
        [("1", "a", 1.0, 2.0), ("1", "b", 3.0, 2.0)],
        [("1", "a", None, 2.0), ("1", "b", 3.0, None)],
    ],
    ids=["none", "one", "constant score", "constant people", "no two"],
)
def test_undefined_is_none(rows: list[Any]) -> None:
    found = correlate_candidates(table(*rows))
    assert (found.sample, found.by_context, found.by_system) == (UNDEFINED, UNDEFINED, UNDEFINED)
    assert found.contexts == 0


def test_two_candidates_agree_or_do_not() -> None:
    assert correlate([1, 2], [5, 9]) == dict.fromkeys(STATISTICS, pytest.approx(1))
    assert correlate([1, 2], [9, 5]) == dict.fromkeys(STATISTICS, pytest.approx(-1))


@pytest.mark.parametrize("column", ["score", "human"])
@pytest.mark.parametrize("number", [math.nan, math.inf])
def test_a_number_that_is_none_is_refused(column: str, number: float) -> None:
    first = pl.int_range(pl.len()) == 0
    odd = BY_HAND.with_columns(pl.when(first).then(number).otherwise(column).alias(column))
    with refusal("scorer.values"):
        correlate_candidates(odd)


def test_the_same_as_for_systems_with_many_ties() -> None:
    chance = random.Random(0)
    for n in range(2, 40):
        x = [float(chance.randint(0, 5)) for _ in range(n)]
        y = [float(chance.randint(0, 5)) for _ in range(n)]
        found = correlate(x, y)
        assert found["tau_b"] == pytest.approx(CORRELATIONS["tau_b"](x, y))
        assert found["spearman"] == pytest.approx(CORRELATIONS["spearman"](x, y))


def test_many_candidates_are_no_matter() -> None:
    chance = random.Random(0)
    x = [chance.random() for _ in range(50_000)]
    y = [value + chance.random() for value in x]
    # every two of them would be 20 GB
    assert correlate(x, y)["tau_b"] == pytest.approx(stats.kendalltau(x, y).statistic)


def test_few_candidates_have_the_numbers_of_sorting_to_the_last_digit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(0)
    lists = [rng.integers(0, 1 + n, (2, n)).astype(float) for n in rng.integers(2, 65, 200)]
    few = [correlate(*each) for each in lists]
    monkeypatch.setattr(candidate_correlations, "_FEW", 0)
    assert few == [correlate(*each) for each in lists]
