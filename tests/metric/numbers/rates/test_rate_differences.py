"""Verdicts that flip: counted by hand, over distinct tests, with paired intervals."""

import polars as pl
import pytest
from support import two_models

from nnd.metric.numbers import cluster_intervals
from nnd.metric.numbers.rates.rate_differences import find_flips


def scored(verdicts: str, contexts: str = "aabbccdd") -> pl.DataFrame:
    return two_models.scored("x", verdicts, context_id=[*contexts], low_id="l")


def test_what_flips_is_counted_both_ways() -> None:
    found = find_flips(scored("++++----"), scored("+++--+--"))
    assert (found.n, found.only_first, found.only_second) == (8, 1, 1)
    assert found.difference == 0
    assert found.flipped == 0.25


def test_intervals_are_over_contexts() -> None:
    found = find_flips(scored("++++----"), scored("--++---+"))
    moves, flips, counts = [[-2], [0], [0], [1]], [[2], [0], [0], [1]], [[2], [2], [2], [2]]
    (difference,) = cluster_intervals(moves, flips, counts, lowest=-1)
    (share,) = cluster_intervals(flips, flips, counts)
    assert (found.interval, found.flipped_interval) == (difference.bounds, share.bounds)


def test_a_test_of_two_categories_counts_once() -> None:
    twice = pl.concat([scored("+-", "ab"), scored("+-", "ab").head(1)])
    after = pl.concat([scored("--", "ab"), scored("--", "ab").head(1)])
    assert find_flips(twice, after).only_second == 1
    assert find_flips(twice, after).n == 2


def test_without_tests_nothing_is_defined() -> None:
    found = find_flips(scored(""), scored(""))
    assert (found.n, found.difference, found.interval, found.p) == (0, None, None, None)
    assert (found.flipped, found.flipped_interval, found.verdict) == (None, None, "untested")


@pytest.mark.parametrize("verdicts", ["+-+-+-+-", "--------"])
def test_nothing_flips_against_itself(verdicts: str) -> None:
    found = find_flips(scored(verdicts), scored(verdicts))
    assert found.flipped == 0
    assert found.flipped_interval is not None
    assert found.flipped_interval[0] == 0
