"""Compute differences of two models' pass rates on the same tests, overall and by slice.

One model is better if two criteria agree: the paired 95 % interval of the difference over contexts
excludes 0, and the exact McNemar p is below 0.05, after Holm's adjustment over the values of one
column. The interval takes into account that tests of one context are dependent; the adjustment,
that many categories are many chances of error. If the criteria disagree, the difference is not
significant.
"""

import math
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import polars as pl

from nnd.metric.data import SLICES
from nnd.metric.numbers.rates.context_sums import CLUSTER_NUMBER, each_once, number_tests
from nnd.metric.numbers.statistics.context_intervals import ClusterInterval, cluster_intervals
from nnd.metric.numbers.statistics.intervals import Interval
from nnd.metric.numbers.statistics.significance import LEVEL, holm, mcnemar_exact, pairs_needed

DETECTABLE = 0.02
"""The difference of pass rates, 2 points, for which the required number of tests is given."""

_VERDICTS = ("passed_a", "passed_b", "unscored")

Verdict: TypeAlias = Literal["a", "b", "undecided", "untested"]


@dataclass(frozen=True, slots=True)
class Needed:
    """The sample size that detects a difference of DETECTABLE with 80 % power at the 5 % level.

    This is the level of a single comparison, before Holm's adjustment: a value in the family of a
    column needs more tests.

    Attributes:
        tests: Required number of tests.
        contexts: Required number of contexts, at the present number of tests per context.
        discordance: Share of the present tests that one model alone passes.
        design_effect: Jackknife variance of the difference over that of independent tests,
            (discordance - difference^2) / n.
    """

    tests: int
    contexts: int
    discordance: float
    design_effect: float

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values."""
        return {
            "tests": self.tests,
            "contexts": self.contexts,
            "discordance": self.discordance,
            "design_effect": self.design_effect,
        }


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference of two models, a and b, on some tests.

    Attributes:
        n: Tests.
        unscored: Tests for which a model lacks a likelihood; that model fails them.
        pass_rate_a: Pass rate of the first, or None if n is 0.
        pass_rate_b: Pass rate of the second, or None if n is 0.
        difference: pass_rate_a - pass_rate_b.
        interval: 95 % paired interval of the difference over contexts (`context_intervals`), or
            None if fewer than two have tests.
        contexts: Contexts with tests.
        only_a: Tests that only a passes, McNemar's b.
        only_b: Tests that only b passes, McNemar's c.
        p: Exact McNemar p-value, two-sided; None if n is 0, or the models were scored by different
            protocols (`untested`).
        p_holm: The same adjusted over the values of the column; None for the overall difference.
        needed: The sample size for a small difference, or None if it cannot be estimated.
    """

    n: int
    unscored: int
    pass_rate_a: float | None
    pass_rate_b: float | None
    difference: float | None
    interval: Interval | None
    contexts: int
    only_a: int
    only_b: int
    p: float | None
    p_holm: float | None
    needed: Needed | None

    @property
    def verdict(self) -> Verdict:
        """Which model is better, or that the difference is not significant (module docstring)."""
        if self.n and self.p is None:
            return "untested"
        p = self.p if self.p_holm is None else self.p_holm
        if self.interval is None or p is None or p >= LEVEL:
            return "undecided"
        low, high = self.interval
        return "a" if low > 0 else "b" if high < 0 else "undecided"

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values."""
        return {
            "n": self.n,
            "unscored": self.unscored,
            "pass_rate_a": self.pass_rate_a,
            "pass_rate_b": self.pass_rate_b,
            "difference": self.difference,
            "interval": None if self.interval is None else list(self.interval),
            "contexts": self.contexts,
            "only_a": self.only_a,
            "only_b": self.only_b,
            "p": self.p,
            "p_holm": self.p_holm,
            "needed": None if self.needed is None else self.needed.to_dict(),
            "verdict": self.verdict,
        }


@dataclass(frozen=True, slots=True)
class Differences:
    """The differences of two models.

    Attributes:
        overall: Difference over distinct candidates.
        by: Column of `results.SLICES` → value → difference over its pairs.
    """

    overall: Difference
    by: dict[str, dict[str, Difference]]

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values: `overall` and `by_<column>`."""
        slices = {
            f"by_{column}": {
                value: difference.to_dict() for value, difference in differences.items()
            }
            for column, differences in self.by.items()
        }
        return {"overall": self.overall.to_dict(), **slices}


