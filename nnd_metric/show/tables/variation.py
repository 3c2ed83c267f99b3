"""Effects of scoring choices on verdicts, as a table for a terminal."""

from itertools import groupby
from typing import TYPE_CHECKING

from nnd.metric.numbers import in_brackets
from nnd.metric.show.tables.cells import explain_stars, pass_rate, share
from nnd.metric.show.tables.differences import difference_table

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.table import Table

    from nnd.metric.run import Variant, Variation


def variation_table(variation: "Variation") -> "Table":
    """Return a row for the default, and a block per dimension with a row per choice."""
    columns: dict[str, str | Callable[[Variant], str]] = {
        "pass, % [95 %]": lambda each: pass_rate(each.rate, each.rate_interval),
        "points [95 %]": "lead",
        "flipped, % [95 %]": lambda e: f"{share(e.flipped)}{in_brackets(e.flipped_interval)}",
    }
    blocks = [
        (dimension, [((each.choice,), each) for each in choices])
        for dimension, choices in groupby(variation.choices, lambda each: each.dimension)
    ]
    default = variation.default
    above = ("default", pass_rate(default.pass_rate, default.interval), "", "")
    return explain_stars(difference_table(["choice"], columns, blocks, above=above))
