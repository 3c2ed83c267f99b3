"""Agreement of tables of rates with people: who is compared with whom, and every number of it."""

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl
import pytest
from support.refusals import refusal
from support.two_models import agreement, people

from nnd.metric.data.matched_systems import (
    HumanNumber,
    human_numbers_for,
    human_scores_for,
    match_systems,
)
from nnd.metric.numbers import try_agreement
from nnd.metric.numbers.statistics.correlation_estimates import Permutations
from nnd.metric.numbers.statistics.correlations import STATISTICS
from nnd.metric.show.tables.agreement import agreement_notes

PASS_RATES = {"model": pl.String, "category": pl.String, "pass_rate": pl.Float64, "n": pl.Int64}


def rates(rows: Mapping[str, Mapping[str, float | None]]) -> pl.DataFrame:
    """Pass rates from {category: {model: pass rate}}."""
    return pl.DataFrame(
        [(m, category, rate, 100) for category, of in rows.items() for m, rate in of.items()],
        schema=PASS_RATES,
        orient="row",
    )


def overall(scores: dict[str, float]) -> pl.DataFrame:
    return people({"quality": scores})


NAMED = people({"quality": {"A": 0.1, "B": 0.2, "C": 0.3}}, A="org/a", B="org/b")


# Which system a model stands for


@pytest.mark.parametrize(
    ("models", "systems", "expected"),
    [
        (["C", "org/a", "org/x"], None, {"C": "C", "org/a": "A"}),
        (["org/a", "./mine"], {"org/a": "C", "./mine": "A"}, {"org/a": "C", "./mine": "A"}),
        (["org/a", "./mine"], {"./mine": "A"}, {"./mine": "A"}),
    ],
    ids=["by hub id, else by name", "an explicit choice first", "a chosen system only once"],
)
def test_a_model_stands_for_a_system(
    models: list[str], systems: dict[str, str] | None, expected: dict[str, str]
) -> None:
    assert match_systems(models, NAMED, systems) == expected


def test_a_hub_id_of_two_systems_decides_nothing() -> None:
    shared = people({"quality": {"greedy": 0.1, "beam": 0.2}}, greedy="org/a", beam="org/a")
    assert match_systems(["org/a", "beam"], shared) == {"beam": "beam"}


@pytest.mark.parametrize(
    ("models", "systems", "code"),
    [
        (["org/a"], {"org/a": "D"}, "name.unknown"),
        (["org/a", "org/b"], {"org/q": "A"}, "name.unknown"),
        (["x", "y"], {"x": "A", "y": "A"}, "name.twice"),
        (["org/a", "A"], None, "name.twice"),  # by hub id and by name
    ],
)
def test_models_stand_for_known_systems_each_for_its_own(
    models: list[str], systems: dict[str, str] | None, code: str
) -> None:
    with refusal(code):
        match_systems(models, NAMED, systems)


# Which human score stands against a category


def test_a_category_has_its_own_human_scores_before_those_of_the_aspect() -> None:
    scores = people({"quality": {"A": 0.9}, "quality Entity": {"A": 0.4}, "Entity": {"A": 0.7}})
    assert human_scores_for(scores, "Entity") == {"A": 0.4}


def test_a_category_named_like_an_aspect_has_its_overall_scores() -> None:
    scores = {"fluency": {"A": 4.5}, "relevance": {"A": 3.5}, "relevance sports": {"A": 1.0}}
    assert human_scores_for(people(scores), "relevance") == {"A": 3.5}


def test_several_aspects_are_averaged() -> None:
    scores = people({"fluency": {"A": 4.0, "B": 2.0}, "relevance": {"A": 3.0, "B": None}})
    assert human_scores_for(scores, "overall") == {"A": 3.5, "B": 2.0}


def test_human_scores_are_named() -> None:
    scores = people(
        {
            "fluency": {"A": 4.0, "B": 2.0},
            "relevance": {"A": 3.0},
            "relevance sports": {"A": 1.0},
            "style": {"B": None},
        }
    )
    assert human_numbers_for(scores, "overall") == [
        HumanNumber("fluency", "overall", "mean"),
        HumanNumber("relevance", "overall", "mean"),
    ]
    assert human_numbers_for(scores, "sports") == [HumanNumber("relevance", "sports", "mean")]
    # A category named like an aspect stands against the aspect's scores.
    assert human_numbers_for(scores, "fluency") == [HumanNumber("fluency", "overall", "mean")]
    assert human_numbers_for(scores, "unknown") == []
    assert human_numbers_for(scores.drop("definition"), "sports") == [
        HumanNumber("relevance", "sports", None)
    ]


