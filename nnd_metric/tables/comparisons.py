"""Comparisons of models as tables for a terminal: verdicts, and differences by slice."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from nnd.metric.drawing import short_names
from nnd.metric.tables.cells import NOTHING, p_value, points, share, slices
from nnd.schemas import text_table

if TYPE_CHECKING:
    from rich.table import Table

_UNDECIDED, _UNTESTED = "not significant", "not tested"
_DIFFER = {"undecided": "no", "untested": _UNTESTED}


def verdict_table(comparisons: Sequence[Mapping[str, Any]]) -> "Table":
    """Return the difference over all tests: a row per two models, the better one first.

    For several datasets, there is a block of rows for each.

    Args:
        comparisons: `Comparison.to_dict()` of each.
    """
    models = list(dict.fromkeys(each[side] for each in comparisons for side in ("a", "b")))
    names = dict(zip(models, short_names(models), strict=True))
    datasets = list(dict.fromkeys(each["data"] for each in comparisons))
    first = ["dataset", "models"] if len(datasets) > 1 else ["models"]
    titles = [*first, "points ahead [95 %]", "p", "differ"]
    table = text_table(titles, right=titles[-3:-1], prose=first)
    for data in datasets:
        of_data = [each for each in comparisons if each["data"] == data]
        for each in sorted(of_data, key=_rates, reverse=True):
            overall, a, b = each["overall"], names[each["a"]], names[each["b"]]
            ahead = overall["difference"] >= 0
            table.add_row(
                *([data] if len(datasets) > 1 else []),
                f"{a} against {b}" if ahead else f"{b} against {a}",
                _difference(overall, 1 if ahead else -1),
                p_value(overall["p"]),
                _DIFFER.get(overall["verdict"], "yes"),
            )
        table.add_section()
    return table


def comparison_table(comparison: Mapping[str, Any]) -> "Table":
    """Return two models on the same pairs: a row per slice."""
    a, b = comparison["a"], comparison["b"]
    titles = ["pass rate, %", "tests", a, b, "difference, points [95 %]", "only first passes"]
    titles += ["only second passes", "p (McNemar)", "p (Holm)", "tests for 2 points, before Holm"]
    table = text_table([*titles, "better"], right=titles[1:])
    better = {"a": a, "b": b, "undecided": _UNDECIDED, "untested": _UNTESTED}
    table.add_row("overall", *_compared(comparison["overall"], better), style="bold")
    for key, title in slices([comparison]):
        table.add_section()
        for value, each in comparison[key].items():
            table.add_row(f"{title}: {value}", *_compared(each, better))
    return table


def _rates(comparison: Mapping[str, Any]) -> tuple[float, float]:
    """Return the two pass rates, the higher one first."""
    overall = comparison["overall"]
    low, high = sorted((overall["pass_rate_a"], overall["pass_rate_b"]))
    return high, low


def _compared(difference: Mapping[str, Any], better: Mapping[str, str]) -> list[str]:
    rates = (difference["pass_rate_a"], difference["pass_rate_b"])
    if difference["n"] == 0:
        return ["0", *[NOTHING] * 9]
    return [
        f"{difference['n']:,}",
        *map(share, rates),
        _difference(difference),
        f"{difference['only_a']:,}",
        f"{difference['only_b']:,}",
        p_value(difference["p"]),
        p_value(difference["p_holm"]),
        NOTHING if difference["needed"] is None else f"{difference['needed']['tests']:,}",
        better[difference["verdict"]],
    ]


def _difference(difference: Mapping[str, Any], sign: int = 1) -> str:
    """Return the difference a - b in points with its interval; b - a if the sign is -1."""
    bounds = difference["interval"] and sorted(sign * bound for bound in difference["interval"])
    return points(sign * difference["difference"], bounds)
