"""Statistics over pairs: shared tasks' own examples, and formulas written out over every two."""

import csv
import math
import time
from itertools import combinations
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from nnd.metric.numbers.statistics.metric_swaps import swap_p
from nnd.metric.numbers.statistics.roc_auc import pooled_auc
from nnd.metric.numbers.statistics.soft_accuracy import (
    resampled_soft_accuracy,
    soft_accuracy,
    system_accuracy,
)
from nnd.metric.numbers.statistics.tie_accuracy import (
    TieAccuracy,
    pair_candidates,
    tie_accuracy,
)

Floats = npt.NDArray[np.float64]


def accuracies(metric: npt.ArrayLike, human: npt.ArrayLike, context: npt.ArrayLike) -> TieAccuracy:
    numbers = np.asarray(human, dtype=np.float64)
    pairs = pair_candidates(numbers, np.asarray(context, dtype=np.int64))
    found = tie_accuracy(np.asarray(metric, dtype=np.float64), pairs)
    assert found is not None
    return found


def acc_eq(metric: Floats, human: Floats, context: npt.NDArray[np.int64], epsilon: float) -> float:
    """The formula, over every two candidates of every context."""
    by_context = []
    for number in np.unique(context):
        own, right = np.flatnonzero(context == number), []
        for i, j in combinations(own, 2):
            people, gap = human[i] - human[j], metric[i] - metric[j]
            tied = abs(gap) <= epsilon
            right.append(tied if people == 0 else not tied and (gap > 0) == (people > 0))
        if right:
            by_context.append(np.mean(right))
    return float(np.mean(by_context))


# Examples of mt-metrics-eval (tau_optimization_test.py, stats_test.py)


def test_the_best_threshold() -> None:
    found = accuracies([0, 2, 6, 8], [1, 1, 1, 4], [0] * 4)
    assert found.thresholds.tolist() == [0, 2, 4, 6, 8]
    assert found.accuracies * 6 == pytest.approx([3, 3, 4, 4, 3])
    assert (found.epsilon, found.calibrated) == (4, pytest.approx(4 / 6))
    found = accuracies([0, 2, 6, 8], [1, 2, 3, 4], [0] * 4)
    assert found.accuracies * 6 == pytest.approx([6, 4, 3, 1, 0])
    assert (found.epsilon, found.calibrated) == (0, 1)


def test_the_mean_is_over_contexts_with_missing_numbers_left_out() -> None:
    metric = [[0, 5, 2, 3, 2], [None, 2, 1, 5, 3], [9, 1, 5, 3, 8], [9, 3, 4, 4, 1], [None] * 5]
    human = [[1, 5, 2, 1, 1], [4, 2, 2, 1, 4], [5, 9, 2, 8, 7], [7, 6, None, 3, 2], [None] * 5]
    cells = [
        (m, h, number)
        for number, (row, people) in enumerate(zip(metric, human, strict=True))
        for m, h in zip(row, people, strict=True)
        if m is not None and h is not None
    ]
    found = accuracies(*zip(*cells, strict=True))
    assert found.thresholds.tolist() == list(range(9))
    expected = [0.46667, 0.49167, 0.38333, 0.29167, 0.26667, 0.2, 0.15833, 0.15833, 0.11667]
    assert found.accuracies == pytest.approx(expected, abs=5e-6)
    assert found.epsilon == 1
    assert found.calibrated == pytest.approx(0.4916666666666667)


def test_ties_of_both_are_right() -> None:
    found = accuracies([1, 1, 2, 2, 4, 3, 3], [1, 1, 1, 2, 2, 3, 4], [0] * 7)
    assert found.acc_eq == pytest.approx(14 / 21)
    assert found.accuracies[found.thresholds == 1] == pytest.approx(10 / 21)
    assert 2 * found.acc_eq - 1 == pytest.approx(7 / 21)  # tau23


def test_systems_in_one_order() -> None:
    # Of 10 pairs of systems both order (1, 3), (1, 5), (2, 3), (2, 5) and (4, 5) in one way.
    people, metric = np.array([1.0, 2, 3, 3, 4]), np.array([1.0, 1, 2, 1, 2])
    assert system_accuracy(people, metric) == 0.5
    assert np.isnan(system_accuracy(np.ones(1), np.ones(1)))


