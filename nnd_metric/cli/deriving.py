"""The commands that derive data from data: perturbed pairs, negatives, and suites."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from nnd.metric.app import find_data
from nnd.metric.cli.printing import AsJson, show_result
from nnd.schemas import NNDError


def derive(
    data: Annotated[
        str | None,
        typer.Argument(
            metavar="DATA", help="Converted folder, or built-in source.", show_default=False
        ),
    ] = None,
    *,
    chosen: Annotated[
        list[str],
        typer.Option(
            "--op",
            metavar="OP",
            help="An operation of --list, or path.py:function; repeat it for several.",
        ),
    ] = [],  # noqa: B006 - typer copies it
    out: Annotated[
        Path | None, typer.Option(help="Folder to write.", show_default="DATA-suite")
    ] = None,
    seed: Annotated[int, typer.Option(help="Random seed.")] = 0,
    variants: Annotated[int, typer.Option(help="Number of variants of each text.")] = 1,
    on: Annotated[
        Literal["context", "candidate", "both"] | None,
        typer.Option(
            help="Which texts to change.", show_default="the texts that each operation is made for"
        ),
    ] = None,
    negatives: Annotated[
        Literal["preferred", "references", "fake_references"] | None,
        typer.Option(
            help="Make negatives from these right texts instead: preferred candidates, "
            "references, or the candidate of each context with the highest ROUGE-L against "
            "it.",
            show_default="perturb pairs",
        ),
    ] = None,
    aspect: Annotated[
        str | None,
        typer.Option(help="With --negatives: aspect of the pairs.", show_default="the only one"),
    ] = None,
    listed: Annotated[
        bool, typer.Option("--list", help="List the operations, each with an example.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Perturb the pairs of a converted folder, or make negatives.

    Writes a suite: a copy of the folder with the parents, and sets/NAME.parquet for each operation.
    A function from a file runs with your permissions: read the code of strangers first. To look at
    a set: nnd show OUT/sets/NAME.parquet.

    Example: nnd derive quiz_design-nnd --op typos=0.05 --op numbers --seed 1
    Example: nnd derive confit_samsum-nnd --negatives preferred --op swap_speakers
    Example: nnd derive --list
    """
    from nnd.converters.make import derive as derive_, operations as operations_

    if listed:
        show_result(operations_(), as_json)
        return
    if data is None:
        raise NNDError(
            "DATA is missing; name a converted folder, or list the operations with --list"
        )
    target = out or Path(f"{Path(data).resolve().name}-suite")
    report = derive_(
        find_data(data),
        chosen,
        out=target,
        seed=seed,
        variants=variants,
        on=on,
        negatives=negatives,
        aspect=aspect,
    )
    show_result(report, as_json)


def suite(
    action: Annotated[Literal["build"], typer.Argument(help="Action; the only one is build.")],  # noqa: ARG001
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
    the same bytes. A definition may run Python functions: read the code of strangers first.

    Example: nnd suite build quiz_design --out quiz_design-suite
    Example: nnd suite build suite.yaml --data my_source-nnd --out my_suite
    """
    from nnd.metric.app import suite as suite_

    target = out or Path(f"{definition.stem}-suite")
    folder = None if data is None else find_data(data)
    show_result(suite_(definition, out=target, data=folder), as_json)
