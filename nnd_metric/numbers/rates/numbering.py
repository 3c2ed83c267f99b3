"""Numbers for contexts and tests, so that ids are compared only once."""

from collections.abc import Sequence
from functools import reduce
from operator import xor

import numpy as np
import polars as pl

_ROWS_AT_ONCE = 1_000_000
"""Rows whose ids are compared at once, which takes some 100 MB."""


def number_groups(frame: pl.DataFrame, keys: Sequence[pl.Expr]) -> pl.Series:
    """Return for every row the index of the first row with the same keys (null is a value).

    Args:
        frame: The rows.
        keys: Columns that identify groups.
    """
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
