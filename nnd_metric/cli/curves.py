"""The command that shows watched trainings; `cli` registers it. Imports stand inside, as there."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nnd.metric.cli.printing import AsJson, show

if TYPE_CHECKING:
    from rich.table import Table


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
    shown: list[Table | str] = [found.table(), *found.notes]
    told = found.to_dict()["runs"]
    shown += [
        f"{run['name']}: scoring took {100 * run['share_of_time']:.1f} % of the time of training"
        for run in told
    ]
    shown += [run["signature"] for run in told]
    show(found.to_dict(), as_json, *shown, f"written to {out}")