def test_an_aspect_can_be_asked_for_and_is_told() -> None:
    scores = people({"fluency": {"A": 1.0, "B": 2.0}, "relevance": {"A": 9.0, "B": 0.0}})
    ours = rates({"overall": {"A": 0.5, "B": 0.6}})
    found = {
        aspect: agreement(ours, scores, aspect=aspect).to_dict()
        for aspect in (None, "fluency", "relevance")
    }
    tau = {aspect: each["by_category"]["overall"]["tau_b"] for aspect, each in found.items()}
    # Means 5 and 1 put A first, as relevance does; fluency puts B first, as the pass rates do.
    assert tau == {None: -1, "fluency": 1, "relevance": -1}
    assert found[None]["by_category"]["overall"]["human_numbers"] == [
        {"aspect": "fluency", "category": "overall", "definition": "mean"},
        {"aspect": "relevance", "category": "overall", "definition": "mean"},
    ]
    said = "overall, human score: mean (mean over aspects fluency, relevance)"
    assert said in agreement_notes(found[None])
    assert "overall, human score: mean (aspect fluency)" in agreement_notes(found["fluency"])


# The agreement


def test_dropped_and_unmatched_models_are_counted() -> None:
    ours = rates({"overall": {"A": 0.1, "B": None, "C": 0.3, "D": 0.4, "new": 0.5}})
    found = agreement(ours, overall({"A": 1, "B": 2, "C": 3, "D": 4})).to_dict()
    assert found["unmatched"] == ["new"]
    assert found["systems"] == {"A": "A", "B": "B", "C": "C", "D": "D"}
    compared = found["by_category"]["overall"]
    assert (compared["n"], compared["dropped"]) == (3, 1)


def test_a_system_without_a_human_score_is_dropped() -> None:
    scores = people({"quality": {"A": 1.0, "B": None, "C": 3.0}})
    found = agreement(rates({"overall": {"A": 0.1, "B": 0.2, "C": 0.3}}), scores)
    assert (found.by_category["overall"].n, found.by_category["overall"].dropped) == (2, 1)


def test_a_category_without_human_scores_has_no_agreement() -> None:
    ours = rates({"overall": {"A": 0.1, "B": 0.2}, "Entity": {"A": 0.1, "B": 0.2}})
    found = agreement(ours, overall({"A": 1, "B": 2})).by_category["Entity"]
    assert found.statistics == dict.fromkeys(STATISTICS)
    assert (found.n, found.dropped) == (0, 2)


def test_the_mean_is_over_categories_that_define_the_statistic() -> None:
    # Taus of the categories: 1 (same order), -1/3 (two of three pairs turned round), none (all
    # pass rates equal). Their mean is (1 - 1/3) / 2 = 1/3; "overall", -1, is no part of it.
    ours = rates(
        {
            "overall": {"A": 0.3, "B": 0.2, "C": 0.1},
            "x": {"A": 0.1, "B": 0.2, "C": 0.3},
            "y": {"A": 0.3, "B": 0.1, "C": 0.2},
            "z": {"A": 0.5, "B": 0.5, "C": 0.5},
        }
    )
    same = {"A": 1.0, "B": 2.0, "C": 3.0}
    scores = people({f"quality {category}": same for category in ("overall", "x", "y", "z")})
    found = agreement(ours, scores).to_dict()
    assert found["by_category"]["overall"]["tau_a"] == -1
    assert found["mean"]["tau_a"] == pytest.approx(1 / 3)
    assert found["mean_categories"]["tau_a"] == 2


