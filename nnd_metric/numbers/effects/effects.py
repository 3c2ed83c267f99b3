"""The effects of the sets of a suite on the pass rate of a model.

Perturbed pairs, the children, are compared with their own parents, the human pairs they were
derived from: a parent whose child was dropped does not count. A parent counts by the share of its
children that are passed, so that pass rate and delta are means over parents, however many variants
there are. As in the overall pass rate, parents that are pairs of the same candidates are one test.

Where every parent has one child, McNemar's exact test is made too:

    b = parents passed whose child is not        c = parents failed whose child is passed

The set is called worse (or better) if the 95 % interval of the delta over human contexts leaves out
0 and p is below 0.05; where there are several variants, and no p, the interval alone decides. The
p-values of error categories are adjusted by Holm's method.

A slice or a sample of the human pairs has no parents: it is compared with the rest of the tests,
unpaired (`statistics.unpaired`). Negatives are compared with all human tests in the same way.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import polars as pl

from nnd.metric.data import SuiteSet
from nnd.metric.numbers.rates.context_sums import (
    CLUSTER,
    Slice,
    count_by_context,
    distinct_tests,
    slices_by,
    sum_by_context,
)
from nnd.metric.numbers.statistics.context_intervals import ClusterInterval, cluster_intervals
from nnd.metric.numbers.statistics.intervals import Interval
from nnd.metric.numbers.statistics.significance import LEVEL, holm, mcnemar_exact
from nnd.metric.numbers.statistics.unpaired_differences import unpaired_differences
from nnd.schemas import CONTEXT, DISTINCT

UNPAIRED = ("slice", "shift", "negatives")
"""Kinds of sets that are compared with the human pairs outside them."""

Verdict: TypeAlias = Literal["worse", "better", "undecided"]

PARENTS = ("pair_id", "cluster", *DISTINCT, "error_category", "passed")
"""The columns of human pairs that effects are made of."""

_PARENT = "parent_passed"


@dataclass(frozen=True, slots=True)
class Effect:
    """The effect of a set, or of an error category in it, compared with other tests.

    Attributes:
        n: Tests.
        unscored: Tests failed because a likelihood is missing.
        parents: Their parents, or None where they are not compared with these.
        contexts: Human contexts with tests.
        pass_rate: Of the tests; with several variants the mean over parents. None where n is 0.
        pass_rate_interval: 95 % interval over contexts, or None with fewer than two.
        parents_pass_rate: Of exactly their parents, or None.
        rest_pass_rate: Of all human tests that are not in the slice, sample or negatives, or None.
        delta: pass_rate minus parents_pass_rate or rest_pass_rate.
        interval: 95 % interval of the delta over contexts: paired with parents, unpaired with the
            rest.
        b: Parents passed whose child is not; None without parents or with several variants.
        c: Parents failed whose child is passed, or None likewise.
        p: Exact McNemar p-value, two-sided; without parents that of the score test of equal
            rates; None with several variants, and where there is nothing to compare.
        p_holm: The same adjusted over the error categories of the set; None for a whole set.
    """

    n: int
    unscored: int
    parents: int | None
    contexts: int
    pass_rate: float | None
    pass_rate_interval: Interval | None
    parents_pass_rate: float | None = None
    rest_pass_rate: float | None = None
    delta: float | None = None
    interval: Interval | None = None
    b: int | None = None
    c: int | None = None
    p: float | None = None
    p_holm: float | None = None

    @property
    def verdict(self) -> Verdict:
        """Whether the tests are harder or easier than the others (module docstring)."""
        p = self.p if self.p_holm is None else self.p_holm
        if self.interval is None or (p is not None and p >= LEVEL):
            return "undecided"
        low, high = self.interval
        return "worse" if high < 0 else "better" if low > 0 else "undecided"

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values."""
        bounds = self.pass_rate_interval
        return {
            "n": self.n,
            "unscored": self.unscored,
            "parents": self.parents,
            "contexts": self.contexts,
            "pass_rate": self.pass_rate,
            "pass_rate_interval": None if bounds is None else list(bounds),
            "parents_pass_rate": self.parents_pass_rate,
            "rest_pass_rate": self.rest_pass_rate,
            "delta": self.delta,
            "interval": None if self.interval is None else list(self.interval),
            "b": self.b,
            "c": self.c,
            "p": self.p,
            "p_holm": self.p_holm,
            "verdict": self.verdict,
        }


