"""Statistics over pairs in a table of metrics: what is computed of which rows, and how shown."""

from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
import pytest
from support.refusals import refusal

from nnd.metric.numbers import choose_statistics
from nnd.metric.other_metrics.metric_differences import find_accuracy_differences
from nnd.metric.other_metrics.metric_table import COLUMNS, MAIN
from nnd.metric.other_metrics.pair_statistics import PAIR_STATISTICS, PairStatistics, measure_pairs


def candidates(score: Any, human: Any, *, systems: int = 4) -> pl.DataFrame:
    """A candidate of each system in each context, [contexts, systems]."""
    scores, people = np.asarray(score, dtype=np.float64), np.asarray(human, dtype=np.float64)
    n = scores.size // systems
    return pl.DataFrame(
        {
            "split": "test",
            "context_id": [f"c{number:03}" for number in range(n) for _ in range(systems)],
            "candidate_id": [f"c{number:03}-{s}" for number in range(n) for s in range(systems)],
            "system": [f"s{s}" for _ in range(n) for s in range(systems)],
            "score": scores.ravel(),
            "human": people.ravel(),
        }
    )


def drawn(seed: int, contexts: int = 30) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    human = rng.integers(0, 3, (contexts, 4))
    return candidates(human + rng.normal(size=human.shape).round(1), human)


def measure(table: pl.DataFrame, *names: str) -> PairStatistics:
    return measure_pairs(table, names or PAIR_STATISTICS)


def test_accuracies_by_hand() -> None:
    # Context 1: people 1 1 2 3, metric 1 2 3 3: of 6 pairs 4 are right; (1, 1) and (2, 3) are not.
    # Context 2: people tie all, and so does the metric: 6 of 6. From 1 on, a difference ties:
    # then (1, 1) is right, but (1, 2) of the second and third is not.
    found = measure(candidates([[1, 2, 3, 3], [5, 5, 5, 5]], [[1, 1, 2, 3], [4, 4, 4, 4]]))
    assert found.values["acc_eq"] == pytest.approx((4 / 6 + 1) / 2)
    assert found.values["acc_eq_star"] == pytest.approx((4 / 6 + 1) / 2)
    assert (found.epsilon, found.pairs, found.n, found.complete_contexts) == (0, 12, 8, 2)


def test_systems_are_ordered_by_their_means() -> None:
    # Means of people 1 2 3 4, of the metric 1 3 2 4: 5 of 6 pairs.
    found = measure(candidates([[1, 3, 2, 4]] * 3, [[1, 2, 3, 4]] * 3))
    assert found.values["system_accuracy"] == pytest.approx(5 / 6)
    # Three equal contexts do not show what others would say.
    assert found.intervals["system_accuracy"] is None
    assert found.interval_reasons["system_accuracy"] == "all contexts agree"
    noise = np.random.default_rng(0).normal(size=(60, 4)) / 4
    found = measure(candidates(np.add(noise, [1, 3, 2, 4]), np.add(noise[::-1], [1, 2, 3, 4])))
    assert found.intervals["system_accuracy"] == (pytest.approx(5 / 6), pytest.approx(5 / 6))


def test_a_constant_reaches_what_people_tie() -> None:
    table = drawn(0).with_columns(score=0.0)
    tied = [
        a == b
        for _, rows in table.group_by("context_id")
        for a, b in combinations(rows["human"], 2)
    ]
    found = measure(table)
    assert found.values["acc_eq"] == found.values["acc_eq_star"] == pytest.approx(np.mean(tied))


def test_every_value_is_in_its_interval() -> None:
    # The systems are alike, except by chance: how often they are in one order is unknown.
    found = measure(drawn(1, 60).with_columns(human=(pl.col("human") > 0).cast(pl.Float64)))
    reason = "the systems differ too little for so few contexts"
    assert found.interval_reasons == {"system_accuracy": reason}
    for name in {*PAIR_STATISTICS} - {"system_accuracy"}:
        value, bounds = found.values[name], found.intervals[name]
        assert value is not None
        assert bounds is not None
        assert bounds[0] < value < bounds[1]