# Real annotations: mt-metrics-eval's own code on WMT's TED talks, English to German


@pytest.fixture(scope="module")
def ted(nnd_data: Path) -> tuple[Floats, Floats]:
    """Human scores and minus the length of the first target, [systems, segments]."""
    folder = nnd_data / "wmt_mqm/ted/ende"
    human: dict[str, dict[int, float]] = {}
    for line in (folder / "mqm_ted_ende.avg_seg_scores.tsv").read_text("utf-8").splitlines()[1:]:
        system, score, segment = line.split()
        if score != "None":
            human.setdefault(system, {})[int(segment)] = float(score)
    lengths: dict[tuple[str, int], float] = {}
    with (folder / "mqm_ted_ende.tsv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            target = row["target"].replace("<v>", "").replace("</v>", "")
            lengths.setdefault((row["system"], int(row["seg_id"])), -float(len(target)))
    known = {system: {n for n in own if (system, n) in lengths} for system, own in human.items()}
    systems = [each for each, own in known.items() if len(own) >= 500 and each != "ref-A"]
    segments = sorted(set.intersection(*(known[system] for system in systems)))
    return (
        np.array([[human[system][n] for n in segments] for system in systems]),
        np.array([[lengths[system, n] for n in segments] for system in systems]),
    )


def test_ted_has_the_published_numbers(ted: tuple[Floats, Floats]) -> None:
    human, metric = ted
    assert human.shape == (13, 529)
    context = np.tile(np.arange(529), 13)
    found = accuracies(metric.ravel(), human.ravel(), context)
    assert found.acc_eq == pytest.approx(0.371285929, abs=5e-10)
    assert (found.calibrated, found.epsilon) == (pytest.approx(0.481362997, abs=5e-10), 21)
    constant = accuracies(np.zeros(metric.size), human.ravel(), context)
    assert constant.acc_eq == constant.calibrated == pytest.approx(0.480296641, abs=5e-10)
    assert soft_accuracy(human, metric) == pytest.approx(0.495525641, abs=1e-6)
    assert system_accuracy(human.mean(axis=1), metric.mean(axis=1)) == 39 / 78


def test_ted_follows_the_formula(ted: tuple[Floats, Floats]) -> None:
    human, metric = (each[:, :60].ravel() for each in ted)
    context = np.tile(np.arange(60), 13)
    found = accuracies(metric, human, context)
    for place in range(0, len(found.thresholds), 20):
        expected = acc_eq(metric, human, context, found.thresholds[place])
        assert found.accuracies[place] == pytest.approx(expected, abs=1e-9)


# Tables full of ties


@pytest.mark.parametrize("seed", range(5))
def test_accuracies_follow_the_formula(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 40
    human, context = rng.integers(0, 3, n).astype(np.float64), rng.integers(0, 8, n)
    metric = rng.integers(0, 6, n) / 2
    found = accuracies(metric, human, context)
    expected = [acc_eq(metric, human, context, epsilon) for epsilon in found.thresholds]
    assert found.accuracies == pytest.approx(expected, abs=1e-9)
    assert found.acc_eq == pytest.approx(expected[0], abs=1e-9)
    assert found.calibrated == pytest.approx(max(expected), abs=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_accuracies_of_each_context_follow_the_formula(seed: int) -> None:
    rng = np.random.default_rng(seed)
    human, metric = rng.integers(0, 3, 30).astype(np.float64), rng.integers(0, 6, 30) / 2
    context = np.repeat(np.arange(6), 5)
    found = accuracies(metric, human, context)
    for number in range(6):
        own = context == number
        for each, epsilon in ((found.acc_eq_of, 0.0), (found.calibrated_of, found.epsilon)):
            expected = acc_eq(metric[own], human[own], context[own], epsilon)
            assert each[number] == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(3))
def test_soft_accuracy_follows_the_formula(seed: int) -> None:
    rng = np.random.default_rng(seed)
    human, metric = rng.integers(0, 3, (2, 4, 20)).astype(np.float64)
    signs = np.rint(np.random.default_rng(4).random((1000, 20), dtype=np.float32)) * 2 - 1
    gaps = []
    for i, j in combinations(range(4), 2):
        p = [
            np.mean(
                [(flip * (each[i] - each[j])).sum() >= (each[i] - each[j]).sum() for flip in signs]
            )
            for each in (human, metric)
        ]
        gaps.append(abs(p[0] - p[1]))
    assert soft_accuracy(human, metric) == pytest.approx(1 - np.mean(gaps), abs=1e-9)


def test_resampled_soft_accuracies_lie_around_it() -> None:
    rng = np.random.default_rng(1)
    human = rng.normal(size=(5, 80)) + np.arange(5)[:, None] / 8
    metric = human + rng.normal(size=human.shape)
    counts = rng.multinomial(80, np.full(80, 1 / 80), size=200).astype(np.float64)
    drawn = resampled_soft_accuracy(human, metric, counts)
    low, high = np.quantile(drawn, [0.025, 0.975])
    assert low < soft_accuracy(human, metric) < high
    assert len(set(drawn)) > 100


@pytest.mark.parametrize("seed", range(5))
def test_auc_follows_the_formula(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores, good = rng.integers(0, 5, 30) / 2, rng.random(30) < 0.4
    counts = rng.integers(0, 3, 30).astype(np.float64)
    for weights in (np.ones(30), counts):
        wins = total = 0.0
        for i in np.flatnonzero(good):
            for j in np.flatnonzero(~good):
                weight = weights[i] * weights[j]
                wins += weight * ((scores[i] > scores[j]) + (scores[i] == scores[j]) / 2)
                total += weight
        assert pooled_auc(scores, good, weights[None])[0] == pytest.approx(wins / total, abs=1e-9)


def test_auc_of_one_kind_is_undefined() -> None:
    assert np.isnan(pooled_auc(np.arange(3.0), np.ones(3, dtype=np.bool_), np.ones((1, 3))))[0]


# Swaps of two metrics


def test_a_much_better_metric_has_a_small_p_and_a_much_worse_one_a_large_p() -> None:
    rng = np.random.default_rng(0)
    human = rng.normal(size=100)
    good, bad = human + rng.normal(size=100) / 4, rng.normal(size=100)

    def statistic(scores: Floats) -> float:
        return float(np.corrcoef(scores, human)[0, 1])

    each = np.arange(100)
    assert swap_p(good, bad, statistic, each, swaps=200) < 0.02
    assert swap_p(bad, good, statistic, each, swaps=200) > 0.98
    # the same, after z-normalising
    assert swap_p(good, 3 * good + 7, statistic, each, swaps=50) == 1


def test_candidates_of_one_cluster_are_swapped_together() -> None:
    # The first is better by 1 on every candidate of the first of two clusters, and equal elsewhere.
    # If candidates are swapped, all six must stay: 1 / 2^6. As a cluster, they stay every other
    # time.
    good = np.array([1.0] * 6 + [0.0] * 6)
    bad = good[::-1].copy()
    weights = np.array([1.0] * 6 + [0.0] * 6)

    def lead(scores: Floats) -> float:
        return float(scores @ weights)

    alone = swap_p(good, bad, lead, np.arange(12), swaps=4_000)
    together = swap_p(good, bad, lead, np.arange(12) // 6, swaps=4_000)
    assert alone == pytest.approx(1 / 64, abs=4 * math.sqrt(1 / 64 / 4_000))
    assert together == pytest.approx(1 / 2, abs=4 * math.sqrt(1 / 4 / 4_000))


def test_p_is_uniform_where_metrics_are_interchangeable() -> None:
    rng, p_values = np.random.default_rng(2), []
    for _ in range(60):
        human = rng.normal(size=40)
        one, other = human + rng.normal(size=(2, 40))
        p_values.append(
            swap_p(
                one,
                other,
                lambda scores, h=human: float(scores @ h),
                np.arange(40),
                swaps=100,
                seed=3,
            )
        )
    assert 0.4 <= np.mean(p_values) <= 0.6
    assert 0.05 <= np.mean(np.array(p_values) < 0.2) <= 0.35


# Speed


def test_a_million_pairs_are_swept_in_two_seconds() -> None:
    rng, n = np.random.default_rng(0), 250_000
    human, metric = rng.integers(0, 5, n).astype(np.float64), rng.normal(size=n)
    start = time.process_time()
    pairs = pair_candidates(human, np.arange(n) // 9)
    tie_accuracy(metric, pairs)
    assert len(pairs) > 990_000
    assert time.process_time() - start <= 2
