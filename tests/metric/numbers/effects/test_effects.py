"""Effects of perturbations: children against exactly their parents."""

from typing import Any

import polars as pl
import pytest
from support.two_models import scored

from nnd.metric.data import CHILD_SCHEMA, SuiteSet
from nnd.metric.numbers import Effects, SetEffect, find_effects

TYPOS = SuiteSet("typos-0.05", "perturbation", "typos", pl.DataFrame())
NEGATION = SuiteSet("slice-negation", "slice", "negation", pl.DataFrame())


def parents_of(verdicts: str, **columns: Any) -> pl.DataFrame:
    return scored("m", verdicts, **columns).drop("model")


def children_of(of: SuiteSet, verdicts: str, parent_ids: list[str | None]) -> pl.DataFrame:
    found = scored("m", verdicts, pair_id=[f"child{n}" for n in range(len(verdicts))])
    return found.with_columns(
        set=pl.lit(of.name), parent_id=pl.Series(parent_ids, dtype=pl.String)
    ).select(*CHILD_SCHEMA)


def effect_of(
    verdicts: str, children: str, of: list[int] | None = None, **columns: Any
) -> SetEffect:
    """The effect on children of the parents with these numbers, one each by default."""
    numbers = range(len(verdicts)) if of is None else of
    rows = children_of(TYPOS, children, [f"p{n}" for n in numbers])
    return effect_of_set(TYPOS, parents_of(verdicts, **columns), rows)


def effect_of_set(of: SuiteSet, parents: pl.DataFrame, rows: pl.DataFrame) -> SetEffect:
    effects = find_effects([of], [("m", parents)], rows.with_columns(model=pl.lit("m")))
    assert effects is not None
    (effect,) = effects.by_model["m"]
    return effect


def test_g06_only_parents_of_surviving_children_count() -> None:
    # Children of parents 0, 1 and 3 survive: parents pass 2 of those 3, not 3 of 5.
    effect = effect_of("++-" + "-+", "+--", of=[0, 1, 3])
    assert (effect.n, effect.parents) == (3, 3)
    assert effect.other == 2 / 3
    assert effect.rate == 1 / 3
    assert effect.difference == pytest.approx(-1 / 3)


def test_g07_discordant_counts_and_mcnemar() -> None:
    # Both pass 8 and fail 20; 10 only as parents, 2 only as children.
    effect = effect_of("+" * 8 + "-" * 20 + "+" * 10 + "-" * 2, "+" * 8 + "-" * 30 + "+" * 2)
    assert (effect.only_second, effect.only_first) == (10, 2)
    assert effect.p is not None
    assert round(effect.p, 4) == 0.0386  # 2 * (1 + 12 + 66) / 2^12 = 158 / 4096
    assert (effect.other, effect.rate, effect.difference) == (18 / 40, 10 / 40, -0.2)
    assert effect.verdict == "second"


def test_the_headline_names_the_sets_that_lower_a_pass_rate() -> None:
    worse, alike = effect_of("+" * 20, "-" * 20), effect_of("+" * 20, "+" * 20)
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
    assert effect.rate == 0.5  # (1/2 + 0 + 1) / 3, not 3/5
    assert effect.other == 2 / 3
    assert effect.difference == pytest.approx(-1 / 6)
    assert (effect.only_first, effect.only_second) == (None, None)
    # The contexts' differences are -1/2, -1 and 1: every flip has a sum at least as far from 0.
    assert effect.p == 1


