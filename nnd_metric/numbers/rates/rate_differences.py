"""Differences of pass rates: of two scorings on the same tests, and of two sets of tests.

The p-value of two scorings is that of sign flips over clusters of contexts, as the interval is over
these: tests that share a context or a text are not independent. With at most one test on which the
scorings differ in each cluster, it is that of McNemar's exact test.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from nnd.metric.numbers.rates.context_sums import CLUSTER, count_by_context, distinct_tests
from nnd.metric.numbers.statistics.context_intervals import ClusterInterval, cluster_intervals
from nnd.metric.numbers.statistics.difference import Difference
from nnd.metric.numbers.statistics.intervals import FloatArray
from nnd.metric.numbers.statistics.sign_flips import sign_flip_p
from nnd.metric.numbers.statistics.unpaired_differences import unpaired_difference
from nnd.schemas import Share

_SUM, _SQUARES, _TESTS = "sum", "squares", "tests"


def compare_scorings(
    tests: pl.DataFrame,
    first: str,
    second: str,
    *,
    key: Sequence[pl.Expr] = CLUSTER,
    variants: bool = False,
) -> tuple[Difference, ClusterInterval]:
    """Return the difference of two scorings of the same tests, and its interval with all details.

    `tests` are distinct. Their columns `first` and `second` say whether a test passes or, if it may
    have several `variants`, hold the share of these that pass. The columns of `key` identify
    contexts.
    """
    tests = tests.with_columns(pl.col(first, second).cast(pl.Float64))
    n, passes, others = tests.height, float(tests[first].sum()), float(tests[second].sum())
    lead = pl.col(first) - pl.col(second)
    by_context = _sum_by_context(tests, lead, key)
    (interval,) = cluster_intervals(*by_context, lowest=-1)
    only = int((tests[first] > tests[second]).sum()), int((tests[second] > tests[first]).sum())
    difference = Difference(
        n=n,
        rate=passes / n if n else None,
        other=others / n if n else None,
        difference=(passes - others) / n if n else None,
        interval=interval.bounds,
        interval_reason=interval.reason,
        p=sign_flip_p(by_context[0]) if n else None,
        p_holm=None,
        only_first=None if variants else only[0],
        only_second=None if variants else only[1],
    )
    return difference, interval


def compare_sets(
    contexts: pl.DataFrame,
    first: pl.DataFrame,
    second: pl.DataFrame,
    *,
    key: Sequence[pl.Expr] = CLUSTER,
) -> Difference:
    """Return the difference of one scoring on two sets of tests, which may share contexts.

    `contexts` are all contexts, by the columns of `key`; each set has distinct tests, with these
    columns and `passed`.
    """
    return unpaired_difference(*count_by_context(contexts, [first, second], key=key))


def mean_interval(
    tests: pl.DataFrame, value: pl.Expr, *, key: Sequence[pl.Expr] = CLUSTER
) -> ClusterInterval:
    """Return the 95 % interval of the mean of a value between 0 and 1 (`cluster_intervals`)."""
    return cluster_intervals(*_sum_by_context(tests, value, key))[0]


def _sum_by_context(
    tests: pl.DataFrame, value: pl.Expr, key: Sequence[pl.Expr]
) -> tuple[FloatArray, ...]:
    """Return the sums of a value and of its square, and the number of tests, [contexts, 1]."""
    value = value.cast(pl.Float64)
    sums = tests.group_by(key).agg(
        value.sum().alias(_SUM), (value**2).sum().alias(_SQUARES), pl.len().alias(_TESTS)
    )
    ordered = sums.sort(sums.columns[: len(key)])  # or the last digits of sums would vary
    return tuple(ordered.select(name).to_numpy() for name in (_SUM, _SQUARES, _TESTS))


@dataclass(frozen=True, slots=True, kw_only=True)
class Flips(Difference):
    """Changes of verdicts: a second scoring of tests, here the first side, against the one before.

    Attributes:
        flipped: Share of the tests whose verdict changes, or None without tests.
        flipped_interval: Its 95 % interval over contexts, or None with fewer than two.
    """

    flipped: Share | None
    flipped_interval: tuple[Share, Share] | None


def find_flips(before: pl.DataFrame, after: pl.DataFrame) -> Flips:
    """Return the changes of verdicts between two scorings of the same pairs in the same order."""
    tests = distinct_tests(before.with_columns(now=after["passed"]))
    flips = pl.col("now") != pl.col("passed")
    return Flips.extend(
        compare_scorings(tests, "now", "passed")[0],
        flipped=tests.select(flips.mean()).item(),
        flipped_interval=mean_interval(tests, flips).bounds,
    )
