"""How far a model's numbers are from float64: a row per protocol."""

from typing import TYPE_CHECKING

from nnd.metric.show.tables.cells import NOTHING
from nnd.schemas import text_table

if TYPE_CHECKING:
    from rich.table import Table

    from nnd.metric.selftest import ProtocolTest, SelfTest

_NUMBERS = ("requests", "difference", "as one text")


def selftest_table(tested: "SelfTest") -> "Table":
    """Return a row per protocol: requests, the largest difference, ids and verdicts."""
    return text_table(
        ["protocol", *_NUMBERS[:2], "token ids", "verdicts", _NUMBERS[2]],
        map(_cells, tested.protocols),
        right=_NUMBERS,
    )


def _cells(each: "ProtocolTest") -> tuple[str, ...]:
    return (
        each.protocol,
        f"{each.requests:,}",
        NOTHING if each.difference is None else f"{each.difference:.1e}",
        _same(each.ids_differ),
        _same(each.verdicts_differ),
        f"{each.as_one:,}",
    )


def _same(differing: int) -> str:
    return f"{differing:,} differ" if differing else "same"