def test_several_variants_need_a_p_value_too() -> None:
    # Contexts that all say the same: the interval excludes 0 from four contexts on, 1 - 2 * 1.96^2
    # / (4 + 1.96^2), but p is 2 / 2^4; of six, 2 / 2^6.
    few = effect_of("+" * 4, "--" * 4, of=[n // 2 for n in range(8)])
    assert few.interval == pytest.approx((-1, -0.0202), abs=5e-5)
    assert (few.p, few.verdict) == (2 / 2**4, "undecided")
    more = effect_of("+" * 6, "--" * 6, of=[n // 2 for n in range(12)])
    assert (more.p, more.verdict) == (2 / 2**6, "second")


def test_holm_applies_to_categories_with_several_variants() -> None:
    twice = [n // 2 for n in range(24)]
    effect = effect_of("+" * 12, "--" * 12, of=twice, error_category=["A"] * 6 + ["B"] * 6)
    assert effect.verdict == "second"
    assert [each.p for each in effect.by_error_category.values()] == [2 / 2**6] * 2
    assert [each.p_holm for each in effect.by_error_category.values()] == [2 * 2 / 2**6] * 2
    assert {each.verdict for each in effect.by_error_category.values()} == {"undecided"}


def test_g54_equal_thirds_in_all_contexts_are_agreement_not_certainty() -> None:
    verdicts, variants = "+" * 7, "++-" * 7
    effect = effect_of(verdicts, variants, of=[n // 3 for n in range(21)])
    assert effect.difference == pytest.approx(-1 / 3)
    assert effect.interval is not None
    assert effect.interval[1] - effect.interval[0] > 0.5  # seven contexts, each one test


def test_parents_of_the_same_candidates_are_one_test() -> None:
    twice = {"context_id": ["c0", "c0", "c1"], "high_id": "h", "low_id": "l"}
    effect = effect_of("++-", "-+-", error_category=["A", "B", "A"], **twice)
    assert (effect.n, effect.parents) == (2, 2)
    assert {name: each.n for name, each in effect.by_error_category.items()} == {"A": 2, "B": 1}


def test_which_error_categories_suffer() -> None:
    categories = ["A"] * 12 + ["B"] * 12
    effect = effect_of("+" * 24, "-" * 9 + "+" * 15, error_category=categories)
    a, b = effect.by_error_category["A"], effect.by_error_category["B"]
    assert (a.difference, b.difference) == (-0.75, 0)
    assert a.p == 2 / 2**9
    assert a.p_holm == 2 * a.p
    assert (a.verdict, b.verdict) == ("second", "undecided")


def test_g12_a_set_without_tests_has_no_rate() -> None:
    effect = effect_of("++", "", of=[])
    assert (effect.n, effect.parents, effect.contexts) == (0, 0, 0)
    assert (effect.rate, effect.rate_interval, effect.interval) == (None, None, None)
    assert effect.verdict == "untested"


def test_unscored_children_are_failures_and_counted() -> None:
    effect = effect_of("++", "+?")
    assert (effect.unscored, effect.rate) == (1, 0.5)


def test_a_slice_is_compared_with_the_rest_unpaired() -> None:
    parents = parents_of("+" * 56 + "-" * 14 + "+" * 48 + "-" * 32)
    members = parents.head(70).with_columns(
        set=pl.lit(NEGATION.name), parent_id=pl.lit(None, pl.String)
    )
    effect = effect_of_set(NEGATION, parents, members.select(*CHILD_SCHEMA))
    assert (effect.n, effect.rate, effect.other) == (70, 56 / 70, 48 / 80)
    assert effect.difference == pytest.approx(0.2)
    # Newcombe's (1998) method 10 gives 0.0524 to 0.3339 for 56 of 70 against 48 of 80; there with
    # Wilson's intervals, here with those over contexts, which are near where each has one test.
    assert effect.interval == pytest.approx((0.0524, 0.3339), abs=0.01)
    assert (effect.parents, effect.only_first, effect.only_second) == (None, None, None)
    assert effect.verdict == "first"
    assert effect.by_error_category == {}


def test_a_slice_of_everything_has_no_rest() -> None:
    parents = parents_of("+-")
    members = parents.with_columns(set=pl.lit(NEGATION.name), parent_id=pl.lit(None, pl.String))
    effect = effect_of_set(NEGATION, parents, members.select(*CHILD_SCHEMA))
    assert effect.rate == 0.5
    assert (effect.other, effect.difference, effect.verdict) == (None, None, "untested")


def test_effects_do_not_depend_on_the_order_of_rows() -> None:
    parents, rows = parents_of("++--+-"), children_of(TYPOS, "+-+--+", [f"p{n}" for n in range(6)])
    straight = effect_of_set(TYPOS, parents, rows)
    turned = effect_of_set(TYPOS, parents.reverse(), rows.reverse())
    assert straight == turned
