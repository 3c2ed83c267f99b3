"""Wilson's interval and the cluster bootstrap."""

import math
import os
import pickle
import random
import time
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from nnd.metric.numbers.statistics import intervals
from nnd.metric.numbers.statistics.intervals import (
    bootstrap_ratios,
    covering_interval,
    stretches,
    wilson,
)

FULL = bool(os.environ.get("NND_TEST_FULL"))


# Newcombe (1998), Two-sided confidence intervals for the single proportion: comparison of seven
# methods, Statistics in Medicine 17(8), 857-872, Table I, method 3 (score, no correction).
@pytest.mark.parametrize(
    ("passes", "n", "expected"),
    [
        (81, 263, (0.2553, 0.3662)),
        (15, 148, (0.0624, 0.1605)),
        (0, 20, (0.0000, 0.1611)),
        (1, 29, (0.0061, 0.1718)),
    ],
)
def test_wilson_gives_the_published_intervals(
    passes: int, n: int, expected: tuple[float, float]
) -> None:
    assert wilson(passes, n) == pytest.approx(expected, abs=0.00005)


@given(st.integers(1, 5000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_bounds_solve_the_score_equation(counts: tuple[int, int]) -> None:
    passes, n = counts
    z = NormalDist().inv_cdf(0.975)
    bounds = wilson(passes, n)
    assert bounds is not None
    for bound in bounds:
        # A bound p is a rate the data would just not reject: |rate - p| = z sqrt(p (1 - p) / n).
        reach = z * math.sqrt(bound * (1 - bound) / n)
        assert abs(passes / n - bound) == pytest.approx(reach, abs=1e-7)


def test_wilson_ends_are_exact_and_of_no_trials_there_is_none() -> None:
    assert wilson(0, 0) is None
    # At 0 passes the bounds are 0 and z^2 / (n + z^2) = 3.8415 / 10.8415 = 0.3543.
    none, every = wilson(0, 7), wilson(7, 7)
    assert none is not None
    assert every is not None
    assert (none[0], every[1]) == (0.0, 1.0)
    assert (none[1], every[0]) == pytest.approx((0.3543, 1 - 0.3543), abs=0.00005)


def test_resampled_ratios_follow_the_exact_distribution() -> None:
    # Clusters A = 1 of 1 and B = 0 of 3. Of the four equally likely resamples, AA gives 1,
    # AB and BA give 1/4, BB gives 0.
    ratios = bootstrap_ratios([[1], [0]], [[1], [3]], resamples=40_000)[:, 0]
    values, counts = np.unique(ratios, return_counts=True)
    assert values.tolist() == [0, 0.25, 1]
    # One standard error of a share of 1/4 is sqrt(0.25 * 0.75 / 40,000) = 0.0022; four of them.
    assert counts / 40_000 == pytest.approx([0.25, 0.5, 0.25], abs=0.009)


def test_many_clusters_of_few_kinds_follow_the_exact_distribution_too() -> None:
    # 40 clusters of one pair, half of them passed: passes are binomial(40, 1/2), so the mean is 20
    # of 40 and the variance 10, each within 5 standard errors of 40,000 draws. Alike clusters are
    # counted together here, and drawn one by one in the test above.
    ratios = bootstrap_ratios([[1], [0]] * 20, [[1]] * 40, resamples=40_000)[:, 0]
    assert 40 * ratios.mean() == pytest.approx(20, abs=5 * math.sqrt(10 / 40_000))
    assert (40 * ratios).var() == pytest.approx(10, abs=5 * 10 * math.sqrt(2 / 40_000))
    exact = [math.comb(40, passes) / 2**40 for passes in range(41)]
    found = np.bincount((40 * ratios).round().astype(int), minlength=41) / 40_000
    assert np.abs(found - exact).max() < 5 * math.sqrt(0.125 * 0.875 / 40_000)


def test_a_resample_without_pairs_of_the_slice_is_nan() -> None:
    # Two of three clusters hold pairs; (1/3)^3 = 1/27 of the resamples draw the third three times.
    ratios = bootstrap_ratios([[1], [0], [0]], [[1], [2], [0]], resamples=40_000)[:, 0]
    assert np.isnan(ratios).mean() == pytest.approx(1 / 27, abs=0.004)


def test_slices_share_the_draw() -> None:
    # The second slice is the first one, failed where that passed: rates add up to 1 every time.
    ratios = bootstrap_ratios([[1, 2], [3, 1], [0, 2]], [[3, 3], [4, 4], [2, 2]], resamples=500)
    assert ratios.sum(axis=1) == pytest.approx(1)


def test_the_same_seed_gives_the_same_resamples() -> None:
    sums = np.arange(12.0).reshape(6, 2), np.full((6, 2), 12.0)
    assert np.array_equal(bootstrap_ratios(*sums, seed=3), bootstrap_ratios(*sums, seed=3))
    assert not np.array_equal(bootstrap_ratios(*sums, seed=3), bootstrap_ratios(*sums, seed=4))


def test_the_order_of_clusters_does_not_matter() -> None:
    passes, pairs = np.array([[1, 0], [2, 2], [0, 3], [1, 0]]), np.array([[2, 1]] * 4) + 2
    order = [2, 0, 3, 1]
    assert np.array_equal(
        bootstrap_ratios(passes, pairs), bootstrap_ratios(passes[order], pairs[order])
    )


def test_the_size_of_the_chunks_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    sums = np.arange(12.0).reshape(6, 2), np.full((6, 2), 12.0)
    at_once = bootstrap_ratios(*sums, resamples=100)
    monkeypatch.setattr(intervals, "WEIGHTS_AT_ONCE", 6 * 7)  # 7 resamples of 6 distinct rows
    assert np.array_equal(bootstrap_ratios(*sums, resamples=100), at_once)


def test_the_global_generator_is_left_alone() -> None:
    before = pickle.dumps((np.random.get_state(), random.getstate()))  # noqa: NPY002
    bootstrap_ratios([[1], [0]], [[1], [3]], resamples=10)
    assert pickle.dumps((np.random.get_state(), random.getstate())) == before  # noqa: NPY002


def test_all_passed_gives_an_interval_of_one() -> None:
    pairs = [[2], [5], [1]]
    ratios = bootstrap_ratios(pairs, pairs)[:, 0]
    assert covering_interval(1.0, ratios, lowest=0).bounds == (1.0, 1.0)


@pytest.mark.parametrize(
    ("passes", "pairs"),
    [([[3]], [[4]]), ([[3], [0], [0]], [[4], [0], [0]]), (np.empty((0, 2)), np.empty((0, 2)))],
    ids=["one cluster", "one of three holds pairs", "none"],
)
def test_fewer_than_two_clusters_give_no_interval(passes: Any, pairs: Any) -> None:
    ratios = bootstrap_ratios(passes, pairs, resamples=50)
    assert ratios.shape == (50, np.shape(passes)[1])
    found = covering_interval(0.5, ratios[:, 0])
    assert found == (None, "the number is undefined in more than half of the resamples")


def test_an_empty_slice_gives_no_interval_and_leaves_its_neighbour_alone() -> None:
    ratios = bootstrap_ratios([[0, 1], [0, 1]], [[0, 1], [0, 1]], resamples=50)
    assert covering_interval(0.5, ratios[:, 0]).bounds is None
    assert covering_interval(1.0, ratios[:, 1]).bounds == (1.0, 1.0)


def test_percentiles_leave_undefined_resamples_out() -> None:
    # 0, 1, ..., 200: 2.5 % of 201 evenly spaced values lie below 5, and as many above 195.
    samples = [math.nan, *range(201), math.nan]
    assert covering_interval(100, samples, lowest=0, highest=200).bounds == pytest.approx((5, 195))
    # Reflected about 150, they are 105 to 295; nothing lies above 200.
    assert covering_interval(150, samples, lowest=0, highest=200).bounds == pytest.approx((5, 200))
    assert covering_interval(1, [0.0] * 40).bounds == (0, 1)  # and the value is always in it


def test_an_interval_reaches_farther_than_percentiles_for_few_clusters() -> None:
    # Five clusters of one size: t = 2.7764 for 4 degrees of freedom, over 1.96, times sqrt(5 / 4).
    # Sizes 3, 1, 1, 1 have Kish's number 36 / 12 = 3: t = 4.3027 for 2, times sqrt(4 / 3). Of one
    # cluster there is none. 200 reach hardly farther: 1.9720 for 199.
    counts = np.zeros((200, 4))
    counts[:5, 0] = counts[:1, 2] = counts[:, 3] = 2
    counts[:4, 1] = 3, 1, 1, 1
    expected = [2.7764 * math.sqrt(5 / 4), 4.3027 * math.sqrt(4 / 3), 1.95996, 1.9720 * 1.00251]
    assert stretches(counts) == pytest.approx([each / 1.95996 for each in expected], abs=1e-4)


def test_both_ends_of_an_interval_are_stretched() -> None:
    # Percentiles 5 and 195 of a value 80 are 75 below and 115 above it, reflected the other way.
    found = covering_interval(80, range(201), stretch=1.2, lowest=-500, highest=500)
    assert found.bounds == pytest.approx((80 - 1.2 * 115, 80 + 1.2 * 115))
    assert covering_interval(80, range(201), stretch=1.2, lowest=0, highest=200).bounds == (0, 200)


def covers(interval: tuple[float, float] | None, truth: float) -> bool:
    return interval is not None and interval[0] <= truth <= interval[1]


@pytest.mark.slow
def test_the_interval_covers_the_truth_as_often_as_it_says() -> None:
    # 150 contexts of 1 to 8 pairs; the chance to pass is drawn per context from Beta(1.2, 0.8),
    # whose mean 1.2 / 2 = 0.6 is the true rate. Nominal 95 %: 93 to 97 % of the simulated data sets
    # cover it; with fewer of them, three standard errors of sqrt(0.95 * 0.05 / times) more.
    times, resamples = (4_000, 1_000) if FULL else (400, 400)
    rng = np.random.default_rng(20)
    by_cluster = by_pair = 0
    for _ in range(times):
        pairs = rng.integers(1, 9, size=(150, 1))
        passes = rng.binomial(pairs, rng.beta(1.2, 0.8, size=(150, 1)))
        ratios = bootstrap_ratios(passes, pairs, resamples=resamples)[:, 0]
        rate = passes.sum() / pairs.sum()
        by_cluster += covers(covering_interval(rate, ratios, lowest=0).bounds, 0.6)
        by_pair += covers(wilson(int(passes.sum()), int(pairs.sum())), 0.6)
    reach = 0 if FULL else 3 * math.sqrt(0.95 * 0.05 / times)
    assert 0.93 - reach <= by_cluster / times <= 0.97 + reach
    # Wilson takes the pairs of a context as independent and claims too much.
    assert by_pair / times < 0.85


@pytest.mark.parametrize("contexts", [100, 9_000, 45_000] if FULL else [100, 9_000])
def test_2_000_resamples_of_45_000_pairs_take_seconds(contexts: int) -> None:
    # Overall and nine categories, in few large contexts, many small ones, or one pair to each.
    rng = np.random.default_rng(3)
    context, category = rng.integers(contexts, size=45_000), rng.integers(1, 10, size=45_000)
    passes, pairs = np.zeros((2, contexts, 10))
    for column in (0, category):
        np.add.at(pairs, (context, column), 1)
        np.add.at(passes, (context, column), rng.random(45_000) < 0.6)
    start = time.process_time()
    ratios = bootstrap_ratios(passes, pairs)
    assert time.process_time() - start < 4  # of all cores
    assert ratios.shape == (2_000, 10)
