"""Pass rates of slices as tables for a terminal."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from nnd.metric.numbers import ALL_AGREE, do_all_agree, short_names
from nnd.metric.show.tables.cells import p_value, pass_rate, points
from nnd.schemas import text_table

if TYPE_CHECKING:
    from rich.table import Table

_SIGNS = {"below": " ↓", "above": " ↑", "undecided": ""}
_EXPLAINED = "↓ ↑: significantly below or above the rest of the tests"


def slice_rates_table(slices: Mapping[str, Any]) -> "Table":
    """Return pass rates in per cent with their intervals: a row per slice, a column per model.

    Args:
        slices: `Slices.to_dict()`.
    """
    of_all = slices["overall"]
    models = sorted(of_all, key=lambda model: -(of_all[model]["pass_rate"] or 0.0))
    named = short_names(models)
    titles = ["pass rate, % [95 %]", "tests", "contexts", *named]
    table = text_table(titles, right=titles[1:], prose=titles[:1])
    overall = [of_all[model] for model in models]
    _add(table, "overall", overall[0], [pass_rate(each) for each in overall], end_section=True)
    axes = [each["axis"] for each in slices["slices"]]
    shown = []
    for place, each in enumerate(slices["slices"]):
        of_models = [each["models"][model] for model in models]
        cells = [f"{pass_rate(f['rate'])}{_SIGNS[f['from_rest']['verdict']]}" for f in of_models]
        ends = place + 1 < len(axes) and axes[place + 1] != each["axis"]
        _add(table, each["name"], each, cells, end_section=ends)
        shown += of_models
    rates = [*overall, *(each["rate"] for each in shown)]
    marked = any(each["from_rest"]["verdict"] != "undecided" for each in shown)
    notes = [_EXPLAINED] * marked + [ALL_AGREE] * any(map(do_all_agree, rates))
    table.caption = "\n".join(notes) or None
    return table


def _add(
    table: "Table", name: str, counts: Mapping[str, Any], cells: list[str], *, end_section: bool
) -> None:
    table.add_row(
        name, f"{counts['n']:,}", f"{counts['contexts']:,}", *cells, end_section=end_section
    )


def from_rest_table(slices: Mapping[str, Any]) -> "Table":
    """Return the difference of every slice from the rest: a row per slice and model.

    Args:
        slices: `Slices.to_dict()`.
    """
    models = [*slices["overall"]]
    titles = ["slice", "model", "tests", "points from the rest [95 %]", "p", "p (Holm)", "verdict"]
    table = text_table(titles, right=titles[2:6], prose=titles[:1])
    for each in slices["slices"]:
        for model, name in zip(models, short_names(models), strict=True):
            difference = each["models"][model]["from_rest"]
            table.add_row(
                each["name"],
                name,
                f"{each['n']:,}",
                points(difference["difference"], difference["interval"]),
                p_value(difference["p"]),
                p_value(difference["p_holm"]),
                "not significant"
                if difference["verdict"] == "undecided"
                else difference["verdict"],
            )
    return table
