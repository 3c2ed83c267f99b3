"""The effects of the sets of a suite on the pass rate of a model.

Perturbed pairs, the children, are compared with their own parents, the human pairs they were
derived from: a parent whose child was dropped does not count. A parent counts by the share of its
children that are passed, so that rates are means over parents, however many variants there are. As
in the overall pass rate, parents that are pairs of the same candidates are one test. p is that of
sign flips over human contexts, or over clusters of these if the data declares what they share; the
p-values of error categories are adjusted by Holm's method.

A slice or a sample of the human pairs has no parents: it is compared with the rest of the tests,
unpaired (`unpaired_differences`). Negatives are compared with all human tests in the same way.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import polars as pl

from nnd.metric.data import SetKind, SuiteSet
from nnd.metric.numbers.display_names import short_names
from nnd.metric.numbers.rates.context_sums import (
    CLUSTER,
    NUMBERED,
    distinct_tests,
    each_once,
    number_tests,
    slices_by,
)
from nnd.metric.numbers.rates.rate_differences import compare_scorings, compare_sets, mean_interval
from nnd.metric.numbers.shown_result import Result
from nnd.metric.numbers.statistics.difference import Difference, adjust
from nnd.schemas import CONTEXT, DISTINCT, Count, FlatKeys, Name, Share, record_frame

UNPAIRED = ("slice", "shift", "negatives")
"""Kinds of sets that are compared with the human pairs outside them."""

PARENTS = ("pair_id", "cluster", *DISTINCT, "error_category", "passed")
"""The columns of human pairs that effects are made of."""

_PARENT = "parent_passed"
_COLUMNS = (
    *("model", "set", "kind", "op", "error_category", "n", "parents", "rate", "other"),
    *("difference", "low", "high", "only_first", "only_second", "p", "p_holm", "verdict"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect(Difference):
    """The effect of a set, or of an error category in it.

    The first side are its tests; the other are exactly their parents, or all human tests that are
    not in the slice, sample or negatives.

    Attributes:
        n: Tests of the set; with several variants, each counts.
        unscored: Tests failed because a likelihood is missing.
        parents: Their parents, or None where they are not compared with these.
        contexts: Human contexts with tests.
        rate_interval: 95 % interval of the first rate over contexts, or None with fewer than two.
    """

    unscored: Count
    parents: Count | None
    contexts: Count
    rate_interval: tuple[Share, Share] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SetEffect(Effect):
    """The effect of one set over all its tests, and by error category.

    Attributes:
        set: Name of the set.
        kind: Its kind.
        op: The operation that made it.
        by_error_category: Error category of the parents → effect on its pairs; empty where there
            are no parents.
    """

    set: Name
    kind: SetKind
    op: Name
    by_error_category: Mapping[str, Effect]


@dataclass(frozen=True, slots=True, repr=False)
class Effects(Result):
    """The effects of the sets of a suite on the pass rates of models.

    Attributes:
        by_model: Model → effect of each set, in the order of the suite.
    """

    by_model: Annotated[Mapping[str, tuple[SetEffect, ...]], FlatKeys()]

    def headline(self) -> str:
        """Return the sets that significantly lower the pass rate of each model."""
        names = short_names([*self.by_model])
        lowered = [
            f"{name} on {', '.join(worse)}"
            for name, effects in zip(names, self.by_model.values(), strict=True)
            if (worse := [each.set for each in effects if each.verdict == "second"])
        ]
        if not lowered:
            return "No set of the suite lowers a pass rate significantly."
        return f"Significantly lower pass rates: {'; '.join(lowered)}."

    def remarks(self) -> list[str]:
        """Return the sets without tests, and the error categories with lower pass rates."""
        names = short_names([*self.by_model])
        first = next(iter(self.by_model.values()), ())
        empty = [each.set for each in first if not each.n]
        return [
            *(
                [f"No tests of {' and '.join(empty)} are in this part of the data."]
                if empty
                else ()
            ),
            *(
                f"{name}, {each.set}: lower on {', '.join(lower)}."
                for name, effects in zip(names, self.by_model.values(), strict=True)
                for each in effects
                if (lower := _lower_on(each.by_error_category))
            ),
        ]

    def to_frame(self) -> pl.DataFrame:
        """Return a row for each model, set and error category; null stands for all of them."""
        rows = [
            ({"model": model, "set": each.set, "kind": each.kind, "op": each.op} | category, effect)
            for model, effects in self.by_model.items()
            for each in effects
            for category, effect in (
                ({}, each),
                *(({"error_category": value}, e) for value, e in each.by_error_category.items()),
            )
        ]
        return record_frame(_COLUMNS, rows, Effect)


def find_effects(
    sets: Sequence[SuiteSet],
    parents: Iterable[tuple[str, pl.DataFrame]],
    children: pl.DataFrame,
) -> Effects | None:
    """Return the effects of the sets of a suite on each model; None without sets.

    `parents` gives each model with the human pairs as it scored them (columns of PARENTS);
    `children` are the pairs of the sets as all models scored them (columns of `STORED_SETS`).
    """
    if not sets:
        return None
    marked = children.with_columns(
        unscored=pl.col("ll_high").is_null() | pl.col("ll_low").is_null()
    )
    return Effects(
        {
            model: tuple(
                _set_effect(each, rows, marked.filter(model=model, set=each.name)) for each in sets
            )
            for model, rows in parents
        }
    )


def _set_effect(of: SuiteSet, parents: pl.DataFrame, children: pl.DataFrame) -> SetEffect:
    by: dict[str, Effect] = {}
    if of.kind in UNPAIRED:
        overall = _beside_rest(parents, children)
    else:
        overall, by = _beside_parents(parents, children)
    named = {"set": of.name, "kind": of.kind, "op": of.operation}
    return SetEffect.extend(overall, **named, by_error_category=by)


def _beside_parents(
    parents: pl.DataFrame, children: pl.DataFrame
) -> tuple[Effect, dict[str, Effect]]:
    of_parents = children.group_by("parent_id").agg(
        pl.len().alias("children"), pl.col("passed").mean(), pl.col("unscored").sum()
    )
    keys = parents.select(
        *DISTINCT,
        CLUSTER[1],
        "error_category",
        pl.col("pair_id").alias("parent_id"),
        pl.col("passed").cast(pl.Int64).alias(_PARENT),
    )
    matched = keys.join(of_parents, on="parent_id", maintain_order="left")
    matched = matched.hstack(number_tests(matched))
    variants = bool((matched["children"] > 1).any())

    def effect(tests: pl.DataFrame) -> Effect:
        difference, interval = compare_scorings(
            tests, "passed", _PARENT, key=NUMBERED, variants=variants
        )
        return Effect.extend(
            difference,
            n=int(tests["children"].sum()),
            unscored=int(tests["unscored"].sum()),
            parents=tests.height,
            contexts=interval.contexts,
            rate_interval=mean_interval(tests, pl.col("passed"), key=NUMBERED).bounds,
        )

    slices = slices_by(matched, "error_category")
    family = adjust([effect(tests) for tests in slices.values()])
    return effect(each_once(matched)), dict(zip(slices, family, strict=True))


def _beside_rest(everything: pl.DataFrame, members: pl.DataFrame) -> Effect:
    """Return the effect of some tests, human or made, compared with all other human ones."""
    inside, tests = distinct_tests(members), distinct_tests(everything)
    rest = tests.join(inside, on=DISTINCT, how="anti", nulls_equal=True)
    contexts = pl.concat([rows.select(*CONTEXT, "cluster") for rows in (everything, inside)])
    interval = mean_interval(inside, pl.col("passed"))
    return Effect.extend(
        compare_sets(contexts, inside, rest),
        unscored=int(inside["unscored"].sum()),
        parents=None,
        contexts=interval.contexts,
        rate_interval=interval.bounds,
    )


def _lower_on(by: Mapping[str, Effect]) -> list[str]:
    """Return the categories with lower rates than the parents', unless there is only one."""
    return [value for value, e in by.items() if e.verdict == "second"] if len(by) > 1 else []