@dataclass(frozen=True, slots=True)
class SetEffect:
    """The effect of one set.

    Attributes:
        suite_set: The set.
        overall: Over its tests.
        by_error_category: Error category of the parents → effect on its pairs; empty where there
            are no parents.
    """

    suite_set: SuiteSet
    overall: Effect
    by_error_category: dict[str, Effect]

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values: an entry of `result["suite"]`."""
        by = {value: effect.to_dict() for value, effect in self.by_error_category.items()}
        return {
            "set": self.suite_set.name,
            "kind": self.suite_set.kind,
            "op": self.suite_set.operation,
            **self.overall.to_dict(),
            "by_error_category": by,
        }


def find_effects(
    sets: Sequence[SuiteSet], parents: pl.DataFrame, children: pl.DataFrame
) -> tuple[SetEffect, ...]:
    """Return the effect of each set on the pass rate of one model.

    Args:
        sets: The sets of a suite.
        parents: The human pairs as scored: the columns of PARENTS.
        children: The pairs of the sets as scored: rows of CHILD_SCHEMA.
    """
    found = []
    for each in sets:
        own = children.filter(pl.col("set") == each.name)
        if each.kind in UNPAIRED:
            found.append(SetEffect(each, _beside_rest(parents, own), {}))
        else:
            found.append(_beside_parents(each, parents, own))
    return tuple(found)


def _beside_parents(of: SuiteSet, parents: pl.DataFrame, children: pl.DataFrame) -> SetEffect:
    unscored = pl.col("ll_high").is_null() | pl.col("ll_low").is_null()
    of_parents = children.group_by("parent_id").agg(
        pl.len().alias("children"),
        pl.col("passed").mean(),
        unscored.sum().alias("unscored"),
    )
    keys = parents.select(
        *DISTINCT,
        CLUSTER[1],
        "error_category",
        pl.col("pair_id").alias("parent_id"),
        pl.col("passed").cast(pl.Int64).alias(_PARENT),
    )
    matched = keys.join(of_parents, on="parent_id", maintain_order="left")
    slices = [distinct_tests(matched), *slices_by(matched, "error_category")]
    paired = bool((matched["children"] == 1).all())
    p_values = [
        mcnemar_exact(*_discordant(s.rows)) if paired and s.rows.height else None for s in slices
    ]
    adjusted = [None, *holm(p_values[1:])]
    effects = [
        _paired_effect(piece.rows, rate, delta, (p, p_holm))
        for piece, rate, delta, p, p_holm in zip(
            slices, *_intervals(matched, slices), p_values, adjusted, strict=True
        )
    ]
    by = {piece.value: effect for piece, effect in zip(slices[1:], effects[1:], strict=True)}
    return SetEffect(of, effects[0], by)


def _intervals(
    matched: pl.DataFrame, slices: Sequence[Slice]
) -> tuple[list[ClusterInterval], list[ClusterInterval]]:
    """Return the intervals of each slice's pass rate and of its delta."""
    rate = pl.col("passed")
    delta = rate - pl.col(_PARENT)
    sums = [each for value in (rate, delta) for each in (value.sum(), (value**2).sum())]
    found = sum_by_context(matched, slices, *sums, pl.len())
    rates, squares, deltas, delta_squares, counts = np.moveaxis(found, 2, 0)
    return (
        cluster_intervals(rates, squares, counts),
        cluster_intervals(deltas, delta_squares, counts, lowest=-1),
    )


def _paired_effect(
    rows: pl.DataFrame,
    rate: ClusterInterval,
    delta: ClusterInterval,
    p_values: tuple[float | None, float | None],
) -> Effect:
    n, parents, (p, p_holm) = int(rows["children"].sum()), rows.height, p_values
    if not n:
        return Effect(0, 0, 0, 0, None, None)
    b, c = (None, None) if p is None else _discordant(rows)
    passed, parents_passed = float(rows["passed"].sum()), int(rows[_PARENT].sum())
    return Effect(
        n=n,
        unscored=int(rows["unscored"].sum()),
        parents=parents,
        contexts=rate.contexts,
        pass_rate=passed / parents,
        pass_rate_interval=rate.bounds,
        parents_pass_rate=parents_passed / parents,
        delta=(passed - parents_passed) / parents,
        interval=delta.bounds,
        b=b,
        c=c,
        p=p,
        p_holm=p_holm,
    )


def _discordant(rows: pl.DataFrame) -> tuple[int, int]:
    """Return the number of parents passed whose only child is not, and the reverse."""
    child, parent = rows["passed"] == 1, rows[_PARENT] == 1
    return int((parent & ~child).sum()), int((child & ~parent).sum())


def _beside_rest(everything: pl.DataFrame, members: pl.DataFrame) -> Effect:
    """Return the effect of some tests, human or made, compared with all other human ones."""
    inside = distinct_tests(members).rows
    tests = distinct_tests(everything).rows
    rest = tests.join(inside, on=DISTINCT, how="anti", nulls_equal=True)
    slices = [Slice("", "inside", inside), Slice("", "rest", rest)]
    contexts = pl.concat([rows.select(*CONTEXT, "cluster") for rows in (everything, inside)])
    passes, counts = count_by_context(contexts, slices)
    (found,) = unpaired_differences(passes[:, :1], counts[:, :1], passes[:, 1:], counts[:, 1:])
    interval, _ = cluster_intervals(passes, passes, counts)
    unscored = inside["ll_high"].is_null() | inside["ll_low"].is_null()
    return Effect(
        n=inside.height,
        unscored=int(unscored.sum()),
        parents=None,
        contexts=interval.contexts,
        pass_rate=_share(inside),
        pass_rate_interval=interval.bounds,
        rest_pass_rate=_share(rest),
        delta=found.difference,
        interval=found.interval,
        p=found.p,
    )


def _share(tests: pl.DataFrame) -> float | None:
    return float(tests["passed"].sum()) / tests.height if tests.height else None
