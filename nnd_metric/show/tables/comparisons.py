"""Comparisons of models as tables for a terminal: verdicts, and differences by slice."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from nnd.metric.numbers import short_names
from nnd.metric.show.tables.cells import NOTHING, p_value, points, share, slices
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


def rates_table(comparisons: Sequence[Mapping[str, Any]]) -> "Table | None":
    """Return pass rates by slice, the best model first; None if not all share the same tests.

    Args:
        comparisons: `Comparison.to_dict()` of each, on one dataset.
    """
    if any(each["only_in_a"] or each["only_in_b"] for each in comparisons):
        return None
    of_models = {
        each[side]: (number, f"pass_rate_{side}")
        for number, each in enumerate(comparisons)
        for side in ("a", "b")
    }

    def rates(found: Sequence[Mapping[str, Any]]) -> dict[str, float | None]:
        return {model: found[number][key] for model, (number, key) in of_models.items()}

    overall = rates([each["overall"] for each in comparisons])
    models = sorted(of_models, key=lambda model: -(overall[model] or 0.0))
    titles = ["pass rate, %", "tests", *short_names(models)]
    table = text_table(titles, right=titles[1:])
    for label, found in _by_slice(comparisons):
        shown = rates(found)
        table.add_row(label, f"{found[0]['n']:,}", *(share(shown[model]) for model in models))
    return table


def ahead_table(comparison: Mapping[str, Any]) -> "Table":
    """Return by how much the better of two models is ahead: a row per slice."""
    a, b = short_names([comparison["a"], comparison["b"]])
    overall = comparison["overall"]
    sign = 1 if (overall["difference"] or 0) >= 0 else -1
    title = f"{a} against {b}" if sign > 0 else f"{b} against {a}"
    titles = [title, "tests", "points ahead [95 %]", "p (Holm)", "differ"]
    table = text_table(titles, right=titles[1:-1], prose=[title])
    for label, (each,) in _by_slice([comparison]):
        table.add_row(label, *_ahead(each, sign))
    needed = overall["needed"]
    if needed is not None and overall["verdict"] != "undecided":  # else a sentence has it
        table.caption = (
            f"to detect 2 points takes about {needed['tests']:,} tests of "
            f"{needed['contexts']:,} contexts like these"
        )
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


def _by_slice(
    comparisons: Sequence[Mapping[str, Any]],
) -> Iterator[tuple[str, list[Mapping[str, Any]]]]:
    """Yield label and differences of all tests, then of each slice."""
    yield "overall", [each["overall"] for each in comparisons]
    for key, title in slices(comparisons[:1]):
        for value in comparisons[0][key]:
            yield f"{title}: {value}", [each[key][value] for each in comparisons]


def _ahead(difference: Mapping[str, Any], sign: int) -> list[str]:
    if difference["n"] == 0:
        return ["0", *[NOTHING] * 3]
    p = difference["p"] if difference["p_holm"] is None else difference["p_holm"]
    differ = "no" if difference["verdict"] == "undecided" else "yes"
    return [f"{difference['n']:,}", _difference(difference, sign), p_value(p), differ]


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
