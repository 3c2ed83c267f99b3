"""Results on several datasets as tables for a terminal."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from nnd.metric.numbers import Rate, mean_over, short_names
from nnd.metric.show.tables.cells import share
from nnd.metric.show.tables.pass_rates import add_rates
from nnd.schemas import text_table

if TYPE_CHECKING:
    from rich.table import Table

    from nnd.metric.run import Failure


def sweep_table(datasets: Mapping[str, Mapping[str, Rate]]) -> "Table":
    """Return overall pass rates: a row per dataset and a column per model; the last row has means.

    Args:
        datasets: Dataset → model → its rate.
    """
    means = mean_over(
        [{model: rate.pass_rate for model, rate in rates.items()} for rates in datasets.values()]
    )
    asked = dict.fromkeys(model for rates in datasets.values() for model in rates)
    models = sorted(asked, key=lambda model: -(means.get(model) or 0.0))  # the best first
    titles = ["pass rate, % [95 % interval]", "tests", *short_names(models)]
    table = text_table(titles, right=titles[1:])
    for name, rates in datasets.items():
        add_rates(table, name, [rates.get(model) for model in models])
    if len(datasets) > 1:
        table.add_section()
        shown = [share(means.get(model)) for model in models]
        table.add_row(f"mean over {len(datasets)} datasets", "", *shown, style="bold")
    return table


def failure_table(failures: Sequence["Failure"]) -> "Table":
    """Return the models and datasets that failed, with the reasons."""
    table = text_table(("failed: model", "dataset", "reason"), prose=["reason"])
    for failure in failures:
        table.add_row(failure.model or "all", failure.dataset or "all", failure.reason)
    return table
