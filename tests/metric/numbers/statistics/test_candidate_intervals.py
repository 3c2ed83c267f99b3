"""Candidate-level correlations without each context: weights against texts that are left out."""

import numpy as np
import pytest
from scipy import stats

from nnd.metric.numbers.statistics import candidate_intervals, jackknife
from nnd.metric.numbers.statistics.candidate_intervals import mean_intervals, pooled_without

NAMES = ("spearman", "pearson", "tau_b")
ORACLES = {
    "spearman": stats.spearmanr,
    "pearson": stats.pearsonr,
    "tau_b": stats.kendalltau,
}


def test_the_same_as_without_the_candidates() -> None:
    rng = np.random.default_rng(1)
    contexts = np.array([3, 0, 1, 1, 2, 0, 4, 3, 3, 2, 4, 0])
    x = rng.integers(0, 6, size=12).astype(float)
    y = x + rng.integers(0, 4, size=12)
    found = pooled_without(x, y, contexts)
    for name, oracle in ORACLES.items():
        expected = [oracle(x[contexts != n], y[contexts != n]).statistic for n in range(5)]
        assert found[name] == pytest.approx(expected)


def test_many_contexts_are_left_out_in_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    contexts = np.arange(30)
    x = rng.random(30)
    y = x + rng.random(30)
    monkeypatch.setattr(jackknife, "MOST_LEFT_OUT", 7)
    found = pooled_without(x, y, contexts)
    for name, oracle in ORACLES.items():
        kept = [contexts % 7 != group for group in range(7)]
        expected = [oracle(x[some], y[some]).statistic for some in kept]
        assert found[name] == pytest.approx(expected)
    assert jackknife.sizes_of_groups(contexts).tolist() == [5, 5, 4, 4, 4, 4, 4]


def test_one_context_leaves_nothing() -> None:
    numbers = np.arange(5.0)
    found = pooled_without(numbers, numbers, np.zeros(5, dtype=np.int64))
    assert all(np.isnan(each).all() and len(each) == 1 for each in found.values())
    nothing = dict.fromkeys(NAMES, (None, "fewer than two independent contexts"))
    assert mean_intervals([dict.fromkeys(NAMES, 0.5)], NAMES) == nothing
    assert mean_intervals([], NAMES) == nothing


def test_a_rest_of_one_number_is_undefined() -> None:
    # Two contexts of equal candidates. With 0.1 and 1e8, sums of squares do not give 0 themselves.
    x, contexts = np.array([0.1, 0.1, 1e8, 1e8]), np.array([0, 0, 1, 1])
    assert all(np.isnan(each).all() for each in pooled_without(x, x, contexts).values())


def test_too_many_candidates_for_every_two(monkeypatch: pytest.MonkeyPatch) -> None:
    x, contexts = np.arange(6.0), np.repeat(np.arange(3), 2)
    monkeypatch.setattr(candidate_intervals, "MOST_FOR_TAU", 5)
    found = pooled_without(x, x, contexts)
    assert "tau_b" not in found
    assert found["spearman"] == pytest.approx(1)


def test_pieces_are_no_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    x, y, contexts = rng.random(30), rng.random(30), np.arange(30) % 7
    whole = pooled_without(x, y, contexts)
    monkeypatch.setattr(candidate_intervals, "_PAIRS_AT_ONCE", 1)
    monkeypatch.setattr(jackknife, "WEIGHTS_AT_ONCE", 60)
    for name, each in pooled_without(x, y, contexts).items():
        assert each == pytest.approx(whole[name])
