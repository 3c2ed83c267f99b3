"""Correlations of several categories together, with their intervals and p-values."""

import math
import os
import time
from itertools import permutations
from typing import Any

import numpy as np
import pytest

from nnd.metric.numbers.statistics.correlation_estimates import (
    CategoryScores,
    Correlations,
    Permutations,
    correlate,
)
from nnd.metric.numbers.statistics.correlations import STATISTICS

FULL = bool(os.environ.get("NND_TEST_FULL"))

UP = [0.1, 0.2, 0.3, 0.4]


def compared(
    ours: list[float], theirs: list[float], models: str = "ABCDEFGHIJKL", **columns: np.ndarray
) -> CategoryScores:
    none = np.empty((0, len(ours)))
    return CategoryScores(models[: len(ours)], ours, theirs, columns.get("resampled", none))


NOTHING = (None, None, None, None)


def all_of(found: Correlations) -> dict[str, tuple[Any, ...]]:
    """Statistic → its value, its intervals over contexts and over systems, its p-value."""
    parts = (found.statistics, found.intervals, found.intervals_over_systems, found.p_values)
    return {name: tuple(part[name] for part in parts) for name in STATISTICS}


def mean_of(**categories: CategoryScores) -> tuple[Correlations, dict[str, int]]:
    _, mean, counts = correlate(categories, list(categories))
    return mean, counts


def test_all_categories_of_a_mean_have_the_same_orders() -> None:
    # People see both categories alike, the rates contradict each other: every order that suits one
    # fails the other, so the mean is 0 for all 24 orders and p = 1. If each category had orders of
    # its own, the mean would often be another.
    humans = [1.0, 2, 3, 4]
    mean, _ = mean_of(x=compared(UP, humans), y=compared(UP[::-1], humans))
    assert mean.statistics["tau_b"] == 0
    assert mean.p_values["tau_b"] == 1
    # With alike rates too, the mean is that of one category, and so is p.
    mean, _ = mean_of(x=compared(UP, humans), y=compared(UP, humans))
    assert mean.p_values["tau_b"] == pytest.approx(2 / 24)


def test_one_sample_of_systems_holds_for_all_categories_of_a_mean() -> None:
    # Again what one category gains the other loses: the mean never moves from 0, so that the
    # interval is that of systems which all agree, 2 z^2 / (4 + z^2) to both sides.
    humans = [1.0, 3, 2, 4]
    mean, _ = mean_of(x=compared(UP, humans), y=compared(UP[::-1], humans))
    reach = 2 * 3.8415 / (4 + 3.8415)
    assert mean.intervals_over_systems["pearson"] == pytest.approx((-reach, reach), abs=1e-4)
    alone, _ = mean_of(x=compared(UP, humans))
    low, high = alone.intervals_over_systems["pearson"] or (0, 0)
    assert low < high


def test_the_p_of_a_mean_equals_an_enumeration() -> None:
    rng = np.random.default_rng(3)
    ours, theirs = rng.integers(0, 6, (3, 5)) / 5, rng.integers(0, 6, (3, 5)).astype(float)
    lists = zip("xyz", ours.tolist(), theirs.tolist(), strict=True)
    mean, _ = mean_of(**{category: compared(x, y) for category, x, y in lists})
    for name, statistic in STATISTICS.items():
        found = []
        for order in permutations(range(5)):
            each = [statistic(x, [y[i] for i in order]) for x, y in zip(ours, theirs, strict=True)]
            defined = [value for value in each if value is not None]
            found.append(abs(sum(defined) / len(defined)))
        observed = mean.statistics[name]
        assert observed is not None
        extreme = sum(value >= abs(observed) - 1e-9 for value in found)
        assert mean.p_values[name] == pytest.approx(extreme / math.factorial(5))


def test_a_category_that_defines_nothing_is_no_part_of_the_mean() -> None:
    humans = [1.0, 2, 3, 4]
    both = {"x": compared(UP, humans), "flat": compared([0.5] * 4, humans)}
    mean, counts = mean_of(**both, nobody=compared([], []))
    assert mean == mean_of(x=both["x"])[0]
    assert counts == dict.fromkeys(STATISTICS, 1)


def test_categories_of_different_systems_are_neither_dealt_nor_drawn_together() -> None:
    humans = [1.0, 2, 3, 4]
    x = compared(UP, humans, resampled=np.tile(UP, (50, 1)) + np.tile([[0], [0.01]], (25, 4)) * UP)
    y = x._replace(models="ABCE")
    mean, _ = mean_of(x=x, y=y)
    assert all_of(mean)["tau_a"] == (1, (1, 1), None, None)
    assert mean.permutations is None


