"""Intervals over contexts and over what several contexts share, in simulation."""

import os

import pytest
from two_levels import simulate

TIMES = 1_000 if os.environ.get("NND_TEST_FULL") else 200
REACH = 0.04 if os.environ.get("NND_TEST_FULL") else 0.05


@pytest.mark.parametrize("correlation", [0.0, 0.1, 0.3])
def test_over_clusters_the_true_rate_is_covered_whatever_the_dependence(correlation: float) -> None:
    found = simulate(22, correlation, TIMES)

    assert abs(found.over_clusters - 0.95) <= REACH


def test_over_contexts_it_is_not_covered_where_contexts_share_something() -> None:
    found = simulate(22, 0.1, TIMES)

    assert found.over_contexts < 0.8
    assert found.width_contexts < 0.75 * found.width_clusters


def test_without_dependence_both_levels_agree() -> None:
    found = simulate(22, 0.0, TIMES)

    assert abs(found.over_contexts - 0.95) <= REACH
    assert found.width_clusters < 1.25 * found.width_contexts
