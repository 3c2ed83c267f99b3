"""Contexts and tests: their numbers, so that ids are compared only once, and sums by context."""

from collections.abc import Sequence
from functools import reduce
from operator import xor

import numpy as np
import polars as pl

from nnd.metric.numbers.statistics.intervals import FloatArray
from nnd.schemas import DISTINCT, OVERALL, category_key

CLUSTER = (pl.col("split"), pl.coalesce("cluster", "context_id"))
"""Pairs of contexts that share a text, and those derived from them, are not independent: intervals
are over these."""

HUMAN_CONTEXT = (pl.col("split"), pl.col("context_id").str.replace(r"(~[^~]+\.[0-9]+)+$", ""))
"""The context of a pair, or of the human pair that it is derived from."""

NUMBERED_BY = ("cluster", *DISTINCT)
"""The columns of CLUSTER and DISTINCT, all that `number_tests` needs."""

_ROWS_AT_ONCE = 1_000_000
"""Rows whose ids are compared at once, which takes some 100 MB."""

CLUSTER_NUMBER, CONTEXT_NUMBER = "cluster_number", "context_number"
TEST_NUMBER = "test_number"
NUMBERED = (pl.col(CLUSTER_NUMBER),)
"""The counterpart of CLUSTER in rows with numbers (`number_tests`)."""


def distinct_tests(scored: pl.DataFrame) -> pl.DataFrame:
    """Return the tests behind the overall rate: each (high, low) of a context once."""
    return scored.unique(DISTINCT, keep="first", maintain_order=True)


def slices_by(scored: pl.DataFrame, column: str) -> dict[str, pl.DataFrame]:
    """Return each value of a column, in order, with its rows."""
    values = sorted(scored[column].drop_nulls().unique())
    return {value: scored.filter(pl.col(column) == value) for value in values}


def tests_by_key(rated: pl.DataFrame, column: str) -> dict[str, pl.DataFrame]:
    """Return OVERALL with all tests, and the key of each value of a column with its rows."""
    by = {category_key(value): rows for value, rows in slices_by(rated, column).items()}
    return {OVERALL: each_once(rated), **by}


def number_groups(frame: pl.DataFrame, keys: Sequence[pl.Expr]) -> pl.Series:
    """Return for every row the index of the first row with the same keys (null is a value)."""
    named = [key.alias(str(number)) for number, key in enumerate(keys)]
    rows = frame.select(*named).with_row_index("row")
    names = rows.columns[1:]
    places = np.empty(rows.height, dtype=np.uint32)
    parts = rows.height // _ROWS_AT_ONCE + 1
    # Equal keys have equal hashes, so a group is never in two parts.
    part_of = rows.select(reduce(xor, [pl.col(name).hash() for name in names]) % parts).to_series()
    for part in range(parts):
        own = rows.filter(part_of == part)
        first = own.select(pl.col("row").first().over(names)).to_series()
        places[own["row"].to_numpy()] = first.to_numpy()
    return pl.Series(places)


def number_occurrences(frame: pl.DataFrame, *columns: str) -> pl.Series:
    """Return for every row how many rows before it have the same values in some columns."""
    places = number_groups(frame, [pl.col(name) for name in columns])
    if (places == pl.int_range(frame.height, eager=True)).all():
        return pl.repeat(0, frame.height, dtype=pl.Int64, eager=True)
    return places.to_frame("place").select(pl.int_range(pl.len()).over("place")).to_series()


def number_tests(scored: pl.DataFrame) -> pl.DataFrame:
    """Return the numbers of cluster, context and test of rows, from the columns of NUMBERED_BY."""
    test = [pl.col(name) for name in DISTINCT]
    clusters = number_groups(scored, CLUSTER)
    is_one = scored["cluster"].null_count() == scored.height  # each context is its own cluster
    return pl.DataFrame(
        {
            CLUSTER_NUMBER: clusters,
            CONTEXT_NUMBER: clusters if is_one else number_groups(scored, HUMAN_CONTEXT),
            TEST_NUMBER: number_groups(scored, test),
        }
    )


def each_once(numbered: pl.DataFrame) -> pl.DataFrame:
    """Return the first of the rows that are one test: the same candidates of a context."""
    return numbered.unique(TEST_NUMBER, keep="first", maintain_order=True)


def add_known(counts: pl.Series) -> int | None:
    """Return the sum of counts, or None if one is unknown."""
    return None if counts.has_nulls() else int(counts.cast(pl.Int64).sum())


def count_by_context(
    scored: pl.DataFrame, slices: Sequence[pl.DataFrame], *, key: Sequence[pl.Expr] = CLUSTER
) -> tuple[FloatArray, FloatArray]:
    """Return passes and tests [contexts, slices], the contexts in the order of `scored`.

    `slices` hold tests of the same contexts, with `passed`. The columns of `key` identify contexts;
    NUMBERED is for rows with numbers.
    """
    clusters = (
        scored.select(key).unique(maintain_order=True).with_columns(number=pl.int_range(pl.len()))
    )
    passes, tests = np.zeros((2, clusters.height, len(slices)))
    for place, rows in enumerate(slices):
        counts = (
            rows.join(clusters, left_on=key, right_on=clusters.columns[:-1], nulls_equal=True)
            .group_by("number")
            .agg(pl.col("passed").sum(), pl.len().alias("tests"))
        )
        at = counts["number"].to_numpy()
        passes[at, place], tests[at, place] = counts["passed"], counts["tests"]
    return passes, tests
