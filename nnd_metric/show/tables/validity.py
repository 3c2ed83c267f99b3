"""How well made pairs represent human pairs, as tables for a terminal."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from nnd.metric.numbers import short_names
from nnd.metric.show.tables.cells import NOTHING, points, share
from nnd.schemas import text_table

if TYPE_CHECKING:
    from rich.table import Table

_ORIGINS = ("human", "constructed")

_BASELINES = {
    "shorter_wins": "shorter wins, %",
    "longer_wins": "longer wins, %",
    "copy_wins": "more copied wins, %",
    "unconditional": "model without context, %",
}


def validity_table(operations: Sequence[Mapping[str, Any]]) -> "Table":
    """Return a row for each operation, model and origin of human pairs.

    Args:
        operations: `OperationValidity.to_dict()` of each.
    """
    numbers = ("made, %", "tests", "human, %", "human tests", "made - human [95 %]")
    table = text_table(["operation", "model", "pairs", *numbers], right=numbers)
    for operation in operations:
        models = operation["models"]
        for name, rates in zip(short_names([*models]), models.values(), strict=True):
            made = (share(rates["made"]["pass_rate"]), f"{rates['made']['n']:,}")
            for origin in (each for each in _ORIGINS if each in rates):
                other, rate = rates[origin], rates[origin]["rate"]
                table.add_row(
                    *(operation["operation"], name, origin, *made),
                    *(share(rate["pass_rate"]), f"{rate['n']:,}"),
                    points(other["difference"], other["interval"]),
                )
        table.add_section()
    return table


def giveaways_table(operations: Sequence[Mapping[str, Any]]) -> "Table":
    """Return the pass rates of baselines on the pairs of each origin.

    A test that a baseline cannot decide counts half.

    Args:
        operations: `OperationValidity.to_dict()` of each.
    """
    numbers = ("tests", *_BASELINES.values())
    table = text_table(["operation", "model", "pairs", *numbers], right=numbers)
    for operation in operations:
        models = operation["models"]
        for name, rates in zip(short_names([*models]), models.values(), strict=True):
            for origin in (each for each in ("made", *_ORIGINS) if each in rates):
                rate = rates["made"] if origin == "made" else rates[origin]["rate"]
                reached = (rate["baselines"].get(baseline) for baseline in _BASELINES)
                cells = (NOTHING if each is None else share(each["with_coin"]) for each in reached)
                table.add_row(operation["operation"], name, origin, f"{rate['n']:,}", *cells)
        table.add_section()
    return table
