"""Effects of scoring choices on verdicts, as a table for a terminal."""

from itertools import groupby
from typing import TYPE_CHECKING

from nnd.metric.numbers import ALL_AGREE, do_all_agree, percent
from nnd.metric.show.tables.cells import NOTHING, pass_rate
from nnd.metric.show.tables.differences import difference_table

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.table import Table

    from nnd.metric.run import Variant, Variation


def variation_table(variation: "Variation") -> "Table":
    """Return a row for the default, and a block per dimension with a row per choice."""
    columns: dict[str, str | Callable[[Variant], str]] = {
        "pass, % [95 %]": lambda each: pass_rate(_rate(each)),
        "points [95 %]": "lead",
        "flipped, % [95 %]": _flipped,
    }
    blocks = [
        (dimension, [((each.choice,), each) for each in choices])
        for dimension, choices in groupby(variation.choices, lambda each: each.dimension)
    ]
    default = variation.default.to_dict()
    above = ("default", pass_rate(default), "", "")
    table = difference_table(["choice"], columns, blocks, above=above)
    if any(do_all_agree(each) for each in (default, *map(_rate, variation.choices))):
        table.caption = ALL_AGREE
    return table


def _rate(choice: "Variant") -> dict[str, object]:
    return {"pass_rate": choice.rate, "interval": choice.rate_interval}


def _flipped(choice: "Variant") -> str:
    if choice.flipped is None:
        return NOTHING
    bounds = choice.flipped_interval
    interval = "" if bounds is None else f" [{percent(bounds[0])}, {percent(bounds[1])}]"
    return f"{percent(choice.flipped)}{interval}"