def find_differences(both: pl.DataFrame, values: dict[str, list[str]]) -> Differences:
    """Return the differences of two models on the pairs that both were scored on.

    Args:
        both: One row per pair: the keys of `results.SCORED_SCHEMA`, and the Boolean columns
            passed_a, passed_b and unscored.
        values: Column of SLICES → its values; a value without pairs gets n = 0 and no difference.
    """
    numbered = both.select(*SLICES, *_VERDICTS).hstack(number_tests(both))
    by: dict[str, dict[str, Difference]] = {}
    for column in SLICES:
        rows = numbered.select(column, CLUSTER_NUMBER, *_VERDICTS)
        of_column = [_difference(rows.filter(pl.col(column) == value)) for value in values[column]]
        adjusted = holm([difference.p for difference in of_column])  # a column is one family
        by[column] = {
            value: replace(difference, p_holm=p_holm)
            for value, difference, p_holm in zip(values[column], of_column, adjusted, strict=True)
        }
    return Differences(_difference(each_once(numbered.drop(SLICES))), by)


def untested(differences: Differences) -> Differences:
    """Return differences without intervals, p-values and verdicts."""

    def bare(each: Difference) -> Difference:
        return replace(each, interval=None, p=None, p_holm=None, needed=None)

    return Differences(
        bare(differences.overall),
        {
            column: {value: bare(each) for value, each in by_value.items()}
            for column, by_value in differences.by.items()
        },
    )


def _difference(rows: pl.DataFrame) -> Difference:
    n, unscored = rows.height, int(rows["unscored"].sum())
    passes_a, passes_b = int(rows["passed_a"].sum()), int(rows["passed_b"].sum())
    only_a, only_b = _discordant(rows)
    interval = _interval(rows)
    return Difference(
        n=n,
        unscored=unscored,
        pass_rate_a=passes_a / n if n else None,
        pass_rate_b=passes_b / n if n else None,
        difference=(passes_a - passes_b) / n if n else None,
        interval=interval.bounds,
        contexts=interval.contexts,
        only_a=only_a,
        only_b=only_b,
        p=mcnemar_exact(only_a, only_b) if n else None,
        p_holm=None,
        needed=_needed(rows, interval),
    )


def _interval(rows: pl.DataFrame) -> ClusterInterval:
    """Return the interval of the difference."""
    lead = pl.col("passed_a").cast(pl.Int8) - pl.col("passed_b").cast(pl.Int8)
    contexts = rows.group_by(CLUSTER_NUMBER)
    sums = contexts.agg(lead.sum().alias("lead"), (lead**2).sum().alias("squared"), tests=pl.len())
    matrices = (sums[name].to_numpy()[:, None] for name in ("lead", "squared", "tests"))
    (interval,) = cluster_intervals(*matrices, lowest=-1)
    return interval


def _discordant(rows: pl.DataFrame) -> tuple[int, int]:
    """Return the number of tests that only a passes, and that only b passes."""
    a, b = rows["passed_a"], rows["passed_b"]
    return int((a & ~b).sum()), int((b & ~a).sum())


def _needed(rows: pl.DataFrame, interval: ClusterInterval) -> Needed | None:
    n = rows.height
    only_a, only_b = _discordant(rows)
    if interval.bounds is None:
        return None
    discordance = (only_a + only_b) / n
    independent = (discordance - ((only_a - only_b) / n) ** 2) / n
    if independent <= 0:  # all tests have the same outcome: nothing varies
        return None
    effect = interval.variance / independent
    tests = pairs_needed(discordance, DETECTABLE, design_effect=effect)
    contexts = math.ceil(tests * interval.contexts / n)
    return Needed(tests, contexts, discordance, effect)