def test_without_categories_there_is_no_mean_and_without_samples_no_interval() -> None:
    found = agreement(rates({"overall": {"A": 0.1, "B": 0.2}}), overall({"A": 1, "B": 2}))
    assert found.by_category["overall"].statistics["tau_b"] == 1
    assert found.mean.statistics == dict.fromkeys(STATISTICS)
    assert found.mean.categories == dict.fromkeys(STATISTICS, 0)
    assert found.by_category["overall"].intervals == dict.fromkeys(STATISTICS)
    assert found.mean.intervals == dict.fromkeys(STATISTICS)
    assert found.mean.permutations is None


def test_the_order_of_models_is_that_of_the_pass_rates_unless_one_of_systems_is_given() -> None:
    # The worked case of test_correlations: in the order A, B, C it is -1 / sqrt(28/3). As B, A, C
    # the gaps are 1 -2 -3 and 2 1 -1, deviations (7 -2 -5) / 3 and (4 1 -5) / 3: products
    # (28 - 2 + 25) / 9, squares 78 / 9 and 42 / 9, so 51 / sqrt(78 * 42).
    humans = overall({"C": 1, "B": 2, "A": 0})
    ours = rates({"overall": {"A": 0, "B": 0.1, "C": 0.3}})
    other = agreement(rates({"overall": {"B": 0.1, "A": 0, "C": 0.3}}), humans)
    explicit = agreement(ours, humans, order=["B", "A"])
    r, other_r, explicit_r = (
        found.by_category["overall"].statistics["gap_r_laban2022"]
        for found in (agreement(ours, humans), other, explicit)
    )
    assert r == pytest.approx(-1 / math.sqrt(28 / 3))
    assert other_r == pytest.approx(51 / math.sqrt(78 * 42))
    assert explicit_r == pytest.approx(51 / math.sqrt(78 * 42))
    assert list(explicit.systems) == ["B", "A", "C"]


def test_an_order_may_name_systems_without_a_model() -> None:
    found = agreement(rates({"overall": {"A": 0.1, "C": 0.2}}), NAMED, order=["C", "B", "A"])
    assert found.systems == {"C": "C", "A": "A"}
    assert list(found.systems) == ["C", "A"]


def test_the_dictionary_is_plain_json() -> None:
    ours = rates({"overall": {"A": 0.1, "B": 0.2}, "quality": {"A": 0.1, "B": 0.2}})
    samples = np.random.default_rng(0).random((50, 2, 2))
    found = agreement(ours, overall({"A": 1, "B": 2}), samples=samples).to_dict()
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    beside = ["intervals", "intervals_over_systems", "p_values", "permutations"]
    beside += ["interval_reasons", "interval_reasons_over_systems"]
    expected = [*STATISTICS, *beside, "n", "human_numbers", "dropped", "extrapolation"]
    expected += ["system_accuracy", "system_accuracy_interval"]
    expected += ["system_accuracy_interval_reason"]
    assert list(found["by_category"]["quality"]) == expected
    assert list(found["mean"]) == list(STATISTICS)
    assert found["mean_permutations"] == {"method": "exact", "m": 2}


# p-values, and intervals over systems


def test_a_category_and_the_mean_have_p_values() -> None:
    # Of 24 orders the right one and its reverse reach |tau| = 1; one pair turned round, tau = 4/6,
    # is reached by these two and the three orders next to each: 8. Dealt to both categories at
    # once, the observed order gives a mean of (1 + 4/6) / 2, turning that same pair round gives
    # (4/6 + 1) / 2, and so do the reverses of both: 4. All others give less.
    humans = {"quality x": (1.0, 2.0, 3.0, 4.0), "quality y": (2.0, 1.0, 3.0, 4.0)}
    scores = people({key: dict(zip("ABCD", of, strict=True)) for key, of in humans.items()})
    ours = dict(zip("ABCD", (0.1, 0.2, 0.3, 0.4), strict=True))
    found = agreement(rates({"x": ours, "y": ours}), scores)
    p = {category: each.p_values["tau_a"] for category, each in found.by_category.items()}
    assert p == pytest.approx({"x": 2 / 24, "y": 8 / 24})
    assert found.by_category["y"].statistics["tau_a"] == pytest.approx(4 / 6)
    assert found.mean.statistics["tau_a"] == pytest.approx(5 / 6)
    assert found.mean.categories == dict.fromkeys(STATISTICS, 2)
    assert found.mean.p_values["tau_a"] == pytest.approx(4 / 24)
    assert found.by_category["x"].permutations == Permutations("exact", 24)
    assert found.mean.permutations == Permutations("exact", 24)
    # All four agree: as far as 2 * 1.96^2 / (4 + 1.96^2) from 1.
    assert found.by_category["x"].intervals_over_systems["tau_a"] == pytest.approx(
        (1 - 2 * 3.8415 / 7.8415, 1), abs=1e-4
    )
    assert found.mean.intervals_over_systems["tau_a"] is not None


