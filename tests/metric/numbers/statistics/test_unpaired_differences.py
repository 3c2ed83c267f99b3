"""Differences of rates of different tests: known values, and how often they are right."""

import math

import numpy as np
import pytest
from scipy import stats

from nnd.metric.numbers.statistics.difference import Difference
from nnd.metric.numbers.statistics.intervals import wilson
from nnd.metric.numbers.statistics.unpaired_differences import square_and_add, unpaired_difference


def single(passes: list[int], rest: list[int]) -> Difference:
    """Of contexts with one test each."""
    own, others = [[n, 0] for n in passes], [[0, n] for n in rest]
    tests = [[1, 0]] * len(passes) + [[0, 1]] * len(rest)
    return unpaired_difference(np.array(own + others, float), np.array(tests, float))


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
    passes, tests = np.array([[1.0], [0], [1], [0], [1], [0]]), np.ones((6, 2))
    found = unpaired_difference(np.hstack([passes, passes]), tests)
    assert found.interval == pytest.approx((0, 0), abs=1e-12)
    assert found.p == 1
    apart = unpaired_difference(np.hstack([passes, passes[::-1]]), tests)
    assert apart.interval is not None
    assert apart.interval[0] < -0.5


def test_where_all_pass_or_none_there_is_an_answer() -> None:
    sure = single([1] * 30, [0] * 30)
    assert sure.interval is not None
    assert 0 < sure.interval[0] < sure.interval[1] == 1
    assert sure.p is not None
    assert sure.p < 1e-6
    alike = single([1] * 5, [1] * 5)
    assert (alike.difference, alike.p) == (0, 1)
    assert alike.interval == pytest.approx((-0.434, 0.434), abs=1e-3)


def test_without_contexts_there_is_no_interval() -> None:
    for passes, difference in ([], None), ([1], 0.5):
        found = single(passes, [1, 0])
        assert (found.difference, found.interval, found.p) == (difference, None, None)
        assert found.verdict == "untested"


def test_intervals_cover_and_p_holds_its_level() -> None:
    rng = np.random.default_rng(0)
    rates = rng.beta(2, 2, (60, 400))  # contexts differ; half of the tests are in each part
    tests = rng.integers(1, 7, rates.shape)
    own = rng.binomial(tests, 0.5)
    passes = np.stack([rng.binomial(own, rates), rng.binomial(tests - own, rates)], axis=-1)
    both = np.stack([own, tests - own], axis=-1)
    found = [unpaired_difference(passes[:, n], both[:, n]) for n in range(400)]
    covered = [each.interval[0] <= 0 <= each.interval[1] for each in found if each.interval]
    assert len(covered) == 400
    assert 0.92 <= np.mean(covered) <= 0.99
    assert 0.01 <= np.mean([each.p is not None and each.p < 0.05 for each in found]) <= 0.08
