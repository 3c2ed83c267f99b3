"""Cells that several tables have in common."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from nnd.metric.numbers import ALL_AGREE, percent, rate_and_interval
from nnd.schemas import counted, listed

if TYPE_CHECKING:
    from rich.table import Table

    from nnd.metric.numbers import Rate

_Slice = TypeVar("_Slice")

NOTHING = "n/a"

_MOST_SLICES = 6

BASELINES = {
    "shorter_wins": "shorter wins",
    "longer_wins": "longer wins",
    "copy_wins": "more copied wins",
    "unconditional": "without any context",
}
"""Name of a baseline → its title; those for tokens have a table of their own."""


def telling_columns(
    by: Mapping[str, Mapping[str, _Slice]], count: Callable[[_Slice], object]
) -> list[str]:
    """Return the columns with several values, unless their counts repeat those of an earlier one.

    For example, sources without error labels use their aspects as error categories.
    """
    told: dict[str, list[str]] = {}
    for column, slices in by.items():
        counts = sorted(str(count(each)) for each in slices.values())
        if len(counts) > 1 and counts not in told.values():
            told[column] = counts
    return [*told]


def share(value: float | None) -> str:
    """Return a share in per cent, without the sign."""
    return NOTHING if value is None else percent(value)


def number(value: float | None) -> str:
    """Return a correlation with three decimals, or NOTHING for None."""
    return NOTHING if value is None else f"{value:.3f}"


def count(n: int | None) -> str:
    """Return a count with separators of thousands, or NOTHING for None."""
    return NOTHING if n is None else f"{n:,}"


def deviation(value: object, requests: object) -> str | None:
    """Return the deviation of an engine with the requests that it was measured on; None if unknown.

    They are `deviation` and `deviation_requests` of a stored engine.
    """
    if not isinstance(value, float):
        return None
    measured = (
        f"measured in float64 on {counted(requests, 'request')}"
        if isinstance(requests, int) and requests > 0
        else "not measured in float64"
    )
    return f"{value:.1e} nats per token, {measured}"


def pass_rate(value: float | None, interval: tuple[float, float] | None) -> str:
    """Return a pass rate in per cent with its interval."""
    return NOTHING if value is None else rate_and_interval(value, interval)


def explain_stars(table: "Table", *notes: str) -> "Table":
    """Return a table with a caption: notes, and the meaning of the stars after its intervals."""
    numbers = (column.cells for column in table.columns if column.justify == "right")
    stars = any("*" in str(cell) for cells in numbers for cell in cells)
    table.caption = "\n".join([*notes, *[ALL_AGREE] * stars]) or None
    return table


def undecidable_lines(models: "Mapping[str, Sequence[tuple[str, Rate]]]") -> Iterator[str]:
    """Yield a line for each model with tests that it cannot decide: model → slices with rates."""
    for model, rates in models.items():
        found = [
            f"{name} {rate.undecidable:,} of {rate.n:,}" for name, rate in rates if rate.undecidable
        ]
        if found:
            yield f"{model}: undecidable tests, which fail: {listed(found, _MOST_SLICES)}"


def p_value(value: float | None) -> str:
    """Return a p-value with four decimals."""
    if value is None:
        return NOTHING
    return "<0.0001" if value < 0.0001 else f"{value:.4f}"  # noqa: PLR2004


def points(difference: float | None, interval: Sequence[float] | None) -> str:
    """Return a difference of pass rates in percentage points with its interval."""
    if difference is None:
        return NOTHING
    if interval is None:
        return f"{100 * difference:+.1f}"
    low, high = interval
    return f"{100 * difference:+.1f} [{100 * low:+.1f}, {100 * high:+.1f}]"
