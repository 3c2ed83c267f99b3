"""Several datasets at once as tables for a terminal."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from nnd.metric.drawing import short_names
from nnd.metric.statistics import mean_over, percent, rate_and_interval
from nnd.schemas import text_table

if TYPE_CHECKING:
    from rich.table import Table

_NOTHING = "n/a"


def sweep_table(evaluations: Mapping[str, Mapping[str, Any]]) -> "Table":
    """Return overall pass rates: a row per dataset, a column per model, the means at the foot.

    Args:
        evaluations: Dataset → `Evaluation.to_dict()`.
    """
    rates = {
        name: {result["model"]: result for result in found["results"]}
        for name, found in evaluations.items()
    }
    models = dict.fromkeys(model for of_models in rates.values() for model in of_models)
    titles = ["pass rate, % [95 % interval]", "tests", *short_names([*models])]
    table = text_table(titles, right=titles[1:])
    for name, of_models in rates.items():
        n = next(iter(of_models.values()))["n"]
        table.add_row(name, f"{n:,}", *(_rate(of_models.get(model)) for model in models))
    if len(rates) > 1:
        table.add_section()
        means = mean_over(
            [
                {model: found["pass_rate"] for model, found in each.items()}
                for each in rates.values()
            ]
        )
        shown = [_NOTHING if mean is None else percent(mean) for mean in map(means.get, models)]
        table.add_row(f"mean over {len(rates)} datasets", "", *shown, style="bold")
    return table


def _rate(rate: Mapping[str, Any] | None) -> str:
    return _NOTHING if rate is None or rate["pass_rate"] is None else rate_and_interval(rate)


def failure_table(failures: Sequence[Mapping[str, str | None]]) -> "Table":
    """Return a table of what could not be done, and why.

    Args:
        failures: `Failure.to_dict()` of each.
    """
    table = text_table(("failed: model", "dataset", "reason"), prose=["reason"])
    for failure in failures:
        table.add_row(failure["model"] or "all", failure["dataset"] or "all", failure["reason"])
    return table
