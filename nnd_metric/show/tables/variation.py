"""Effects of scoring choices on verdicts, as a table for a terminal."""

from collections.abc import Mapping
from itertools import groupby
from typing import TYPE_CHECKING, Any

from nnd.metric.numbers import ALL_AGREE, do_all_agree, percent
from nnd.metric.show.tables.cells import NOTHING, pass_rate, points
from nnd.schemas import text_table

if TYPE_CHECKING:
    from rich.table import Table


def variation_table(variation: Mapping[str, Any]) -> "Table":
    """Return a row for the default, and a block per dimension with a row per choice.

    Args:
        variation: `Variation.to_dict()`.
    """
    numbers = ("pass, % [95 %]", "points [95 %]", "flipped, % [95 %]")
    table = text_table(["choice", *numbers], right=numbers)
    table.add_row("default", pass_rate(variation["default"]), "", "")
    for dimension, choices in groupby(variation["choices"], lambda each: each["dimension"]):
        table.add_section()
        table.add_row(dimension)
        for each in choices:
            difference = points(each["difference"], each["difference_interval"])
            table.add_row(f"  {each['choice']}", pass_rate(each), difference, _flipped(each))
    if any(do_all_agree(each) for each in (variation["default"], *variation["choices"])):
        table.caption = ALL_AGREE
    return table


def _flipped(row: Mapping[str, Any]) -> str:
    if row["flipped"] is None:
        return NOTHING
    bounds = row["flipped_interval"]
    interval = "" if bounds is None else f" [{percent(bounds[0])}, {percent(bounds[1])}]"
    return f"{percent(row['flipped'])}{interval}"
