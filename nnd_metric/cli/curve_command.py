"""The command that draws pass rates during training; `cli` registers it. Imports are local."""

from pathlib import Path
from typing import Annotated

import typer

from nnd.metric.cli.printing import AsJson, Details, show_result


def curve(
    histories: Annotated[
        list[Path],
        typer.Argument(
            metavar="HISTORY",
            help="Files that NNDCallback wrote while training, or folders that nnd evaluate "
            "--checkpoints wrote.",
        ),
    ],
    *,
    out: Annotated[Path, typer.Option(help="The figure, .svg or .png.")] = Path("curve.svg"),
    category: Annotated[
        list[str],
        typer.Option(
            help="Category to show beside all tests; repeat it for several.",
            show_default="all",
        ),
    ] = [],  # noqa: B006 - typer copies it
    details: Details = False,
    as_json: AsJson = False,
) -> None:
    """Draw pass rates over training steps, by category.

    Example: nnd curve run-a/nnd_history.jsonl run-b/nnd_history.jsonl --out curve.png
    Example: nnd curve scored --out curve.svg
    """
    from nnd.metric.train import curve as curve_

    found = curve_(histories, out, categories=category)
    show_result(found, as_json, details=details, after=[f"written to {out}"])
