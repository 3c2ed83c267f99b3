"""How well made pairs represent human pairs, as tables for a terminal."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from nnd.metric.numbers import short_names
from nnd.metric.show.tables.cells import BASELINES, share
from nnd.metric.show.tables.differences import difference_table
from nnd.schemas import text_table

if TYPE_CHECKING:
    from rich.table import Table

    from nnd.metric.numbers import HumanPairs, OperationValidity, Rate, Validity

_BASELINES = {name: f"{title}, %" for name, title in BASELINES.items()}
_BASELINES["unconditional"] = "model without context, %"


def validity_table(validity: "Validity") -> "Table":
    """Return a row for each operation, model and origin of human pairs."""
    columns: dict[str, str | Callable[[HumanPairs], str]] = {
        "made, %": "rate",
        "tests": "n",
        "human, %": "other",
        "human tests": lambda compared: f"{compared.pairs.n:,}",
        "made - human [95 %]": "lead",
    }
    blocks = [
        ("", [(keys, compared) for keys, _, compared in _rows(each) if compared is not None])
        for each in validity.operations
    ]
    return difference_table(["operation", "model", "pairs"], columns, blocks)


def giveaways_table(validity: "Validity") -> "Table":
    """Return the pass rates of baselines on the pairs of each origin.

    A test that a baseline cannot decide counts half.
    """
    numbers = ("tests", *_BASELINES.values())
    table = text_table(["operation", "model", "pairs", *numbers], right=numbers)
    for each in validity.operations:
        for keys, rate, _ in _rows(each):
            reached = (rate.baselines.get(baseline) for baseline in _BASELINES)
            cells = (share(None if each is None else each.with_coin) for each in reached)
            table.add_row(*keys, f"{rate.n:,}", *cells)
        table.add_section()
    return table


def _rows(
    of: "OperationValidity",
) -> Iterator[tuple[tuple[str, str, str], "Rate", "HumanPairs | None"]]:
    """Yield keys, rate and comparison of the made pairs and of those of people."""
    for name, rates in zip(short_names([*of.models]), of.models.values(), strict=True):
        yield (of.operation, name, "made"), rates.made, None
        for origin, compared in rates.people.items():
            yield (of.operation, name, origin), compared.pairs, compared
