"""Comparisons of models as tables for a terminal."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.table import Table

from nnd.metric.tables.cells import NOTHING, p_value, share, slices


def comparison_table(comparison: Mapping[str, Any]) -> Table:
    """Two models on the same pairs: a row per slice."""
    a, b = comparison["a"], comparison["b"]
    table = _table("pass rate, %")
    for title in ("n", a, b, "difference, points [95 %]", "only first", "only second"):
        table.add_column(title, justify="right", overflow="fold")
    for title in ("p (McNemar)", "p (Holm)", "tests for 2 points, before Holm"):
        table.add_column(title, justify="right")
    table.add_column("better", overflow="fold")
    better = {"a": a, "b": b, "undecided": "cannot tell"}
    table.add_row("overall", *_compared(comparison["overall"], better), style="bold")
    for key, title in slices([comparison]):
        table.add_section()
        for value, each in comparison[key].items():
            table.add_row(f"{title}: {value}", *_compared(each, better))
    return table


def comparisons_table(comparisons: Sequence[Mapping[str, Any]]) -> Table:
    """Several comparisons of two models: a row each, of the difference over all tests."""
    table = _table("pass rate, %", "against")
    for title in ("n", "first", "second", "difference, points [95 %]", "p (McNemar)"):
        table.add_column(title, justify="right")
    table.add_column("better", overflow="fold")
    for each in comparisons:
        a, b = each["a"], each["b"]
        cells = _compared(each["overall"], {"a": a, "b": b, "undecided": "cannot tell"})
        table.add_row(a, b, *cells[:4], cells[6], cells[9])
    return table


def _table(*columns: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        table.add_column(column)
    return table


def _compared(found: Mapping[str, Any], better: Mapping[str, str]) -> list[str]:
    rates = (found["pass_rate_a"], found["pass_rate_b"])
    if found["n"] == 0:
        return ["0", *[NOTHING] * 9]
    interval = ""
    if found["interval"] is not None:
        interval = " [{:+.1f}, {:+.1f}]".format(*(100 * bound for bound in found["interval"]))
    return [
        f"{found['n']:,}",
        *map(share, rates),
        f"{100 * found['difference']:+.1f}{interval}",
        f"{found['only_a']:,}",
        f"{found['only_b']:,}",
        p_value(found["p"]),
        p_value(found["p_holm"]),
        NOTHING if found["needed"] is None else f"{found['needed']['tests']:,}",
        better[found["verdict"]],
    ]
