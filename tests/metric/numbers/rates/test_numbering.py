"""Numbers of groups and of occurrences, compared with counting row by row."""

import random
from typing import Any

import polars as pl
import pytest

from nnd.metric.numbers.rates import context_sums
from nnd.metric.numbers.rates.context_sums import number_groups, number_occurrences


def keys_of(frame: pl.DataFrame) -> list[tuple[Any, ...]]:
    return frame.select("split", "id").rows()


@pytest.fixture(params=[1_000_000, 7])
def frame(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> pl.DataFrame:
    """Two hundred rows, some of them null or equal, compared at once or a few at a time."""
    monkeypatch.setattr(context_sums, "_ROWS_AT_ONCE", request.param)
    chance = random.Random(0)
    columns = {
        "split": [chance.choice(["test", "dev", None]) for _ in range(200)],
        "id": [chance.choice([None, *map(str, range(40))]) for _ in range(200)],
    }
    return pl.DataFrame(columns, {"split": pl.String, "id": pl.String})


def test_a_group_has_the_place_of_its_first_row(frame: pl.DataFrame) -> None:
    keys = keys_of(frame)
    found = number_groups(frame, [pl.col("split"), pl.col("id")])
    assert found.to_list() == [keys.index(key) for key in keys]


def test_occurrences_count_the_equal_rows_before(frame: pl.DataFrame) -> None:
    keys = keys_of(frame)
    found = number_occurrences(frame, "split", "id")
    assert found.to_list() == [keys[:row].count(key) for row, key in enumerate(keys)]


def test_where_no_row_is_repeated_every_occurrence_is_the_first(frame: pl.DataFrame) -> None:
    distinct = frame.unique(maintain_order=True)
    assert number_occurrences(distinct, "split", "id").to_list() == [0] * distinct.height


def test_no_row_has_no_number(frame: pl.DataFrame) -> None:
    assert number_groups(frame.clear(), [pl.col("id")]).is_empty()
