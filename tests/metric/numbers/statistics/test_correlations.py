"""The six statistics, against hand-worked cases, brute force and scipy."""

import math
import statistics
from itertools import combinations, permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st
from scipy import stats
from support.refusals import refusal

from nnd.metric.numbers.statistics.correlations import (
    BATCHED,
    STATISTICS,
)

NAMES = ["tau_b", "tau_a", "spearman", "pearson", "gap_r", "gap_r_laban2022"]

kendall_tau_b, kendall_tau_a, spearman, pearson = (STATISTICS[name] for name in NAMES[:4])
gap_correlation, gap_correlation_laban2022 = (STATISTICS[name] for name in NAMES[4:])

Scores = list[float]

# Few distinct values make ties, many make none.
scores = st.one_of(st.integers(0, 4), st.integers(-9999, 9999)).map(lambda value: value / 1000)
two_scores = st.integers(2, 9).flatmap(
    lambda n: st.tuples(
        st.lists(scores, min_size=n, max_size=n), st.lists(scores, min_size=n, max_size=n)
    )
)


def varied(*lists: Scores) -> bool:
    return all(len(set(values)) > 1 for values in lists)


def test_the_table_holds_every_statistic_in_both_forms() -> None:
    assert list(STATISTICS) == list(BATCHED) == NAMES


def test_tau_without_ties() -> None:
    # Of 6 pairs only (3, 2) is turned round: (5 - 1) / 6.
    x, y = [1, 2, 3, 4], [1, 3, 2, 4]
    assert kendall_tau_a(x, y) == pytest.approx(4 / 6)
    assert kendall_tau_b(x, y) == pytest.approx(4 / 6)


def test_tau_with_a_tie() -> None:
    # Of 6 pairs one is tied in x, the other 5 agree: a = 5 / 6, b = 5 / sqrt(5 * 6).
    x, y = [1, 1, 2, 3], [1, 2, 3, 4]
    assert kendall_tau_a(x, y) == pytest.approx(5 / 6)
    assert kendall_tau_b(x, y) == pytest.approx(5 / math.sqrt(30))


def test_spearman_with_a_tie() -> None:
    # Ranks of x: 1.5 1.5 3 4, of y: 1 2 3 4; both have mean 2.5. Deviations -1 -1 .5 1.5 and
    # -1.5 -.5 .5 1.5: products 1.5 + .5 + .25 + 2.25 = 4.5, squares 4.5 and 5.
    assert spearman([1, 1, 2, 3], [1, 2, 3, 4]) == pytest.approx(4.5 / math.sqrt(4.5 * 5))


def test_pearson_and_gaps_by_hand() -> None:
    # x = 0 1 3 and y = 0 2 1 deviate by (-4 -1 5) / 3 and -1 1 0: products 4/3 - 1/3 = 1,
    # squares 42/9 = 14/3 and 2. r = 1 / sqrt(28/3).
    x, y = [0, 1, 3], [0, 2, 1]
    assert pearson(x, y) == pytest.approx(1 / math.sqrt(28 / 3))
    assert gap_correlation(x, y) == pytest.approx(1 / math.sqrt(28 / 3))
    # Gaps once, i < j: -1 -3 -2 and -2 -1 1, means -2 and -2/3, deviations 1 -1 0 and
    # (-4 -1 5) / 3: products -4/3 + 1/3 = -1, squares 2 and 14/3. The same number, negative.
    assert gap_correlation_laban2022(x, y) == pytest.approx(-1 / math.sqrt(28 / 3))


def test_only_the_laban2022_gaps_depend_on_the_order_of_systems() -> None:
    x, y = [0, 1, 3, 4], [0, 2, 1, 5]
    for name, statistic in STATISTICS.items():
        found = [
            statistic([x[i] for i in order], [y[i] for i in order])
            for order in permutations(range(4))
        ]
        always = found == pytest.approx([found[0]] * len(found))
        assert always == (name != "gap_r_laban2022")


