"""The command that shows watched trainings; `cli` registers it. Imports stand inside, as there."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nnd.metric.cli.printing import AsJson, show

if TYPE_CHECKING:
    from rich.table import Table

    from nnd.metric.training import Curves, Point


def curve(
    histories: Annotated[
        list[Path],
        typer.Argument(metavar="HISTORY...", help="Files that NNDCallback wrote while training."),
    ],
    *,
    out: Annotated[Path, typer.Option(help="The figure, .svg or .png.")] = Path("curve.svg"),
    category: Annotated[
        list[str],
        typer.Option(
            help="Category to show beside all tests; repeat it for several.",
            show_default="all there are",
        ),
    ] = [],  # noqa: B006 - typer copies it
    as_json: AsJson = False,
) -> None:
    """Draw pass rates over training steps, with intervals, by category.

    Example: nnd curve run-a/nnd_history.jsonl run-b/nnd_history.jsonl --out curve.png
    """
    from nnd.metric.training import curve as curve_

    found = curve_(histories, out, categories=category)
    shown: list[Table | str] = [_table(found), *found.notes]
    told = found.to_dict()["runs"]
    shown += [
        f"{run['name']}: scoring took {100 * run['share_of_time']:.1f} % of the time of training"
        for run in told
    ]
    shown += [run["signature"] for run in told]
    show(found.to_dict(), as_json, *shown, f"written to {out}")


def _table(found: "Curves") -> "Table":
    """Return where each category of each run began and ended."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    from nnd.metric.statistics import WILSON
    from nnd.metric.training import line_of

    columns = ("run", "category", "steps", "first, %", "last, %", "n")
    table = Table(*columns, box=SIMPLE_HEAD, pad_edge=False)
    for run in found.runs:
        for category in found.categories:
            line = line_of(run.entries, category)
            if line:
                (first, at_first), (last, at_last) = line[0], line[-1]
                steps = f"{first:,} to {last:,}"
                rates = _in_words(at_first), _in_words(at_last)
                table.add_row(run.name, category, steps, *rates, f"{at_last.n:,}")
                if any("*" in rate for rate in rates):
                    table.caption = WILSON
    return table


def _in_words(rate: "Point") -> str:
    from nnd.metric.statistics import rate_and_interval

    return rate_and_interval(rate.to_dict())
