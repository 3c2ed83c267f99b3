"""Watched trainings as a table for a terminal."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from nnd.metric.numbers import ALL_AGREE, rate_and_interval
from nnd.schemas import text_table

if TYPE_CHECKING:
    from rich.table import Table


def curve_table(runs: Sequence[Mapping[str, Any]]) -> "Table":
    """Return the first and the last pass rate of each category in each run.

    Args:
        runs: `Run.to_dict()` of each; a category's points are in order.
    """
    titles = ("run", "category", "steps", "first, %", "last, %", "tests")
    table = text_table(titles, right=titles[3:])
    for run in runs:
        for category in dict.fromkeys(point["category"] for point in run["points"]):
            line = [point for point in run["points"] if point["category"] == category]
            first, last = line[0], line[-1]
            steps = f"{first['step']:,} to {last['step']:,}"
            rates = [rate_and_interval(point) for point in (first, last)]
            table.add_row(run["name"], category, steps, *rates, f"{last['n']:,}")
            if any("*" in rate for rate in rates):
                table.caption = ALL_AGREE
    return table
