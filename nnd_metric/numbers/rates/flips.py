"""Changes of verdicts from one scoring to another."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from nnd.metric.numbers.rates.context_sums import distinct_tests, sum_by_context
from nnd.metric.numbers.statistics.context_intervals import cluster_intervals
from nnd.metric.numbers.statistics.intervals import Interval


@dataclass(frozen=True, slots=True)
class Flips:
    """Changes of verdicts from one scoring to another.

    Attributes:
        n: Tests.
        gained: Tests that only the second scoring passes.
        lost: Tests that only the first passes.
        interval: 95 % paired interval of `difference` over contexts (`context_intervals`), or None
            where fewer than two have tests.
        flipped_interval: The same for `flipped`.
    """

    n: int
    gained: int
    lost: int
    interval: Interval | None
    flipped_interval: Interval | None

    @property
    def difference(self) -> float | None:
        """Pass rate of the second scoring minus that of the first, or None without tests."""
        return (self.gained - self.lost) / self.n if self.n else None

    @property
    def flipped(self) -> float | None:
        """Share of the tests whose verdict changes, or None without tests."""
        return (self.gained + self.lost) / self.n if self.n else None

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values."""
        return {
            "gained": self.gained,
            "lost": self.lost,
            "difference": self.difference,
            "difference_interval": None if self.interval is None else list(self.interval),
            "flipped": self.flipped,
            "flipped_interval": None
            if self.flipped_interval is None
            else list(self.flipped_interval),
        }


def find_flips(before: pl.DataFrame, after: pl.DataFrame) -> Flips:
    """Return the changes of verdicts.

    Args:
        before: Pairs of the first scoring: rows of SCORED_SCHEMA.
        after: The same pairs in the same order, from the second scoring.
    """
    change = after["passed"].cast(pl.Int64) - before["passed"].cast(pl.Int64)
    tests = distinct_tests(before.with_columns(change=change))
    own = tests.rows["change"]
    moved, flipped = pl.col("change").sum(), (pl.col("change") ** 2).sum()
    sums = sum_by_context(before, [tests], moved, flipped, pl.len())
    moves, flips, counts = np.moveaxis(sums, 2, 0)
    (difference,) = cluster_intervals(moves, flips, counts, lowest=-1)
    (share,) = cluster_intervals(flips, flips, counts)
    return Flips(
        n=tests.rows.height,
        gained=int((own == 1).sum()),
        lost=int((own == -1).sum()),
        interval=difference.bounds,
        flipped_interval=share.bounds,
    )
