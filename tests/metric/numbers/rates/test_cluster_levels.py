"""Rates with intervals over contexts and over what several contexts share."""

from typing import Any

import polars as pl
import pytest

from nnd.metric.data.scored_schema import SCORED_SCHEMA
from nnd.metric.numbers import few_clusters, over_clusters
from nnd.metric.numbers.rates.pass_rates import Rate, pass_rates
from nnd.metric.numbers.statistics.context_intervals import cluster_intervals

VERDICTS = [[1, 1, 0], [1, 0], [0, 0, 1, 0], [1], [1, 1, 1], [0, 1]]
"""Verdicts of the tests of six contexts; each two of them share a paragraph."""


def rows(*, named: bool = True) -> pl.DataFrame:
    return pl.DataFrame(
        [
            {
                "pair_id": f"{context}/{n}",
                "split": "test",
                "context_id": f"c{context}",
                "cluster": f"paragraph:{context // 2}" if named else None,
                "high_id": f"h{context}/{n}",
                "low_id": "l",
                "ll_high": 1.0 * passed,
                "ll_low": 0.5,
                "passed": bool(passed),
                "tie": False,
            }
            for context, verdicts in enumerate(VERDICTS)
            for n, passed in enumerate(verdicts)
        ],
        SCORED_SCHEMA,
        orient="row",
    )


def by_hand(groups: list[list[int]]) -> Any:
    passes, tests = ([[number(each)] for each in groups] for number in (sum, len))
    return cluster_intervals(passes, passes, tests)[0].bounds


def rate(**changes: Any) -> Rate:
    return pass_rates(rows().with_columns(**changes)).overall


def test_the_interval_is_over_clusters_and_that_over_contexts_stands_beside_it() -> None:
    found = rate()

    assert (found.clusters, found.contexts) == (3, 6)
    assert found.interval == by_hand([VERDICTS[at] + VERDICTS[at + 1] for at in (0, 2, 4)])
    assert found.context_interval == by_hand(VERDICTS)


def test_without_clusters_each_context_is_one_and_there_is_one_interval() -> None:
    found = pass_rates(rows(named=False)).overall

    assert (found.clusters, found.contexts, found.context_interval) == (6, 6, None)
    assert found.interval == by_hand(VERDICTS)


def test_derived_pairs_count_with_the_human_context_at_both_levels() -> None:
    children = rows().with_columns(
        context_id=pl.col("context_id") + "~typos.0", high_id=pl.col("high_id") + "~typos.0"
    )
    found = pass_rates(pl.concat([rows(), children])).overall

    assert (found.clusters, found.contexts, found.n) == (3, 6, 2 * found.n // 2)
    assert found.context_interval == by_hand([2 * each for each in VERDICTS])


def test_a_cluster_may_have_a_part_of_the_contexts_only() -> None:
    only_first = pl.when(pl.col("cluster") == "paragraph:0").then("cluster")
    assert (rate(cluster=only_first).clusters, rate(cluster=only_first).contexts) == (5, 6)


@pytest.mark.parametrize(
    ("name", "words"), [("paragraph", " over 3 paragraphs"), (None, " over 3 clusters")]
)
def test_the_number_of_clusters_is_told(name: str | None, words: str) -> None:
    assert over_clusters(rate(), name) == words


def test_few_clusters_are_told_and_many_are_not() -> None:
    alone = pass_rates(rows(named=False)).overall

    assert "only 3 paragraphs; with fewer than 10" in (few_clusters(rate(), "paragraph") or "")
    assert few_clusters(alone, None) is None
    assert over_clusters(alone, None) == ""
    one = rate(cluster=pl.lit("paragraph:0"))
    assert one.interval is None
    assert "come from 1 paragraph, which does not" in (few_clusters(one, "paragraph") or "")
