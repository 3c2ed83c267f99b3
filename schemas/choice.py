"""Which pairs to look at, chosen by a rule and not by hand."""

import polars as pl


def choose_examples(pairs: pl.DataFrame, most: int) -> pl.DataFrame:
    """Return pairs of as many error categories as possible, the most frequent first.

    Of each category the pair with the lowest pair_id is taken, then of each the next: that is a
    digest, so the choice is not ours, and the order of rows does not matter.

    Args:
        pairs: With pair_id and error_category.
        most: Pairs at most.
    """
    ordered = (
        pairs.select("pair_id", "error_category")
        .with_row_index("row")
        .sort("pair_id")
        .with_columns(
            turn=pl.int_range(pl.len()).over("error_category"),
            often=pl.len().over("error_category"),
        )
        .sort("turn", "often", "error_category", descending=[False, True, False], nulls_last=True)
    )
    return pairs[ordered["row"].head(most)]
