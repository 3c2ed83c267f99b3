"""Intervals of candidate-level correlations: weights against texts that really are repeated."""

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from nnd.metric.numbers.statistics import candidate_intervals
from nnd.metric.numbers.statistics.candidate_intervals import mean_intervals, pooled_samples
from nnd.metric.numbers.statistics.intervals import FloatArray, Interval, interval_of_most

NAMES = ("spearman", "pearson", "tau_b")
ORACLES = {
    "spearman": stats.spearmanr,
    "pearson": stats.pearsonr,
    "tau_b": stats.kendalltau,
}


def pooled_intervals(
    x: FloatArray, y: FloatArray, contexts: npt.NDArray[np.int64], *, seed: int = 0
) -> dict[str, Interval | None]:
    samples = pooled_samples(x, y, contexts, seed=seed)
    return {name: interval_of_most(each) for name, each in samples.items()}


def test_the_same_as_with_candidates_repeated() -> None:
    rng = np.random.default_rng(1)
    contexts = np.array([3, 0, 1, 1, 2, 0, 4, 3, 3, 2, 4, 0])
    x = rng.integers(0, 6, size=12).astype(float)
    y = x + rng.integers(0, 4, size=12)
    drawn = np.random.default_rng(0).multinomial(
        5, np.full(5, 1 / 5), size=candidate_intervals.RESAMPLES
    )
    found = pooled_intervals(x, y, contexts)
    for name, oracle in ORACLES.items():
        samples = []
        for weights in drawn:
            some = np.repeat(np.arange(12), weights[contexts])
            if np.ptp(x[some]) and np.ptp(y[some]):
                samples.append(oracle(x[some], y[some]).statistic)
        assert found[name] == pytest.approx(tuple(np.quantile(samples, [0.025, 0.975])))


def test_contexts_that_agree_with_themselves_are_one_look() -> None:
    # 60 contexts that hold the same candidate 20 times are 60 looks: redrawn singly, the interval
    # would be narrower by the root of 20.
    rng = np.random.default_rng(2)
    x = rng.random(60)
    y = x + rng.random(60)
    once = pooled_intervals(x, y, np.arange(60))
    often = pooled_intervals(np.repeat(x, 20), np.repeat(y, 20), np.repeat(np.arange(60), 20))
    assert often == {name: pytest.approx(bounds) for name, bounds in once.items()}


def test_one_context_shows_no_spread() -> None:
    numbers = np.arange(5.0)
    assert pooled_intervals(numbers, numbers, np.zeros(5, dtype=np.int64)) == dict.fromkeys(NAMES)
    assert mean_intervals([dict.fromkeys(NAMES, 0.5)], NAMES) == dict.fromkeys(NAMES)
    assert mean_intervals([], NAMES) == dict.fromkeys(NAMES)


def test_resamples_of_one_number_are_undefined() -> None:
    # Two contexts of equal candidates: half of the resamples hold one context twice, and the rest
    # the same two numbers. With 0.1 and 1e8, sums of squares do not give 0 by themselves.
    x, contexts = np.array([0.1, 0.1, 1e8, 1e8]), np.array([0, 0, 1, 1])
    for seed in range(5):
        drawn = np.random.default_rng(seed).multinomial(2, [1 / 2, 1 / 2], size=1_000)
        both = int((drawn[:, 0] == 1).sum())
        expected = pytest.approx((1, 1)) if both >= 500 else None
        assert pooled_intervals(x, x, contexts, seed=seed) == dict.fromkeys(NAMES, expected)


def test_means_over_contexts() -> None:
    # Two contexts: a quarter of the resamples each hold the first or the second only.
    within = [{"r": 0.2, "s": 0.5}, {"r": 0.8, "s": None}]
    assert mean_intervals(within, ("r", "s")) == {"r": pytest.approx((0.2, 0.8)), "s": None}


def test_too_many_candidates_for_every_two(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.arange(6.0)
    contexts = np.repeat(np.arange(3), 2)
    monkeypatch.setattr(candidate_intervals, "MOST_FOR_TAU", 5)
    found = pooled_intervals(x, x, contexts)
    assert found["tau_b"] is None
    assert found["spearman"] == pytest.approx((1, 1))


def test_pieces_are_no_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    x, y, contexts = rng.random(30), rng.random(30), np.arange(30) % 7
    whole = pooled_intervals(x, y, contexts)
    monkeypatch.setattr(candidate_intervals, "_PAIRS_AT_ONCE", 1)
    assert pooled_intervals(x, y, contexts)["tau_b"] == pytest.approx(whole["tau_b"])