def test_auc_needs_two_human_values_and_is_the_share_of_ordered_pairs() -> None:
    assert measure(drawn(2)).values["auc"] is None
    # Good 3, 1 and bad 2, 1 in context 1: of 4 pairs 2 are right, and one ties. Context 2: 1 of 1.
    table = candidates([[3, 1, 2, 1], [9, 8, 0, 0]], [[1, 1, 0, 0], [1, 0, 0, 0]])
    found = measure(table.filter(pl.col("score") != 0))
    assert found.values["auc_within"] == pytest.approx((2 + 1 / 2 + 1) / 5)
    # Pooled: good 3, 1, 9 against bad 2, 1, 8: 2 + 1/2 + 3 of 9.
    assert found.values["auc"] == pytest.approx(5.5 / 9)


def test_spa_is_over_contexts_that_all_systems_have() -> None:
    table = drawn(3)
    lacking = table.with_columns(
        human=pl.when(pl.col("candidate_id") == "c000-2").then(None).otherwise("human")
    )
    whole = table.filter(pl.col("context_id") != "c000")
    assert measure(lacking).complete_contexts == 29
    assert measure(lacking).values["spa"] == measure(whole).values["spa"]
    alone = table.with_columns(system=pl.lit(None, pl.String))
    assert measure(alone).values["spa"] is None


def test_the_pooled_auc_of_twins_is_in_its_interval() -> None:
    # As in BUMP: each context has a good candidate that scores hardly higher than its bad one. In
    # resamples, which have contexts twice, this counts twice: percentiles lay above the value.
    rng = np.random.default_rng(0)
    bad = rng.normal(size=(300, 1))
    twins = np.hstack([bad + 0.01 + 0.01 * rng.random((300, 1)), bad])
    found = measure(candidates(twins, np.tile([1.0, 0.0], (300, 1)), systems=2), "auc")
    value, (low, high) = found.values["auc"], found.intervals["auc"] or (1, 0)
    assert value is not None
    assert low < value < high
    assert low < 0.5053 < high  # between contexts: Phi(0.015 / sqrt(2 + 0.003^2)) = 0.5042


def test_only_what_was_asked_is_computed() -> None:
    found = measure(drawn(4), "acc_eq", "spa")
    known = [name for name, value in found.values.items() if value is not None]
    assert (known, found.epsilon) == (["acc_eq", "spa"], None)


def test_the_order_of_rows_does_not_matter() -> None:
    table = drawn(5)
    assert measure(table) == measure(table.sample(fraction=1, shuffle=True, seed=1))


def test_without_candidates_nothing_is_defined() -> None:
    found = measure(drawn(6).clear())
    assert set(found.values.values()) == {None}
    assert (found.n, found.pairs, found.systems) == (0, 0, 0)


def test_names_of_columns() -> None:
    known = (*MAIN, *PAIR_STATISTICS)
    assert choose_statistics("nnd", COLUMNS, known) == MAIN
    assert choose_statistics("acc_eq, wmt", COLUMNS, known)[:2] == ("acc_eq", "pass_rate")
    with refusal("option.unknown-value"):
        choose_statistics("acc_eqq", COLUMNS, known)


def test_the_best_is_compared_with_each_other_one() -> None:
    good = drawn(7, 60)
    bad = good.with_columns(score=pl.Series(np.random.default_rng(8).normal(size=good.height)))
    (found,) = find_accuracy_differences("quality", {"bad": bad, "good": good})
    assert (found.metric, found.other_metric, found.n) == ("good", "bad", 240)
    both = [measure(table, "acc_eq_star").values["acc_eq_star"] or 0 for table in (good, bad)]
    assert found.difference == pytest.approx(both[0] - both[1])
    assert found.p < 0.01
