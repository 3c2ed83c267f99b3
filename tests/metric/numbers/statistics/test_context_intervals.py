"""Intervals of ratios over contexts, by hand."""

import math

import numpy as np
import pytest
from scipy import stats

from nnd.metric.numbers.statistics.context_intervals import ClusterInterval, cluster_intervals


def interval(
    sums: list[float], counts: list[float], *, squares: list[float] | None = None, lowest: float = 0
) -> ClusterInterval:
    columns = ([[value] for value in each] for each in (sums, squares or sums, counts))
    (found,) = cluster_intervals(*columns, lowest=lowest)
    return found


def test_an_interval_by_hand() -> None:
    # 1 of 1, 1 of 2, 0 of 3: rate 1/3; without one context 1/5, 1/4 and 2/3, off by -2/15, -1/12
    # and 1/3. Jackknife variance 2/3 (4/225 + 1/144 + 1/9) = 0.09056, more than that of six
    # independent tests, 1/3 * 2/3 / 6 = 0.037. Kish: 36 / 14 = 2.571 contexts.
    found = interval([1, 1, 0], [1, 2, 3])
    variance = 2 / 3 * (4 / 225 + 1 / 144 + 1 / 9)
    reach = stats.t.ppf(0.975, 36 / 14 - 1) * math.sqrt(variance) / (2 / 9)
    ends = [1 / (1 + math.exp(math.log(2) - side)) for side in (-reach, reach)]
    assert found.variance == pytest.approx(variance)
    assert found.bounds == pytest.approx(ends)
    assert (found.contexts, found.method) == (3, "logit-t")


def test_it_is_no_shorter_than_that_of_independent_tests() -> None:
    # One of two in each of four contexts: nothing varies over them, yet eight tests say little.
    found = interval([1] * 4, [2] * 4)
    reach = stats.t.ppf(0.975, 3) * math.sqrt(0.25 / 8) / 0.25
    assert found.bounds == pytest.approx([1 / (1 + math.exp(side)) for side in (reach, -reach)])
    assert (found.variance, found.method) == (0, "logit-t")


def test_contexts_without_tests_do_not_count() -> None:
    assert interval([1, 0, 2, 0], [2, 0, 3, 0]) == interval([1, 2], [2, 3])


@pytest.mark.parametrize(("sums", "counts"), [([1], [2]), ([1, 0], [2, 0])])
def test_fewer_than_two_contexts_show_nothing(sums: list[float], counts: list[float]) -> None:
    assert interval(sums, counts) == (None, sum(map(bool, counts)), None, 0)


def test_a_difference_is_a_rate_between_minus_1_and_1() -> None:
    # (1 + d) / 2 is a rate if each test is +1 or -1: passes are then half of sum + count.
    passes, counts = [1.0, 2, 0, 3], [2.0, 2, 3, 4]
    sums = [2 * y - m for y, m in zip(passes, counts, strict=True)]
    found = interval(sums, counts, squares=counts, lowest=-1).bounds
    as_rate = interval(passes, counts).bounds
    assert found is not None
    assert as_rate is not None
    assert found == pytest.approx([2 * end - 1 for end in as_rate])


def test_the_order_of_contexts_changes_no_bit() -> None:
    rng = np.random.default_rng(0)
    counts = rng.integers(1, 20, size=200)
    sums = rng.binomial(counts, 0.7)
    found = {
        interval(sums[order].tolist(), counts[order].tolist())
        for order in (rng.permutation(200) for _ in range(20))
    }
    assert len(found) == 1


def test_slices_have_each_their_own() -> None:
    passes, tests = np.array([[1, 1], [0, 2], [2, 0]]), np.array([[2, 1], [1, 3], [2, 0]])
    assert cluster_intervals(passes, passes, tests) == [
        interval([1, 0, 2], [2, 1, 2]),
        interval([1, 2], [1, 3]),
    ]
