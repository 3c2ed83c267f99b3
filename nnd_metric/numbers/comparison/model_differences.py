"""Compute differences of two models' pass rates on the same tests, overall and by slice.

p is that of sign flips over clusters of contexts, adjusted over the values of one column.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

import polars as pl

from nnd.metric.data import SLICES
from nnd.metric.numbers.rates.context_sums import (
    CLUSTER_NUMBER,
    CONTEXT_NUMBER,
    NUMBERED,
    add_known,
    each_once,
    number_tests,
)
from nnd.metric.numbers.rates.equal_length import (
    LENGTHS,
    EqualLengthDifference,
    equal_length_difference,
)
from nnd.metric.numbers.rates.rate_differences import compare_scorings
from nnd.metric.numbers.statistics.context_intervals import ClusterInterval
from nnd.metric.numbers.statistics.difference import Difference, adjust
from nnd.metric.numbers.statistics.significance import pairs_needed
from nnd.schemas import Amount, Count, Lead, Record, Share

DETECTABLE = 0.02
"""The difference of pass rates, 2 points, for which the required number of tests is given."""

NOT_TESTED = "not tested"
"""Why there is no interval where two models may not be compared."""

_VERDICTS = ("passed_first", "passed_second", "unscored", "same_tokens")
_LENGTHS = tuple(f"{name}_{side}" for side in ("first", "second") for name in LENGTHS)


@dataclass(frozen=True, slots=True)
class SampleSize(Record):
    """The sample size that detects a difference of DETECTABLE with 80 % power at the 5 % level.

    This is the level of a single comparison, before Holm's adjustment: a value in the family of a
    column needs more tests.

    Attributes:
        tests: Required number of tests.
        clusters: Required number of clusters of contexts, at the present number of tests in each.
        discordance: Share of the present tests that one model alone passes.
        design_effect: Jackknife variance of the difference over that of independent tests,
            (discordance - difference^2) / n.
    """

    tests: Count
    clusters: Count
    discordance: Share
    design_effect: Amount


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelDifference(Difference):
    """The difference of two models on the same tests.

    Attributes:
        unscored: Tests for which a model lacks a likelihood; that model fails them.
        undecidable: Tests whose two texts are the same tokens to a model, which fails them; None if
            unknown, as in older results.
        contexts: Contexts with tests.
        clusters: Clusters with tests: contexts that share what the data declares, such as a
            paragraph; else each context is one. The interval and p are over these.
        context_interval: 95 % interval over contexts, as if they were independent; None where each
            is a cluster of its own.
        needed: The sample size for a small difference, or None if it cannot be estimated.
        equal_length: The difference at equal numbers of tokens; None if these are unknown, and in
            older results.
    """

    unscored: Count
    undecidable: Count | None = None
    contexts: Count
    clusters: Count
    context_interval: tuple[Lead, Lead] | None = None
    needed: SampleSize | None
    equal_length: EqualLengthDifference | None = None

    def turned(self) -> Self:
        """Return the difference of the second from the first."""
        turned = Difference.turned(self)
        equal, over_contexts = self.equal_length, self.context_interval
        return replace(
            turned,
            context_interval=over_contexts and (-over_contexts[1], -over_contexts[0]),
            equal_length=None if equal is None else equal.turned(),
        )


def find_differences(
    both: pl.DataFrame, values: Mapping[str, list[str]], *, tested: bool = True
) -> tuple[ModelDifference, dict[str, dict[str, ModelDifference]]]:
    """Return the differences of two models: over distinct candidates, and by column and value.

    `both` has one row per pair that both were scored on: the keys of `SCORED_SCHEMA`, and the
    columns passed_first, passed_second, unscored and same_tokens (Boolean), and LENGTHS of each.
    `values` gives column of SLICES → its values; a value without pairs gets n = 0 and no
    difference. Differences have intervals, p-values and verdicts only if they are `tested`.
    """
    numbered = both.select(*SLICES, *_VERDICTS, *_LENGTHS).hstack(number_tests(both))

    def difference(rows: pl.DataFrame) -> ModelDifference:
        of_both, interval = compare_scorings(rows, *_VERDICTS[:2], key=NUMBERED)
        contexts = rows[CONTEXT_NUMBER].n_unique()
        has_level = tested and interval.contexts < contexts
        return ModelDifference.extend(
            of_both
            if tested
            else replace(of_both, interval=None, interval_reason=NOT_TESTED, p=None),
            unscored=int(rows["unscored"].sum()),
            undecidable=add_known(rows["same_tokens"]),
            contexts=contexts,
            clusters=interval.contexts,
            context_interval=_over_contexts(rows) if has_level else None,
            needed=_needed(of_both, interval) if tested else None,
            equal_length=equal_length_difference(rows, tested=tested),
        )

    by = {}
    for column in SLICES:
        rows = numbered.select(column, CLUSTER_NUMBER, CONTEXT_NUMBER, *_VERDICTS, *_LENGTHS)
        family = adjust([difference(rows.filter(pl.col(column) == v)) for v in values[column]])
        by[column] = dict(zip(values[column], family, strict=True))
    return difference(each_once(numbered.drop(SLICES))), by


def _over_contexts(rows: pl.DataFrame) -> tuple[float, float] | None:
    key = [pl.col(CONTEXT_NUMBER)]
    return compare_scorings(rows, *_VERDICTS[:2], key=key)[0].interval


def _needed(of_both: Difference, interval: ClusterInterval) -> SampleSize | None:
    if interval.bounds is None:
        return None
    only_first, only_second = of_both.only_first or 0, of_both.only_second or 0
    discordance = (only_first + only_second) / of_both.n
    independent = (discordance - ((only_first - only_second) / of_both.n) ** 2) / of_both.n
    if independent <= 0:  # all tests have the same outcome: nothing varies
        return None
    effect = interval.variance / independent
    tests = pairs_needed(discordance, DETECTABLE, design_effect=effect)
    clusters = math.ceil(tests * interval.contexts / of_both.n)
    return SampleSize(tests, clusters, discordance, effect)
