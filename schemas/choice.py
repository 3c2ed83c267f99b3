"""Choosing example pairs by a rule rather than by hand."""

import polars as pl


def choose_examples(pairs: pl.DataFrame, most: int) -> pl.DataFrame:
    """Return pairs of as many error categories as possible, the most frequent first.

    The pair with the lowest pair_id of each category comes first, then the next of each. A pair_id
    is a digest, so the choice is arbitrary and does not depend on the order of rows.

    Args:
        pairs: With pair_id and error_category.
        most: Largest number of pairs.
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
