"""What choices do to verdicts, as a table for a terminal."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from nnd.metric.statistics import ALL_AGREE, do_all_agree, percent, rate_and_interval
from nnd.metric.tables.cells import NOTHING, points
from nnd.schemas import text_table

if TYPE_CHECKING:
    from rich.table import Table


def variation_table(found: Mapping[str, Any]) -> "Table":
    """Return a row per choice, the default first, in blocks of one dimension.

    Args:
        found: `Variation.to_dict()`.
    """
    numbers = ("pass rate, % [95 %]", "points [95 %]", "verdicts flipped, % [95 %]")
    table = text_table(["dimension", "choice", *numbers], right=numbers)
    table.add_row("default", _named(found["default"]["choices"]), _rate(found["default"]), "", "")
    dimension = None
    for each in found["choices"]:
        if each["dimension"] != dimension:
            table.add_section()
        shown = "" if each["dimension"] == dimension else each["dimension"]
        dimension = each["dimension"]
        table.add_row(shown, each["choice"], _rate(each), _difference(each), _flipped(each))
    if any(do_all_agree(each) for each in (found["default"], *found["choices"])):
        table.caption = ALL_AGREE
    return table


def _named(choices: Mapping[str, str]) -> str:
    return ", ".join(choices.values())


def _rate(row: Mapping[str, Any]) -> str:
    return NOTHING if row["pass_rate"] is None else rate_and_interval(row)


def _difference(row: Mapping[str, Any]) -> str:
    if row["difference"] is None:
        return NOTHING
    return points(row["difference"], row["difference_interval"])


def _flipped(row: Mapping[str, Any]) -> str:
    if row["flipped"] is None:
        return NOTHING
    bounds = row["flipped_interval"]
    interval = "" if bounds is None else f" [{percent(bounds[0])}, {percent(bounds[1])}]"
    return f"{percent(row['flipped'])}{interval}"
