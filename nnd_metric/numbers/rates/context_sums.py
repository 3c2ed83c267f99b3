"""Sums of tests by context, over all tests or some."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from nnd.metric.numbers.rates.numbering import number_groups
from nnd.metric.numbers.statistics.intervals import FloatArray
from nnd.schemas import DISTINCT

CLUSTER = (pl.col("split"), pl.coalesce("cluster", "context_id"))
"""Pairs of a context and those derived from them are not independent: intervals are over these."""

NUMBERED_BY = ("cluster", *DISTINCT)
"""The columns of CLUSTER and DISTINCT, all that `number_tests` needs."""

CLUSTER_NUMBER, TEST_NUMBER = "cluster_number", "test_number"
NUMBERED = (pl.col(CLUSTER_NUMBER),)
"""The counterpart of CLUSTER in rows with numbers (`number_tests`)."""


class Slice(NamedTuple):
    """Some of the scored pairs: those with `value` in `column`, or the distinct tests of all."""

    column: str
    value: str
    rows: pl.DataFrame


def distinct_tests(scored: pl.DataFrame) -> Slice:
    """Return the tests behind the overall rate: each (high, low) of a context once."""
    rows = scored.unique(DISTINCT, keep="first", maintain_order=True)
    return Slice("", "overall", rows)


def slices_by(scored: pl.DataFrame, *columns: str) -> Iterator[Slice]:
    """Yield a slice for every value of every column, in the order of both."""
    for column in columns:
        for value in sorted(scored[column].drop_nulls().unique()):
            yield Slice(column, value, scored.filter(pl.col(column) == value))


def number_tests(scored: pl.DataFrame) -> pl.DataFrame:
    """Return the numbers of every row's context and test: CLUSTER_NUMBER and TEST_NUMBER.

    Args:
        scored: With the columns of NUMBERED_BY.
    """
    test = [pl.col(name) for name in DISTINCT]
    return pl.DataFrame(
        {
            CLUSTER_NUMBER: number_groups(scored, CLUSTER),
            TEST_NUMBER: number_groups(scored, test),
        }
    )


def each_once(numbered: pl.DataFrame) -> pl.DataFrame:
    """Return the first of the rows that are one test: the same candidates of a context.

    Args:
        numbered: Rows with TEST_NUMBER.
    """
    return numbered.unique(TEST_NUMBER, keep="first", maintain_order=True)


def count_by_context(
    scored: pl.DataFrame, slices: Sequence[Slice], *, key: Sequence[pl.Expr] = CLUSTER
) -> tuple[FloatArray, FloatArray]:
    """Return passes and tests [contexts, slices] (arguments as of `sum_by_context`)."""
    sums = sum_by_context(scored, slices, pl.col("passed").sum(), pl.len(), key=key)
    return sums[:, :, 0], sums[:, :, 1]


def sum_by_context(
    scored: pl.DataFrame,
    slices: Sequence[Slice],
    *sums: pl.Expr,
    key: Sequence[pl.Expr] = CLUSTER,
) -> FloatArray:
    """Return [contexts, slices, sums], the contexts in the order of `scored`.

    Args:
        scored: Tests with the columns of `key`.
        slices: Slices of its rows.
        sums: Columns to sum over a slice's tests of one context; 0 without such tests.
        key: Columns that identify contexts; NUMBERED for rows with numbers.
    """
    clusters = (
        scored.select(key).unique(maintain_order=True).with_columns(number=pl.int_range(pl.len()))
    )
    found = np.zeros((clusters.height, len(slices), len(sums)))
    named = [each.alias(str(position)) for position, each in enumerate(sums)]
    for place, piece in enumerate(slices):
        rows = piece.rows.join(
            clusters, left_on=key, right_on=clusters.columns[:-1], nulls_equal=True
        )
        summed = rows.group_by("number").agg(named)
        found[summed["number"].to_numpy(), place] = summed.drop("number").to_numpy()
    return found
