"""Which pairs to look at: of each error category in turn, whatever the order of the rows."""

import polars as pl
import pytest

from nnd.schemas import choose_examples

PAIRS = pl.DataFrame(
    {
        "pair_id": ["3", "2", "1", "0", "4", "5", "6"],
        "error_category": ["rare", "often", "often", "rarest", "rare", "often", None],
    }
)
"""Often: 1, 2, 5; rare: 3, 4; rarest: 0; without a category: 6."""


@pytest.mark.parametrize("order", [slice(None), slice(None, None, -1)])
def test_of_each_category_the_lowest_id_then_the_next(order: slice) -> None:
    for most in range(9):
        chosen = choose_examples(PAIRS[order], most)
        assert chosen["pair_id"].to_list() == list("1306245")[:most]