def test_three_systems_have_a_p_value_but_no_interval_over_systems_and_no_line() -> None:
    ours = rates({"overall": {"A": 0.1, "B": 0.2, "C": 0.3, "new": 0.4}})
    found = agreement(ours, overall({"A": 1, "B": 2, "C": 3})).by_category["overall"]
    assert found.p_values["tau_b"] == pytest.approx(2 / 6)
    assert found.intervals_over_systems == dict.fromkeys(STATISTICS)
    line = found.extrapolation
    assert (line.n, line.line, line.predictions) == (3, None, ())
    assert line.reason == "a line needs at least 4 judged models, not 3"


# What people would say of models they have not judged


def test_models_without_a_human_score_are_predicted_one() -> None:
    # On the line score = 10 * rate; D was judged in the other category only.
    ours = {"A": 0.1, "B": 0.2, "C": 0.3, "D": 0.4, "E": 0.5, "new": 0.6, "none": None}
    judged = {"quality x": "ABCE", "quality y": "ABCDE"}
    scores = people({key: {s: 10 * (ours[s] or 0) for s in of} for key, of in judged.items()})
    found = agreement(rates({"x": ours, "y": ours}), scores)
    predictions = {
        category: {
            each.model: each.score for each in found.by_category[category].extrapolation.predictions
        }
        for category in "xy"
    }
    assert predictions["x"] == pytest.approx({"D": 4, "new": 6})
    assert predictions["y"] == pytest.approx({"new": 6})
    assert found.by_category["x"].dropped == 1
    # x compares other systems than y: the mean has neither p-values nor an interval over systems.
    assert found.mean.permutations is None
    assert found.mean.p_values == found.mean.intervals_over_systems == dict.fromkeys(STATISTICS)


def test_rows_of_human_scores_without_a_score_are_counted() -> None:
    scores = people({"quality": {"A": 1, "B": 2}, "style": {"B": None}})
    ours = rates({"overall": {"A": 0.1, "B": 0.2}})
    assert agreement(ours, scores).scores_missing == 1
    assert agreement(ours, scores, aspect="quality").scores_missing == 0


# Where there can be none


@pytest.mark.parametrize(
    ("models", "matched"), [(["new"], "none is"), (["new", "org/b"], "only org/b is")]
)
def test_fewer_than_two_systems_are_a_reason(models: list[str], matched: str) -> None:
    ours = rates({"overall": dict.fromkeys(models, 0.5)})
    found, reason = try_agreement(ours, NAMED)
    assert found is None
    assert reason == (
        f"agreement needs two models matched to judged systems, but {matched}; match models with "
        "systems (--system MODEL=SYSTEM); the systems are A, B, C"
    )


def test_without_judged_systems_agreement_is_undefined() -> None:
    found, reason = try_agreement(rates({"overall": {"A": 0.5}}), NAMED.clear())
    assert found is None
    assert reason == (
        "agreement with human scores is undefined, because no system's own output was judged"
    )


OURS = rates({"overall": {"A": 0.1, "B": 0.2}})


@pytest.mark.parametrize(
    ("ours", "people", "options", "code"),
    [
        (OURS, NAMED, {"aspect": "style"}, "name.unknown"),
        (OURS, NAMED, {"order": ["A", "D"]}, "name.unknown"),
        (OURS, NAMED, {"order": ["A", "B", "A"]}, "name.twice"),
        (OURS, overall({"A": 1, "B": math.nan}), {}, "scorer.values"),
        (OURS, overall({"A": 1, "B": math.inf}), {}, "scorer.values"),
        (pl.concat([OURS, OURS]), NAMED, {}, "name.twice"),
    ],
    ids=["aspect", "order", "order twice", "nan", "inf", "two rates"],
)
def test_what_cannot_be_compared_is_refused(
    ours: pl.DataFrame, people: pl.DataFrame, options: dict[str, Any], code: str
) -> None:
    with refusal(code):
        agreement(ours, people, **options)


