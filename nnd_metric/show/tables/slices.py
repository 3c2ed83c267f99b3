"""Pass rates of slices as tables for a terminal."""

from itertools import groupby
from typing import TYPE_CHECKING

from nnd.metric.numbers import Difference, short_names
from nnd.metric.show.tables.cells import explain_stars, pass_rate, undecidable_lines
from nnd.metric.show.tables.differences import difference_table, verdict_cell
from nnd.schemas import text_table

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.table import Table

    from nnd.metric.numbers import Rate, Slices

_EXPLAINED = "↓ ↑: significantly below or above the rest of the tests"
_MARKS = {"first": " ↑", "second": " ↓"}


def slice_rates_table(slices: "Slices") -> "Table":
    """Return pass rates in per cent with their intervals: a row per slice, a column per model."""
    models = sorted(slices.overall, key=lambda model: -(slices.overall[model].pass_rate or 0.0))
    titles = ["pass rate, % [95 %]", "tests", f"{slices.noun}s", *short_names(models)]
    table = text_table(titles, right=titles[1:], prose=titles[:1])
    verdicts: set[str] = set()

    def add(name: str, of_models: list[tuple["Rate", str]]) -> None:
        rate = of_models[0][0]
        cells = (
            pass_rate(rate.pass_rate, rate.interval) + _MARKS.get(verdict, "")
            for rate, verdict in of_models
        )
        table.add_row(name, f"{rate.n:,}", f"{rate.clusters:,}", *cells)
        verdicts.update(verdict for _, verdict in of_models)

    add("overall", [(slices.overall[model], "") for model in models])
    for _, of_axis in groupby(slices.slices, lambda each: each.axis):
        table.add_section()
        for each in of_axis:
            rates = [each.models[model] for model in models]
            add(each.name, [(rate.rate, rate.from_rest.verdict) for rate in rates])
    undecidable = {
        name: [
            ("all", slices.overall[model]),
            *((each.name, each.models[model].rate) for each in slices.slices),
        ]
        for model, name in zip(models, short_names(models), strict=True)
    }
    arrows = [_EXPLAINED] * bool(verdicts & _MARKS.keys())
    return explain_stars(table, *arrows, *undecidable_lines(undecidable))


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
