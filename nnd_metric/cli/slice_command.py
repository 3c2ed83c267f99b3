"""The command that slices stored runs; `cli` registers it. Imports are local."""

from pathlib import Path
from typing import Annotated

import typer

from nnd.metric.app import find_data
from nnd.metric.cli.printing import AsJson, Details, show_result
from nnd.metric.cli.shared_options import DATA, MixedRules, Runs, ScoredSplits


def slice(  # noqa: A001 - the command's name
    runs: Runs,
    *,
    data: Annotated[
        str | None,
        typer.Option(
            metavar="DATA",
            help=f"The pairs that were scored, because a run does not store their texts: {DATA}.",
        ),
    ] = None,
    by: Annotated[
        list[str],
        typer.Option(
            metavar="AXIS,…",
            help="Axes of the slices: category, error_category, error_group, aspect, system, "
            "language, split, shape[:high|low], length[:words|tokens][:high|low], "
            "sentences[:high|low], turns, candidates, novelty[:low], "
            "nearness[:lengths|bigrams], margin, agreement, or a part of inputs or metadata. "
            "Numbers take edges (length=0,10,20), percentages (length=0%,90%,100%) or "
            "quantiles (length:quantiles=4).",
        ),
    ] = [],  # noqa: B006 - typer copies it
    where: Annotated[
        list[str],
        typer.Option(
            metavar="SQL",
            help="A condition that defines a slice, over the columns of a pair, the numeric axes "
            "and the parts of inputs and metadata; repeat it for several.",
        ),
    ] = [],  # noqa: B006
    name: Annotated[
        list[str],
        typer.Option(
            "--slice",
            metavar="NAME",
            help="Show only this slice, by its name in the table, or slices combined by &, | or "
            "-, with a blank on each side; repeat it for several.",
            show_default="all",
        ),
    ] = [],  # noqa: B006
    find: Annotated[
        bool,
        typer.Option("--find", help="Show only slices significantly below the rest of the tests."),
    ] = False,
    contexts: Annotated[
        int, typer.Option(min=2, help="With --find: smallest number of contexts of a slice.")
    ] = 10,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder to write the only slice to, as a dataset that can be evaluated."),
    ] = None,
    split: ScoredSplits = [],  # noqa: B006
    mixed_rules: MixedRules = False,
    details: Details = False,
    as_json: AsJson = False,
) -> None:
    """Show where models fail: the pass rates of slices.

    No model is run.

    Example: nnd slice run --data quiz_design --by error_category,length,novelty
    Example: nnd slice run --data quiz_design --find
    Example: nnd slice run --by error_category --slice error_category=disfluent
    """
    from nnd.metric.app import slice as slice_

    slices = slice_(
        runs,
        None if data is None else find_data(data),
        by=by,
        where=where,
        names=name,
        find=find,
        contexts=contexts,
        out=out,
        splits=split,
        mixed_rules=mixed_rules,
    )
    written = [f"written to {out}"] if out else []
    show_result(slices, as_json, details=details, after=written)
