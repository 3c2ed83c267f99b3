"""Pass rates of slices as tables for a terminal."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from nnd.metric.numbers import ALL_AGREE, Difference, do_all_agree, short_names
from nnd.metric.show.tables.cells import pass_rate
from nnd.metric.show.tables.differences import difference_table, verdict_cell
from nnd.schemas import text_table

if TYPE_CHECKING:
    from rich.table import Table

    from nnd.metric.numbers import Rate, SliceRate, Slices

_EXPLAINED = "↓ ↑: significantly below or above the rest of the tests"


def slice_rates_table(slices: "Slices") -> "Table":
    """Return pass rates in per cent with their intervals: a row per slice, a column per model."""
    models = sorted(slices.overall, key=lambda model: -(slices.overall[model].pass_rate or 0.0))
    titles = ["pass rate, % [95 %]", "tests", "contexts", *short_names(models)]
    table = text_table(titles, right=titles[1:], prose=titles[:1])
    overall = [slices.overall[model] for model in models]
    _add(table, "overall", overall, [pass_rate(each.to_dict()) for each in overall])
    shown = []
    for place, each in enumerate(slices.slices):
        if place == 0 or each.axis != slices.slices[place - 1].axis:
            table.add_section()
        found = [each.models[model] for model in models]
        _add(
            table,
            each.name,
            [one.rate for one in found],
            (pass_rate(one.rate.to_dict()) + _mark(one) for one in found),
        )
        shown += found
    rates = [*overall, *(each.rate for each in shown)]
    notes = [_EXPLAINED] * any(map(_mark, shown))
    notes += [ALL_AGREE] * any(do_all_agree(each.to_dict()) for each in rates)
    table.caption = "\n".join(notes) or None
    return table


def _add(table: "Table", name: str, rates: Sequence["Rate"], cells: Iterable[str]) -> None:
    table.add_row(name, f"{rates[0].n:,}", f"{rates[0].contexts:,}", *cells)


def _mark(found: "SliceRate") -> str:
    return {"first": " ↑", "second": " ↓"}.get(found.from_rest.verdict, "")


def from_rest_table(slices: "Slices") -> "Table":
    """Return the difference of every slice from the rest: a row per slice and model."""
    columns: dict[str, str | Callable[[Difference], str]] = {
        "tests": "n",
        "points from the rest [95 %]": "lead",
        "p": "p",
        "p (Holm)": "p_holm",
        "verdict": verdict_cell("above", "below"),
    }
    names = short_names([*slices.overall])
    rows = [
        ((each.name, name), each.models[model].from_rest)
        for each in slices.slices
        for model, name in zip(slices.overall, names, strict=True)
    ]
    return difference_table(["slice", "model"], columns, [("", rows)], words=["verdict"])
