"""Effects of perturbations: children against exactly their parents."""

from typing import Any

import polars as pl
import pytest
from support.two_models import scored

from nnd.metric.data import CHILD_SCHEMA, SuiteSet
from nnd.metric.numbers import Effect, Effects, SetEffect, find_effects

TYPOS = SuiteSet("typos-0.05", "perturbation", "typos", pl.DataFrame())
NEGATION = SuiteSet("slice-negation", "slice", "negation", pl.DataFrame())


def parents_of(verdicts: str, **columns: Any) -> pl.DataFrame:
    return scored("m", verdicts, **columns).drop("model")


def children_of(of: SuiteSet, verdicts: str, parent_ids: list[str | None]) -> pl.DataFrame:
    found = scored("m", verdicts, pair_id=[f"child{n}" for n in range(len(verdicts))])
    return found.with_columns(
        set=pl.lit(of.name), parent_id=pl.Series(parent_ids, dtype=pl.String)
    ).select(*CHILD_SCHEMA)


def effect_of(verdicts: str, children: str, of: list[int] | None = None, **columns: Any) -> Effect:
    """The effect on children of the parents with these numbers, one each by default."""
    return found(verdicts, children, of, **columns).overall


def found(verdicts: str, children: str, of: list[int] | None = None, **columns: Any) -> SetEffect:
    numbers = range(len(verdicts)) if of is None else of
    rows = children_of(TYPOS, children, [f"p{n}" for n in numbers])
    (effect,) = find_effects([TYPOS], parents_of(verdicts, **columns), rows)
    return effect


def test_g06_only_parents_of_surviving_children_count() -> None:
    # Children of parents 0, 1 and 3 survive: parents pass 2 of those 3, not 3 of 5.
    effect = effect_of("++-" + "-+", "+--", of=[0, 1, 3])
    assert (effect.n, effect.parents) == (3, 3)
    assert effect.parents_pass_rate == 2 / 3
    assert effect.pass_rate == 1 / 3
    assert effect.delta == pytest.approx(-1 / 3)


def test_g07_discordant_counts_and_mcnemar() -> None:
    # Both pass 8 and fail 20; 10 only as parents, 2 only as children.
    effect = effect_of("+" * 8 + "-" * 20 + "+" * 10 + "-" * 2, "+" * 8 + "-" * 30 + "+" * 2)
    assert (effect.b, effect.c) == (10, 2)
    assert effect.p is not None
    assert round(effect.p, 4) == 0.0386  # 2 * (1 + 12 + 66) / 2^12 = 158 / 4096
    assert (effect.parents_pass_rate, effect.pass_rate, effect.delta) == (18 / 40, 10 / 40, -0.2)
    assert effect.verdict == "worse"


def test_the_headline_names_the_sets_that_lower_a_pass_rate() -> None:
    worse, alike = found("+" * 20, "-" * 20), found("+" * 20, "+" * 20)
    told = Effects({"org/a": (worse,), "org/b": (alike,)}).headline()
    assert told == "Significantly lower pass rates: a on typos-0.05."


def test_g07_the_interval_counts_human_contexts_not_tests() -> None:
    verdicts, children = "+" * 12, "-+" * 6
    alone = effect_of(verdicts, children)
    shared = effect_of(verdicts, children, cluster=[f"c{n // 2 % 3}" for n in range(12)])
    opposed = effect_of(verdicts, children, cluster=[f"c{n % 2 * 3 + n // 4}" for n in range(12)])
    assert (alone.contexts, shared.contexts, opposed.contexts) == (12, 3, 6)
    assert alone.interval is not None
    assert opposed.interval is not None
    # A context in which all children fail says less than as many contexts.
    assert opposed.interval[1] > alone.interval[1]
    assert opposed.interval[0] < alone.interval[0]