@pytest.mark.parametrize(("flat", "interval"), [(50, (1, 1)), (51, None)])
def test_an_interval_over_contexts_needs_half_of_the_resamples(
    *, flat: int, interval: tuple[int, int] | None
) -> None:
    # A resample that lacks a system has no correlation.
    lacking = np.tile([*UP[:3], np.nan], (flat, 1))
    resampled = np.concatenate([lacking, np.tile(UP, (100 - flat, 1))])
    resampled[-1, 0] -= 0.01
    x = compared(UP, [1, 2, 3, 4], resampled=resampled)
    found, mean, _ = correlate({"x": x}, ["x"])
    assert found["x"].intervals["tau_a"] == interval
    assert mean.intervals["tau_a"] == interval
    # Categories that compare different systems take another path to their mean.
    mean, _ = mean_of(x=x, y=x._replace(models="ABCE"))
    assert mean.intervals["tau_a"] == interval


def test_noise_as_large_as_the_differences_gives_no_interval() -> None:
    # The variance of 0.1, 0.2, 0.3, 0.4 is 1/60; noise of a fifth of that, 1/300, is the most.
    rng, humans = np.random.default_rng(0), [1.0, 2, 3, 4]
    for noise, reason in ((1 / 400, None), (1 / 200, "the systems differ too little for so few")):
        resampled = UP + math.sqrt(noise) * rng.normal(size=(4_000, 4))
        found, mean, _ = correlate({"x": compared(UP, humans, resampled=resampled)}, ["x"])
        for each in (found["x"], mean):
            assert (each.intervals["pearson"] is None) == (reason is not None)
            assert each.interval_reasons.get("pearson", "").startswith(reason or "")


def test_an_interval_over_contexts_reaches_to_both_sides_of_its_value() -> None:
    # Half of the resamples have r = 1, as the value, the others r = 0.8: reflected, 1.2, cut to 1.
    humans = [1.0, 2, 3, 4]
    resampled = np.array([UP, [0.1, 0.3, 0.2, 0.4]] * 20)
    near = compared([0.1, 0.21, 0.29, 0.4], humans, resampled=0.9 * np.array(UP) + 0.1 * resampled)
    found, _, _ = correlate({"x": near}, [])
    value = found["x"].statistics["pearson"]
    low, high = found["x"].intervals["pearson"] or (0, 0)
    drawn = [np.corrcoef(each, humans)[0, 1] for each in near.resampled]
    ends = np.quantile(drawn, [0.025, 0.975])
    assert value is not None
    assert low == pytest.approx(min(value, *ends, *(2 * value - ends)))
    assert high == pytest.approx(min(1, max(value, *ends, *(2 * value - ends))))


@pytest.mark.parametrize("n", [0, 1])
def test_fewer_than_two_systems_have_nothing(n: int) -> None:
    found, mean, counts = correlate({"x": compared([0.5] * n, [1.0] * n)}, ["x"])
    assert all_of(found["x"]) == all_of(mean) == dict.fromkeys(STATISTICS, NOTHING)
    assert counts == dict.fromkeys(STATISTICS, 0)


def test_two_systems_have_a_p_of_1_and_no_interval_over_systems() -> None:
    found, _, _ = correlate({"x": compared([0.1, 0.2], [1, 2])}, [])
    assert all_of(found["x"])["tau_b"] == (1, None, None, 1)


def test_ten_systems_are_dealt_at_random() -> None:
    ours = [float(n) for n in range(10)]
    found, _, _ = correlate({"x": compared(ours, ours)}, [])
    assert found["x"].permutations == Permutations("monte_carlo", 10_000)
    assert found["x"].p_values["tau_b"] == 1 / 10_001


@pytest.mark.parametrize(("systems", "seconds"), [(9, 5)] if FULL else [(8, 1)])
def test_all_deals_take_a_moment(systems: int, seconds: float) -> None:
    # 362,880 orders of nine systems, six statistics, four categories: 1.4 s on one core of the
    # machine it was written on. Of this thread alone: other tests leave threads.
    rng = np.random.default_rng(0)
    ours, theirs = rng.random((4, systems)).tolist(), rng.random((4, systems)).tolist()
    categories = {c: compared(x, y) for c, x, y in zip("oxyz", ours, theirs, strict=True)}
    start = time.thread_time()
    found, _, _ = correlate(categories, "xyz")
    assert time.thread_time() - start < seconds
    assert found["o"].permutations == Permutations("exact", math.factorial(systems))
