"""The bootstrap over systems."""

import math
from itertools import combinations

import numpy as np
import pytest

from nnd.metric.numbers.statistics.correlations import STATISTICS
from nnd.metric.numbers.statistics.intervals import interval_of_most
from nnd.metric.numbers.statistics.over_systems import draw_systems, statistic_over_systems

NAMES = list(STATISTICS)


@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_below_four_systems_there_is_no_interval(n: int) -> None:
    x = [float(value) for value in range(n)]
    samples = statistic_over_systems("pearson", x, x, draw_systems(n))
    assert samples.shape == (0,)
    assert interval_of_most(samples) is None


def test_systems_are_drawn_with_replacement_and_kept_in_order() -> None:
    drawn = draw_systems(5)
    assert drawn.shape == (2_000, 5)
    assert (np.diff(drawn, axis=1) >= 0).all()
    # Each system makes up a fifth of all draws, 10,000 of them: +- 4 sqrt(0.2 * 0.8 / 10,000).
    assert np.bincount(drawn.ravel()) / drawn.size == pytest.approx([0.2] * 5, abs=0.016)
    # A sample holds all five systems with probability 5! / 5^5 = 0.0384.
    whole = (np.diff(drawn, axis=1) == 1).all(axis=1).mean()
    assert whole == pytest.approx(0.0384, abs=0.018)


def test_the_same_seed_gives_the_same_samples() -> None:
    assert np.array_equal(draw_systems(6, seed=2), draw_systems(6, seed=2))
    assert not np.array_equal(draw_systems(6, seed=2), draw_systems(6, seed=3))


@pytest.mark.parametrize("name", NAMES)
def test_perfect_agreement_stays_perfect(name: str) -> None:
    # For tau-a too, which would count the pairs of a system with itself as ties.
    x = [0.1, 0.2, 0.3, 0.4, 0.5]
    samples = statistic_over_systems(name, x, [10 * value for value in x], draw_systems(5))
    assert interval_of_most(samples) == pytest.approx((1, 1))


@pytest.mark.parametrize("name", [name for name in NAMES if name != "tau_a"])
def test_a_sample_is_correlated_like_any_list(name: str) -> None:
    x, y = [0.3, 0.1, 0.3, 0.9, 0.5], [1.0, 2.0, 0.0, 3.0, 3.0]
    drawn = draw_systems(5)
    for places, value in zip(drawn, statistic_over_systems(name, x, y, drawn), strict=True):
        expected = STATISTICS[name]([x[i] for i in places], [y[i] for i in places])
        assert value == pytest.approx(math.nan if expected is None else expected, nan_ok=True)


def test_tau_a_is_over_pairs_of_different_systems() -> None:
    x, y = [0.3, 0.1, 0.3, 0.9, 0.5], [1.0, 2.0, 0.0, 3.0, 3.0]
    drawn = draw_systems(5)
    for places, value in zip(drawn, statistic_over_systems("tau_a", x, y, drawn), strict=True):
        pairs = [(i, j) for i, j in combinations(places, 2) if i != j]
        if not all(len({z[i] for i in places}) > 1 for z in (x, y)):
            assert math.isnan(value)
            continue
        score = sum(np.sign(x[i] - x[j]) * np.sign(y[i] - y[j]) for i, j in pairs)
        assert value == pytest.approx(score / len(pairs))


def test_an_interval_of_a_minority_of_samples_is_none() -> None:
    # One system alone differs in x, another one in y. A sample of six lacks the first with
    # probability (5/6)^6 = 0.335, likewise the second, both (4/6)^6 = 0.088: 0.582 are undefined.
    x, y = [1.0, 0, 0, 0, 0, 0], [0, 1.0, 0, 0, 0, 0]
    drawn = draw_systems(6)
    samples = statistic_over_systems("pearson", x, y, drawn)
    assert np.isnan(samples).mean() == pytest.approx(0.582, abs=0.045)
    assert interval_of_most(samples) is None
    # With y different for all, 0.335 are, and those that are left say something.
    samples = statistic_over_systems("pearson", x, [6.0, 5, 4, 3, 2, 1], drawn)
    assert interval_of_most(samples) is not None
