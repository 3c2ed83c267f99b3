"""McNemar, Holm, and how many pairs it takes."""

import math
import os
import random
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.stats import binomtest

from nnd.metric.numbers.statistics.context_intervals import cluster_intervals
from nnd.metric.numbers.statistics.significance import holm, mcnemar_exact, pairs_needed

FULL = bool(os.environ.get("NND_TEST_FULL"))

# McNemar


@pytest.mark.parametrize(
    ("only_a", "only_b", "expected"),
    [
        # Twice the tail of a fair coin: 2 (1 + 12 + 66) / 2^12 = 158 / 4096 = 0.0386.
        (10, 2, Fraction(158, 4096)),
        # 2 (1 + 5) / 2^5 = 12 / 32.
        (4, 1, Fraction(12, 32)),
        # One coin, or two that differ: twice the tail is 1 or more.
        (1, 0, Fraction(1)),
        (1, 1, Fraction(1)),
        (7, 7, Fraction(1)),
        (2, 0, Fraction(1, 2)),
        # No coin was tossed.
        (0, 0, Fraction(1)),
    ],
)
def test_mcnemar_by_hand(only_a: int, only_b: int, expected: Fraction) -> None:
    assert mcnemar_exact(only_a, only_b) == float(expected)
    assert mcnemar_exact(only_b, only_a) == float(expected)


@pytest.mark.parametrize(("only_a", "only_b"), [(511, 513), (600, 700), (300, 1000)])
def test_mcnemar_of_many_tests_is_the_tail_summed_in_whole_numbers(
    only_a: int, only_b: int
) -> None:
    n = only_a + only_b
    tail = sum(math.comb(n, k) for k in range(min(only_a, only_b) + 1))
    assert mcnemar_exact(only_a, only_b) == 2 * tail / 2**n


def test_mcnemar_is_the_share_of_sign_flips_at_least_as_far_apart() -> None:
    # Without any formula: 9 discordant tests, each the one model's or the other's.
    flips = [abs(sum(signs)) for signs in product((-1, 1), repeat=9)]
    assert mcnemar_exact(8, 1) == sum(flip >= 7 for flip in flips) / len(flips)


@given(st.integers(0, 400), st.integers(0, 400))
def test_mcnemar_is_the_binomial_test(only_a: int, only_b: int) -> None:
    expected = binomtest(only_a, only_a + only_b).pvalue if only_a + only_b else 1.0
    assert mcnemar_exact(only_a, only_b) == pytest.approx(expected, rel=1e-9)


def test_mcnemar_of_many_tests_neither_overflows_nor_vanishes() -> None:
    assert mcnemar_exact(22_700, 22_300) == pytest.approx(binomtest(22_300, 45_000).pvalue)
    assert mcnemar_exact(45_000, 0) == 0.0  # 2^-44999 is less than any float


# Holm


@pytest.mark.parametrize(
    ("values", "adjusted"),
    [
        # Sorted 0.005, 0.01, 0.03, 0.04 times 4, 3, 2, 1: 0.02, 0.03, 0.06, 0.04; the last must
        # not be less than the one before it: 0.06.
        ([0.01, 0.04, 0.03, 0.005], [0.03, 0.06, 0.06, 0.02]),
        ([0.6, 0.5], [1, 1]),
        ([0.02, 0.02, 0.02], [0.06, 0.06, 0.06]),
        ([0.03], [0.03]),
        ([], []),
        ([None, 0.01, None, 0.02], [None, 0.02, None, 0.02]),
    ],
    ids=["by hand", "at most 1", "equal", "alone", "none", "untested ones do not count"],
)
def test_holm(values: list[float | None], adjusted: list[float | None]) -> None:
    assert holm(values) == adjusted


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_holm_does_not_depend_on_the_order(values: list[float], chance: random.Random) -> None:
    adjusted = dict(zip(values, holm(values), strict=True))
    shuffled = chance.sample(values, len(values))
    assert holm(shuffled) == [adjusted[value] for value in shuffled]


# How many pairs


def test_pairs_needed_by_hand() -> None:
    # psi = 0.2, delta = 0.02: 1.959964 sqrt(0.2) + 0.841621 sqrt(0.2 - 0.0004)
    # = 0.876522 + 0.376007 = 1.252529; squared, over 0.0004: 3922.07, so 3923.
    assert pairs_needed(0.2, 0.02) == 3923
    # Twice as many where tests of one context say half as much.
    assert pairs_needed(0.2, 0.02, design_effect=2) == 7845


def test_what_changes_the_number_of_pairs() -> None:
    needed = pairs_needed(0.2, 0.02)
    assert pairs_needed(0.2, 0.01) > 3.9 * needed
    assert pairs_needed(0.1, 0.02) < 0.51 * needed
    assert pairs_needed(0.0, 0.02) == pairs_needed(0.02, 0.02)  # its own discordance
    assert pairs_needed(0.2, 0.02, design_effect=0.7) == needed  # chance cannot make contexts help


@pytest.mark.slow
def test_with_that_many_independent_pairs_mcnemar_finds_the_difference_4_times_in_5() -> None:
    # 11 % of the tests only a passes, 9 % only b: discordance 0.2, difference 0.02.
    times = 20_000 if FULL else 1_000
    n = pairs_needed(0.2, 0.02)
    counts = np.random.default_rng(1).multinomial(n, [0.11, 0.09, 0.8], size=times)
    found = np.mean([mcnemar_exact(int(b), int(c)) < 0.05 for b, c, _ in counts])
    # The exact test is cautious, so a little less than 80 % is right: Connor's formula is for the
    # test without that caution. Four standard errors of a share of 0.8 on top.
    reach = 4 * math.sqrt(0.8 * 0.2 / times)
    assert 0.78 - reach < found < 0.8 + reach


@pytest.mark.slow
def test_with_that_many_clustered_pairs_the_interval_finds_the_difference_4_times_in_5() -> None:
    # Contexts of 4 tests. With chance 1/2 all four go the same way, else each its own: tests of a
    # context correlate at 1/2, which makes the design effect 1 + 3/2 = 2.5. A test is only a's
    # with 0.175, only b's with 0.125: discordance 0.3, difference 0.05.
    times = 2_000 if FULL else 300
    ways = [0.175, 0.125, 0.7]
    contexts = round(pairs_needed(0.3, 0.05, design_effect=2.5) / 4)
    rng = np.random.default_rng(2)
    found = 0
    for _ in range(times):
        own = rng.choice([1, -1, 0], p=ways, size=(contexts, 4))
        shared = rng.choice([1, -1, 0], p=ways, size=(contexts, 1))
        ways_found = np.where(rng.random((contexts, 1)) < 0.5, shared, own)
        sums = ways_found.sum(axis=1, keepdims=True), (ways_found**2).sum(axis=1, keepdims=True)
        ((bounds, *_),) = cluster_intervals(*sums, np.full((contexts, 1), 4), lowest=-1)
        found += bounds is not None and bounds[0] > 0
    assert abs(found / times - 0.8) < 0.01 + 4 * math.sqrt(0.8 * 0.2 / times)
