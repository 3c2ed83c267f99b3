"""Sign flips over contexts: p by hand, and how often it is small by chance."""

import math
import os
from collections import defaultdict
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from nnd.metric.numbers.statistics.sign_flips import (
    EXACT_UP_TO,
    RANDOM_FLIPS,
    sign_flip_p,
    sign_flip_ps,
)
from nnd.metric.numbers.statistics.significance import mcnemar_exact

FULL = bool(os.environ.get("NND_TEST_FULL"))


def test_all_flips_by_hand() -> None:
    # 3, 1 and 1 of eight flips: +-5, +-3, +-3, +-1; two of them are as far from 0 as 5, six as 3.
    assert sign_flip_p([3, 1, 1]) == 2 / 8
    assert sign_flip_p([3, -1, 1]) == pytest.approx(6 / 8, abs=1e-15)
    assert sign_flip_p([1, -1]) == 1
    # Contexts without a difference change nothing.
    assert sign_flip_p([0.5, 0, 0.5, 0, 0.25]) == sign_flip_p([0.5, 0.5, 0.25]) == 2 / 8
    assert sign_flip_p([]) == sign_flip_p([0, 0]) == 1
    # Thirds that add up to a whole are no less extreme.
    third = 1 / 3
    assert sign_flip_p([third, third, third, -1]) == 1


@pytest.mark.parametrize("n", [5, EXACT_UP_TO])
def test_all_flips_are_those_of_a_loop(n: int) -> None:
    sums = np.random.default_rng(n).normal(0.4, 1, n)
    flipped = [abs(np.dot(signs, sums)) for signs in product((1, -1), repeat=n)]
    expected = sum(value >= abs(sums.sum()) - 1e-12 for value in flipped) / 2**n
    assert sign_flip_p(sums) == expected


def test_random_flips_are_close_to_all_and_never_0() -> None:
    # Of n equal numbers, p is that of the binomial distribution: 30 of 40 agree.
    sums = np.array([0.5] * 30 + [-0.5] * 10)
    expected = 2 * sum(math.comb(40, k) for k in range(11)) / 2**40
    assert sign_flip_p(sums) == pytest.approx(expected, abs=4 * math.sqrt(expected / RANDOM_FLIPS))
    assert sign_flip_p([0.5] * 60) == 1 / (RANDOM_FLIPS + 1)


def counted_p(sums: list[int]) -> Fraction:
    """The p-value of whole numbers, from how many of the flips have each sum."""
    flips = {0: 1}
    for each in sums:
        after = defaultdict(int)
        for total, ways in flips.items():
            after[total + each] += ways
            after[total - each] += ways
        flips = after
    far = sum(ways for total, ways in flips.items() if abs(total) >= abs(sum(sums)))
    return Fraction(far, 2 ** len(sums))


@pytest.mark.parametrize(
    "sums",
    [
        [2, 1],
        [2, -1, 0, 1],
        [7, 3, 3, -2, 1] * 5,
        [40, -35, 1],
        [2] * 30 + [-2] * 9,
        [3] * 100 + [2] * 50 + [1] * 30 + [-1],  # about 2e-53
        [-3] * 100 + [2] * 50 + [1] * 30,
        [5, *[1] * 400],
    ],
)
def test_p_of_whole_numbers_counts_every_flip(sums: list[int]) -> None:
    assert sign_flip_p(sums) == pytest.approx(float(counted_p(sums)), rel=1e-12)
    assert sign_flip_p([-each for each in sums[::-1]]) == pytest.approx(
        sign_flip_p(sums), rel=1e-12
    )


def test_p_of_random_whole_numbers_counts_every_flip() -> None:
    rng = np.random.default_rng(0)
    for _ in range(60):
        sums = rng.integers(-4, 6, int(rng.integers(1, 50))).tolist()
        assert sign_flip_p(sums) == pytest.approx(float(counted_p(sums)), rel=1e-12)


def test_one_test_in_each_cluster_is_mcnemars_test() -> None:
    assert sign_flip_p([1] * 22 + [-1] * 9 + [0] * 7) == mcnemar_exact(22, 9)
    assert sign_flip_p([1] * 22_700 + [-1] * 22_300) == mcnemar_exact(22_700, 22_300)


def test_tests_that_pass_or_fail_together_are_no_evidence_on_their_own() -> None:
    # 12 of 13 contexts of one test would be: p = 14 * 2 / 2^13. As tests of one context, they are
    # one flip of two.
    assert sign_flip_p([1] * 12 + [-1]) == 28 / 2**13
    assert sign_flip_p([12, -1]) == 1
    assert sign_flip_p([12]) == 1


def test_several_differences_share_the_flips() -> None:
    # The first has two contexts with a difference (p = 2 / 4), the second none; the others are
    # drawn, and their p is that of the binomial distribution, as above.
    sums = np.zeros((60, 4))
    sums[:2, 0], sums[:40, 2], sums[:40, 3] = 1, [1] * 30 + [-1] * 10, [-1] * 30 + [1] * 10
    expected = 2 * sum(math.comb(40, k) for k in range(11)) / 2**40
    few, none, *many = sign_flip_ps(sums)
    assert (few, none) == (2 / 4, 1)
    assert many == pytest.approx([expected] * 2, abs=4 * math.sqrt(expected / RANDOM_FLIPS))
    assert many[0] == many[1]
    assert sign_flip_ps(sums[:, :0]) == []


def test_neither_order_nor_side_matters() -> None:
    sums = np.random.default_rng(1).normal(0.2, 1, 50)
    assert sign_flip_p(sums) == sign_flip_p(sums[::-1]) == sign_flip_p(-sums)


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(2, 2), (6, 2)])
@pytest.mark.parametrize("contexts", [10, 30, 100])
def test_p_holds_its_level(contexts: int, shape: tuple[int, int]) -> None:
    # Contexts of 1 to 6 parents with three variants each, which pass as often as their parents.
    times = 10_000 if FULL else 500
    rng = np.random.default_rng(contexts)
    rates, parents = (
        draw[:, :, None]
        for draw in (rng.beta(*shape, (times, contexts)), rng.integers(1, 7, (times, contexts)))
    )
    gaps = rng.binomial(3, rates, (times, contexts, 6)) / 3
    gaps -= rng.binomial(1, rates, (times, contexts, 6))
    sums = (gaps * (np.arange(6) < parents)).sum(axis=2)
    # Sets share the drawn flips in fifties, which is quicker, and neither more nor less often 0.05.
    found = [p for several in np.split(sums, times // 50) for p in sign_flip_ps(several.T)]
    small = np.mean(np.array(found) < 0.05)
    chance = 3 * math.sqrt(0.05 * 0.95 / times)
    assert (0.03 if contexts < 30 else 0.04) - chance <= small <= 0.05 + chance
