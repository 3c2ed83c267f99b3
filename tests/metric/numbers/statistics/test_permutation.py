"""Permutation p-values: all orders of human scores up to nine systems, random ones above."""

import math
import pickle
import random
import statistics
from collections.abc import Callable
from itertools import combinations, permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from nnd.metric.numbers.statistics import permutation
from nnd.metric.numbers.statistics.correlations import BATCHED, STATISTICS
from nnd.metric.numbers.statistics.permutation import (
    make_orders,
    permutation_p,
    statistic_by_chance,
)

NAMES = list(STATISTICS)


def p_of(name: str, x: list[float], y: list[float]) -> float | None:
    orders = make_orders(len(x))
    by_chance = statistic_by_chance(name, x, y, orders)
    observed = STATISTICS[name](x, y)
    return None if observed is None else permutation_p(observed, by_chance, orders.method)


def sign(value: float) -> int:
    return (value > 0) - (value < 0)


# The pairs of systems counted one by one: tau-a and tau-b have the same p, as only C - D changes.
def score(x: list[float], y: list[float]) -> float:
    return sum(sign(x[i] - x[j]) * sign(y[i] - y[j]) for i, j in combinations(range(len(x)), 2))


def correlation(x: list[float], y: list[float]) -> float:
    return statistics.correlation(x, y)


def correlation_of_gaps(x: list[float], y: list[float]) -> float:
    pairs = list(combinations(range(len(x)), 2))
    return statistics.correlation([x[i] - x[j] for i, j in pairs], [y[i] - y[j] for i, j in pairs])


def correlation_of_ranks(x: list[float], y: list[float]) -> float:
    return statistics.correlation(
        *([sum(a > b for b in z) - sum(a < b for b in z) for a in z] for z in (x, y))
    )


COUNTED: dict[str, Callable[[list[float], list[float]], float]] = {
    "tau_b": score,
    "tau_a": score,
    "spearman": correlation_of_ranks,
    "pearson": correlation,
    "gap_r": correlation,
    "gap_r_laban2022": correlation_of_gaps,
}


def enumerated(name: str, x: list[float], y: list[float]) -> float:
    of = COUNTED[name]
    observed = abs(of(x, y))
    found = [abs(of(x, list(order))) >= observed - 1e-9 for order in permutations(y)]
    return sum(found) / len(found)


@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_the_deals_are_all_orders_each_once(n: int) -> None:
    orders = make_orders(n)
    assert orders.method == "exact"
    assert sorted(map(tuple, orders.places.tolist())) == sorted(permutations(range(n)))


@pytest.mark.parametrize("name", ["tau_a", "tau_b", "spearman", "pearson", "gap_r"])
def test_three_systems_by_hand(name: str) -> None:
    # Of six orders one agrees in full, one is its reverse, and four lie between: the best
    # agreement has p = 2/6, as has the worst, and everything else p = 1.
    assert p_of(name, [1, 2, 3], [1, 2, 3]) == pytest.approx(2 / 6)
    assert p_of(name, [1, 2, 3], [3, 2, 1]) == pytest.approx(2 / 6)
    assert p_of(name, [1, 2, 3], [1, 3, 2]) == 1


@pytest.mark.parametrize("name", ["tau_a", "tau_b", "spearman", "pearson", "gap_r"])
def test_ties_by_hand(name: str) -> None:
    # The third system alone differs. It gets 3, 2 or 1, each in two of six orders, for
    # C - D = 2, 0, -2. Observed 2: two orders reach it and two its reverse.
    assert p_of(name, [1, 1, 2], [1, 2, 3]) == pytest.approx(4 / 6)


@pytest.mark.parametrize("name", NAMES)
def test_two_systems_prove_nothing(name: str) -> None:
    # Both orders give 1 or -1; two systems have one gap once, and one number no correlation.
    expected = None if name == "gap_r_laban2022" else 1
    assert p_of(name, [0.1, 0.2], [1, 2]) == expected


# Few distinct values make ties, many make none.
values = st.one_of(st.integers(0, 3), st.integers(-99, 99)).map(float)
two_scores = (
    st.integers(3, 5)
    .flatmap(lambda n: st.tuples(*(st.lists(values, min_size=n, max_size=n) for _ in range(2))))
    .filter(lambda two: all(len(set(each)) > 1 for each in two))
)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", NAMES)
@given(two=two_scores)
def test_p_equals_an_enumeration(name: str, two: tuple[list[float], list[float]]) -> None:
    assert p_of(name, *two) == pytest.approx(enumerated(name, *two))


@pytest.mark.parametrize("name", NAMES)
def test_chance_is_as_rare_as_p_says(name: str) -> None:
    # Were each order the observed one in turn, p <= a would come up in at most a share a of them.
    rng = np.random.default_rng(6)
    orders = make_orders(6)
    found = statistic_by_chance(name, rng.integers(0, 5, 6), rng.random(6), orders)
    each = np.array([permutation_p(value, found, "exact") for value in found])
    for level in (0.01, 0.05, 0.2, 0.5):
        assert (each <= level).mean() <= level
    assert (each <= 0.2).mean() > 0.05  # and not because p is always large


@pytest.mark.parametrize("name", NAMES)
def test_the_size_of_the_chunks_does_not_matter(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    x, y, orders = [0.1, 0.5, 0.5, 0.9], [1.0, 3.0, 2.0, 5.0], make_orders(4)
    at_once = statistic_by_chance(name, x, y, orders)
    monkeypatch.setattr(permutation, "GAPS_AT_ONCE", 16 * 7)  # 7 of 24 orders
    np.testing.assert_array_equal(statistic_by_chance(name, x, y, orders), at_once)
    np.testing.assert_array_equal(BATCHED[name](np.array(x), np.array(y)[orders.places]), at_once)


# More systems than can be enumerated


def test_above_nine_systems_deals_are_drawn() -> None:
    assert len(make_orders(9).places) == math.factorial(9)
    orders = make_orders(10)
    assert (orders.method, orders.places.shape) == ("monte_carlo", (10_000, 10))
    assert (np.sort(orders.places, axis=1) == np.arange(10)).all()


def test_b_of_m_drawn_deals_count() -> None:
    # |0.5|, |-0.7| and |0.9| reach 0.5: (3 + 1) / (4 + 1).
    assert permutation_p(0.5, np.array([0.5, -0.7, 0.1, 0.9]), "monte_carlo") == 4 / 5
    assert permutation_p(-0.5, np.array([0.5, -0.7, 0.1, 0.9]), "exact") == 3 / 4


@pytest.mark.parametrize("name", NAMES)
def test_a_drawn_p_comes_near_the_exact_one(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = [0.1, 0.2, 0.4, 0.5, 0.5, 0.9, 0.7], [1.0, 3.0, 2.0, 2.0, 5.0, 4.0, 6.0]
    exact = p_of(name, x, y)
    assert exact is not None
    monkeypatch.setattr(permutation, "EXACT_UP_TO", 6)
    # Four standard errors of a share of 10,000.
    reach = 4 * math.sqrt(exact * (1 - exact) / 10_000)
    assert p_of(name, x, y) == pytest.approx(exact, abs=reach)


def test_drawn_deals_hang_on_their_seed_only() -> None:
    before: Any = pickle.dumps((np.random.get_state(), random.getstate()))  # noqa: NPY002
    assert np.array_equal(make_orders(12, seed=3).places, make_orders(12, seed=3).places)
    assert not np.array_equal(make_orders(12, seed=3).places, make_orders(12, seed=4).places)
    assert pickle.dumps((np.random.get_state(), random.getstate())) == before  # noqa: NPY002
