"""Intervals over systems, each of which is left out."""

import math

import numpy as np
import pytest
from scipy.special import stdtrit

from nnd.metric.numbers.statistics.correlations import STATISTICS
from nnd.metric.numbers.statistics.over_systems import interval_over_systems, without_each_system

NAMES = list(STATISTICS)
X, Y = [0.3, 0.1, 0.35, 0.9, 0.5], [1.0, 2.0, 0.0, 3.0, 3.0]


@pytest.mark.parametrize("name", NAMES)
def test_a_rest_is_correlated_like_any_list(name: str) -> None:
    found = without_each_system(name, X, Y)
    for left_out, value in enumerate(found):
        kept = [place for place in range(5) if place != left_out]
        expected = STATISTICS[name]([X[i] for i in kept], [Y[i] for i in kept])
        assert value == pytest.approx(math.nan if expected is None else expected, nan_ok=True)


def test_the_interval_is_students_on_the_scale_of_fisher() -> None:
    value, without = float(np.corrcoef(X, Y)[0, 1]), without_each_system("pearson", X, Y)
    bias = 4 * (without.mean() - value)
    error = math.sqrt(4 / 5 * ((without - value) ** 2).sum() + bias**2)
    reach = stdtrit(4, 0.975) * error / (1 - value**2)
    expected = [math.tanh(math.atanh(value) + side) for side in (-reach, reach)]
    assert interval_over_systems(value, without).bounds == pytest.approx(expected)


@pytest.mark.parametrize("n", [2, 3])
def test_below_four_systems_there_is_no_interval(n: int) -> None:
    without = without_each_system("pearson", X[:n], Y[:n])
    assert interval_over_systems(1.0, without) == (None, "fewer than 4 systems")


@pytest.mark.parametrize("name", NAMES)
def test_perfect_agreement_of_five_systems_is_not_certain(name: str) -> None:
    found = interval_over_systems(1.0, without_each_system(name, X, X)).bounds
    assert found == pytest.approx((1 - 2 * 3.8415 / (5 + 3.8415), 1), abs=1e-4)


def test_a_correlation_that_hangs_on_one_system_has_no_interval() -> None:
    only_one = [1.0, 0, 0, 0, 0]
    value = STATISTICS["pearson"](only_one, Y)
    assert value is not None
    found = interval_over_systems(value, without_each_system("pearson", only_one, Y))
    assert found == (None, "the number is undefined without one of the systems")