# Intervals


def test_intervals_come_from_the_resamples_of_the_matched_models() -> None:
    # Pass rates of A, an unmatched model, B and C. Of 100 resamples 10 turn A and B round, tau-a
    # 1/3 instead of 1; so the 2.5th percentile is 1/3 and the 97.5th is 1.
    straight, turned = [0.1, 0.9, 0.2, 0.3], [0.2, 0.9, 0.1, 0.3]
    samples = np.array([straight] * 90 + [turned] * 10)[:, :, None]
    ours = rates({"overall": {"A": 0.1, "new": 0.9, "B": 0.2, "C": 0.3}})
    found = agreement(ours, overall({"C": 3, "B": 2, "A": 1}), samples=samples).to_dict()
    assert found["by_category"]["overall"]["intervals"]["tau_a"] == pytest.approx([1 / 3, 1])


def test_an_undefined_statistic_has_no_interval() -> None:
    # Equal pass rates, though the resamples tell the models apart.
    samples = np.array([[[0.1], [0.2]]] * 20)
    ours = rates({"overall": {"A": 0.5, "B": 0.5}})
    found = agreement(ours, overall({"A": 1, "B": 2}), samples=samples).by_category["overall"]
    assert found.statistics["tau_b"] is None
    assert found.intervals["tau_b"] is None


def test_the_mean_is_resampled_with_all_its_categories_together() -> None:
    # Whenever one category turns round, the other turns back: each tau is 1 or -1, the mean 0.
    turned = [[[0.2, 0.1], [0.1, 0.2]]]  # too rarely for the systems to be alike
    samples = np.array([[[0.1, 0.2], [0.2, 0.1]]] * 96 + turned * 4)
    ours = rates({"x": {"A": 0.1, "B": 0.2}, "y": {"A": 0.2, "B": 0.1}})
    same = {"A": 0.0, "B": 1.0}
    scores = people({"quality x": same, "quality y": same})
    found = agreement(ours, scores, samples=samples).to_dict()
    assert found["by_category"]["x"]["intervals"]["tau_b"] == [-1, 1]
    assert found["mean_intervals"]["tau_b"] == [0, 0]


def test_pairs_of_systems_in_one_order_are_counted() -> None:
    # Of 6 pairs of systems 5 are in the same order: B and C are turned round.
    ours = rates({"overall": {"A": 0.1, "B": 0.3, "C": 0.2, "D": 0.4}})
    samples = np.tile([[[0.1], [0.3], [0.2], [0.4]]], (50, 1, 1))
    samples[:3] = [[0.1], [0.2], [0.3], [0.4]]  # in some of the resamples all are
    found = agreement(ours, overall({"A": 1, "B": 2, "C": 3, "D": 4}), samples=samples)
    each = found.by_category["overall"]
    assert each.system_accuracy == pytest.approx(5 / 6)
    assert each.system_accuracy_interval == (pytest.approx(4 / 6), 1)  # 2 * 5/6 - 1 reflected
    assert agreement(ours, overall({"A": 1, "B": 2})).by_category["overall"].system_accuracy == 1


def test_intervals_of_few_contexts_are_stretched() -> None:
    # A dozen resamples of 100 swap B and C, where tau-a is 2/3: the percentiles reach from 2/3 to
    # 1, a stretch of 1.5 from 1 - 1.5/3 on. The accuracy moves half as far.
    ours = rates({"overall": {"A": 0.1, "B": 0.2, "C": 0.3, "D": 0.4}})
    samples = np.tile([[[0.1], [0.2], [0.3], [0.4]]], (100, 1, 1))
    samples[:12] = [[0.1], [0.3], [0.2], [0.4]]
    stretch = np.array([[1.0], [1.5], [1.2], [1.0]])
    scores = overall({"A": 1, "B": 2, "C": 3, "D": 4})
    found = agreement(ours, scores, samples=samples, stretch=stretch).by_category["overall"]
    assert found.intervals["tau_a"] == (pytest.approx(0.5), 1)
    assert found.system_accuracy_interval == (pytest.approx(0.75), 1)