def test_g54_variants_count_by_their_mean_per_parent() -> None:
    # Parent 0: 1 of 2 variants passed; parent 1: 0 of 1; parent 2: 2 of 2.
    effect = effect_of("++-", "+--++", of=[0, 0, 1, 2, 2])
    assert (effect.n, effect.parents) == (5, 3)
    assert effect.pass_rate == 0.5  # (1/2 + 0 + 1) / 3, not 3/5
    assert effect.parents_pass_rate == 2 / 3
    assert effect.delta == pytest.approx(-1 / 6)
    assert (effect.b, effect.c, effect.p) == (None, None, None)


def test_g54_equal_thirds_in_all_contexts_are_agreement_not_certainty() -> None:
    verdicts, variants = "+" * 7, "++-" * 7
    effect = effect_of(verdicts, variants, of=[n // 3 for n in range(21)])
    assert effect.delta == pytest.approx(-1 / 3)
    assert effect.interval is not None
    assert effect.interval[1] - effect.interval[0] > 0.5  # seven contexts, each one test


def test_parents_of_the_same_candidates_are_one_test() -> None:
    twice = {"context_id": ["c0", "c0", "c1"], "high_id": "h", "low_id": "l"}
    effect = found("++-", "-+-", error_category=["A", "B", "A"], **twice)
    assert (effect.overall.n, effect.overall.parents) == (2, 2)
    assert {name: each.n for name, each in effect.by_error_category.items()} == {"A": 2, "B": 1}


def test_which_error_categories_suffer() -> None:
    categories = ["A"] * 12 + ["B"] * 12
    effect = found("+" * 24, "-" * 9 + "+" * 15, error_category=categories)
    a, b = effect.by_error_category["A"], effect.by_error_category["B"]
    assert (a.delta, b.delta) == (-0.75, 0)
    assert a.p == 2 / 2**9
    assert a.p_holm == 2 * a.p
    assert (a.verdict, b.verdict) == ("worse", "undecided")


def test_g12_a_set_without_tests_has_no_rate() -> None:
    effect = effect_of("++", "", of=[])
    assert effect == Effect(0, 0, 0, 0, None, None)
    assert effect.to_dict()["pass_rate"] is None
    assert effect.verdict == "undecided"


def test_unscored_children_are_failures_and_counted() -> None:
    effect = effect_of("++", "+?")
    assert (effect.unscored, effect.pass_rate) == (1, 0.5)


def test_a_slice_is_compared_with_the_rest_unpaired() -> None:
    parents = parents_of("+" * 56 + "-" * 14 + "+" * 48 + "-" * 32)
    members = parents.head(70).with_columns(
        set=pl.lit(NEGATION.name), parent_id=pl.lit(None, pl.String)
    )
    (effect,) = find_effects([NEGATION], parents, members.select(*CHILD_SCHEMA))
    overall = effect.overall
    assert (overall.n, overall.pass_rate, overall.rest_pass_rate) == (70, 56 / 70, 48 / 80)
    assert overall.delta == pytest.approx(0.2)
    assert overall.interval is not None
    # Newcombe's (1998) method 10 gives 0.0524 to 0.3339 for 56 of 70 against 48 of 80; there with
    # Wilson's intervals, here with those over contexts, which are near where each has one test.
    assert overall.interval == pytest.approx((0.0524, 0.3339), abs=0.01)
    assert (overall.parents, overall.parents_pass_rate, overall.b) == (None, None, None)
    assert overall.verdict == "better"
    assert effect.by_error_category == {}


def test_a_slice_of_everything_has_no_rest() -> None:
    parents = parents_of("+-")
    members = parents.with_columns(set=pl.lit(NEGATION.name), parent_id=pl.lit(None, pl.String))
    (effect,) = find_effects([NEGATION], parents, members.select(*CHILD_SCHEMA))
    assert effect.overall.pass_rate == 0.5
    assert (effect.overall.rest_pass_rate, effect.overall.delta) == (None, None)


def test_effects_do_not_depend_on_the_order_of_rows() -> None:
    parents, rows = parents_of("++--+-"), children_of(TYPOS, "+-+--+", [f"p{n}" for n in range(6)])
    straight = find_effects([TYPOS], parents, rows)
    turned = find_effects([TYPOS], parents.reverse(), rows.reverse())
    assert straight[0].to_dict() == turned[0].to_dict()
