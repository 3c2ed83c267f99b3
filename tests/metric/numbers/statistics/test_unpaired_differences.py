"""Differences of rates of different tests: known values, and how often they are right."""

import math

import numpy as np
import pytest
from scipy import stats

from nnd.metric.numbers.statistics.intervals import wilson
from nnd.metric.numbers.statistics.unpaired_differences import (
    Unpaired,
    square_and_add,
    unpaired_differences,
)


def single(passes: list[int], rest: list[int]) -> Unpaired:
    """Of contexts with one test each."""
    both = [*passes, *[0] * len(rest)], [*[0] * len(passes), *rest]
    own = [1] * len(passes) + [0] * len(rest)
    columns = (both[0], own, both[1], [1 - n for n in own])
    (found,) = unpaired_differences(*([[value] for value in column] for column in columns))
    return found


def test_it_is_newcombes_interval_where_tests_are_independent() -> None:
    # Newcombe (1998), Statistics in Medicine 17, 873-890, table II, (a) 56/70 - 48/80, method 10.
    first, second = wilson(56, 70), wilson(48, 80)
    assert first is not None
    assert second is not None
    found = square_and_add(56 / 70, first, 48 / 80, second)
    assert found == pytest.approx((0.0524, 0.3339), abs=5e-5)


def test_g63_the_score_test_by_hand() -> None:
    # 2 of 10 against 8 of 10: o = 1/2, x - n o = -3; every u_i is 1/4 or -1/4, so that the variance
    # is 20/19 * 20/16, more than that of independent tests, 1/4 * 10 * 10 / 20; ten contexts each.
    found = single([1] * 2 + [0] * 8, [1] * 8 + [0] * 2)
    assert found.difference == pytest.approx(-0.6)
    assert found.p == pytest.approx(2 * stats.t.sf(3 / math.sqrt(20 / 19 * 20 / 16), 9))
    assert found.interval is not None
    assert found.interval[1] < 0


def test_a_context_in_both_parts_counts_in_both() -> None:
    # In each context both parts pass or fail together, so that the difference never varies.
    passes, tests = np.array([[1.0], [0], [1], [0], [1], [0]]), np.ones((6, 1))
    (found,) = unpaired_differences(passes, tests, passes, tests)
    assert found.interval == pytest.approx((0, 0), abs=1e-12)
    assert found.p == 1
    (apart,) = unpaired_differences(passes, tests, passes[::-1], tests)
    assert apart.interval is not None
    assert apart.interval[0] < -0.5


def test_where_all_pass_or_none_there_is_an_answer() -> None:
    sure = single([1] * 30, [0] * 30)
    assert sure.interval is not None
    assert 0 < sure.interval[0] < sure.interval[1] == 1
    assert sure.p is not None
    assert sure.p < 1e-6
    assert single([1] * 5, [1] * 5) == (0, pytest.approx((-0.434, 0.434), abs=1e-3), 1)


def test_without_contexts_there_is_no_interval() -> None:
    assert single([], [1, 0]) == (None, None, None)
    assert single([1], [1, 0]) == (0.5, None, None)


def test_intervals_cover_and_p_holds_its_level() -> None:
    rng = np.random.default_rng(0)
    rates = rng.beta(2, 2, (60, 400))  # contexts differ; half of the tests are in each part
    tests = rng.integers(1, 7, rates.shape)
    own = rng.binomial(tests, 0.5)
    sums = rng.binomial(own, rates), own, rng.binomial(tests - own, rates), tests - own
    found = unpaired_differences(*sums)
    covered = [each.interval[0] <= 0 <= each.interval[1] for each in found if each.interval]
    assert len(covered) == 400
    assert 0.92 <= np.mean(covered) <= 0.99
    assert 0.01 <= np.mean([each.p is not None and each.p < 0.05 for each in found]) <= 0.08