@pytest.mark.parametrize("name", NAMES)
def test_few_systems_or_constant_scores_have_no_correlation_and_tiny_differences_have(
    name: str,
) -> None:
    assert STATISTICS[name]([], []) is None
    assert STATISTICS[name]([0.5], [0.5]) is None
    # Two systems have one gap once, and one number has no correlation.
    alone = name == "gap_r_laban2022"
    assert STATISTICS[name]([0.1, 0.2], [3, 7]) == (None if alone else 1.0)
    assert STATISTICS[name]([0.1, 0.2], [7, 3]) == (None if alone else -1.0)
    constant = [0.1, 0.1, 0.1]  # their floating-point mean is not 0.1
    assert STATISTICS[name](constant, [1, 2, 3]) is None
    assert STATISTICS[name]([1, 2, 3], constant) is None
    assert STATISTICS[name](constant, constant) is None
    # 1e-170 squared is 0 in floating point.
    assert STATISTICS[name]([0, 1e-170, 2e-170], [1, 2, 3]) == pytest.approx(1)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("bad", [math.nan, math.inf, None])
def test_a_score_that_is_not_finite_is_refused(name: str, bad: Any) -> None:
    with refusal("scorer.values"):
        STATISTICS[name]([0.1, bad, 0.3], [1, 2, 3])
    with refusal("scorer.values"):
        STATISTICS[name]([1, 2, 3], [0.1, bad, 0.3])


def test_lists_of_different_length_are_refused() -> None:
    with refusal("scorer.values"):
        pearson([1, 2, 3], [1, 2])


@given(two_scores)
def test_tau_equals_counting_pairs(two: tuple[Scores, Scores]) -> None:
    x, y = two
    concordant = discordant = untied_x = untied_y = 0
    for (xi, yi), (xj, yj) in combinations(zip(x, y, strict=True), 2):
        untied_x += xi != xj
        untied_y += yi != yj
        concordant += (xi < xj and yi < yj) or (xi > xj and yi > yj)
        discordant += (xi < xj and yi > yj) or (xi > xj and yi < yj)
    assume(untied_x and untied_y)
    score, pairs = concordant - discordant, math.comb(len(x), 2)
    assert kendall_tau_a(x, y) == pytest.approx(score / pairs)
    assert kendall_tau_b(x, y) == pytest.approx(score / math.sqrt(untied_x * untied_y))


@given(two_scores)
def test_tau_b_spearman_pearson_and_thus_the_gaps_equal_scipy(two: tuple[Scores, Scores]) -> None:
    assume(varied(*two))
    assert kendall_tau_b(*two) == pytest.approx(stats.kendalltau(*two).statistic, abs=1e-9)
    assert spearman(*two) == pytest.approx(stats.spearmanr(*two).statistic, abs=1e-9)
    r = pearson(*two)
    assert r == pytest.approx(stats.pearsonr(*two).statistic, abs=1e-9)
    assert gap_correlation(*two) == pytest.approx(r, abs=1e-9)


@given(two_scores)
def test_gap_correlations_equal_the_pearson_r_of_listed_gaps(two: tuple[Scores, Scores]) -> None:
    x, y = two
    assume(len(x) > 2 and varied(*two))
    for pairs, statistic in [
        (permutations, gap_correlation),
        (combinations, gap_correlation_laban2022),
    ]:
        gaps_x = [a - b for a, b in pairs(x, 2)]
        gaps_y = [a - b for a, b in pairs(y, 2)]
        assert statistic(x, y) == pytest.approx(statistics.correlation(gaps_x, gaps_y), abs=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_many_resamples_at_once_equal_one_by_one(name: str) -> None:
    # Rates of 0 to 3 passes of 3 by 4 systems: ties and constant rows are among them.
    x = np.random.default_rng(1).integers(0, 4, size=(300, 4)) / 3
    y = np.array([0.2, 0.2, 0.5, 0.9])
    one_by_one = [STATISTICS[name](row, y.tolist()) for row in x.tolist()]
    assert None in one_by_one
    expected = [math.nan if value is None else value for value in one_by_one]
    np.testing.assert_allclose(BATCHED[name](x, y), expected, atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_resamples_with_an_undefined_rate_or_fewer_than_two_systems_are_undefined(
    name: str,
) -> None:
    x = np.array([[0.1, 0.2, 0.4], [0.1, math.nan, 0.4]])
    assert np.isnan(BATCHED[name](x, np.array([1.0, 2.0, 3.0]))).tolist() == [False, True]
    for n in (0, 1):
        assert np.isnan(BATCHED[name](np.zeros((3, n)), np.zeros(n))).tolist() == [True] * 3
