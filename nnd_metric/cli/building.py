"""The command that builds suites."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from nnd.metric.cli.datasets import find_data
from nnd.metric.cli.printing import AsJson, show_result


def suite(
    action: Annotated[Literal["build"], typer.Argument(help="What to do: build.")],  # noqa: ARG001
    definition: Annotated[
        Path,
        typer.Argument(help="YAML file, or a built-in definition: quiz_design, summeval, wmt_mqm."),
    ],
    *,
    out: Annotated[
        Path | None, typer.Option(help="Folder to write.", show_default="DEFINITION-suite")
    ] = None,
    data: Annotated[
        str | None,
        typer.Option(
            help="Folder converted from the definition's source.",
            show_default="the built-in source",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Build a suite: perturbed sets, slices, samples of a source.

    Writes the folder of the human pairs and sets/NAME.parquet for each set; the same input gives
    the same bytes. A definition may name functions of its own: read a stranger's before.

    Example: nnd suite build quiz_design --out quiz_design-suite
    Example: nnd suite build suite.yaml --data my_source-nnd --out my_suite
    """
    from nnd.metric.cli.suites import suite as suite_

    target = out or Path(f"{definition.stem}-suite")
    folder = None if data is None else find_data(data)
    show_result(suite_(definition, out=target, data=folder), as_json)
