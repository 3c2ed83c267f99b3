"""Results on several datasets as tables for a terminal."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from nnd.metric.numbers import mean_over, short_names
from nnd.metric.show.tables.cells import NOTHING, pass_rate, share
from nnd.schemas import text_table

if TYPE_CHECKING:
    from rich.table import Table


def sweep_table(evaluations: Mapping[str, Mapping[str, Any]]) -> "Table":
    """Return overall pass rates: a row per dataset and a column per model; the last row has means.

    Args:
        evaluations: Dataset → `Evaluation.to_dict()`.
    """
    rates = {
        name: {result["model"]: result for result in evaluation["results"]}
        for name, evaluation in evaluations.items()
    }
    means = mean_over(
        [
            {model: result["pass_rate"] for model, result in of_models.items()}
            for of_models in rates.values()
        ]
    )
    asked = dict.fromkeys(model for of_models in rates.values() for model in of_models)
    models = sorted(asked, key=lambda model: -(means.get(model) or 0.0))  # the best first
    titles = ["pass rate, % [95 % interval]", "tests", *short_names(models)]
    table = text_table(titles, right=titles[1:])
    for name, of_models in rates.items():
        n = next(iter(of_models.values()))["n"]
        table.add_row(name, f"{n:,}", *(_rate(of_models, model) for model in models))
    if len(rates) > 1:
        table.add_section()
        shown = [share(means.get(model)) for model in models]
        table.add_row(f"mean over {len(rates)} datasets", "", *shown, style="bold")
    return table


def _rate(of_models: Mapping[str, Mapping[str, Any]], model: str) -> str:
    return pass_rate(of_models[model]) if model in of_models else NOTHING


def failure_table(failures: Sequence[Mapping[str, str | None]]) -> "Table":
    """Return the models and datasets that failed, with the reasons.

    Args:
        failures: `Failure.to_dict()` of each.
    """
    table = text_table(("failed: model", "dataset", "reason"), prose=["reason"])
    for failure in failures:
        table.add_row(failure["model"] or "all", failure["dataset"] or "all", failure["reason"])
    return table
