"""Several datasets at once as tables for a terminal."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.table import Table

from nnd.metric.statistics import ALL_AGREE, rate_and_interval

_NOTHING = "n/a"


def sweep_table(evaluations: Mapping[str, Mapping[str, Any]]) -> Table:
    """Return overall pass rates: a row per dataset, a column per model.

    Args:
        evaluations: Dataset → `Evaluation.to_dict()`.
    """
    rates = {
        name: {result["model"]: result for result in found["results"]}
        for name, found in evaluations.items()
    }
    models = dict.fromkeys(model for of_models in rates.values() for model in of_models)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, caption=ALL_AGREE)
    table.add_column("pass rate, % [95 % interval]")
    table.add_column("n", justify="right")
    for model in models:
        table.add_column(model, justify="right", overflow="fold")
    for name, of_models in rates.items():
        n = next(iter(of_models.values()))["n"]
        table.add_row(name, f"{n:,}", *(_rate(of_models.get(model)) for model in models))
    return table


def _rate(rate: Mapping[str, Any] | None) -> str:
    return _NOTHING if rate is None or rate["pass_rate"] is None else rate_and_interval(rate)


def failure_table(failures: Sequence[Mapping[str, str | None]]) -> Table:
    """Return a table of what could not be done, and why.

    Args:
        failures: `Failure.to_dict()` of each.
    """
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in ("failed: model", "dataset", "reason"):
        table.add_column(column, overflow="fold")
    for failure in failures:
        table.add_row(failure["model"] or "all", failure["dataset"] or "all", failure["reason"])
    return table
