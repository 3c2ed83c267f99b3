"""The command that slices stored runs; `cli` registers it. Imports are inside, as there."""

from pathlib import Path
from typing import Annotated

import typer

from nnd.metric.cli.datasets import find_data
from nnd.metric.cli.options import DATA, MixedRules, Runs
from nnd.metric.cli.printing import AsJson, Details, show_result


def slice(  # noqa: A001 - the command's name
    runs: Runs,
    *,
    data: Annotated[
        str | None,
        typer.Option(
            metavar="DATA",
            help=f"The pairs that were scored, whose texts a run does not keep: {DATA}.",
        ),
    ] = None,
    by: Annotated[
        list[str],
        typer.Option(
            metavar="AXIS,…",
            help="What to slice by: category, error_category, error_group, aspect, system, "
            "language, split, shape[:high|low], length[:words|tokens][:high|low], "
            "sentences[:high|low], turns, candidates, novelty[:low], nearness[:lengths|bigrams], "
            "margin, agreement, or a part of inputs or metadata. Numbers take edges "
            "(length=0,10,20), percentages (length=0%,90%,100%) or quantiles "
            "(length:quantiles=4).",
        ),
    ] = [],  # noqa: B006 - typer copies it
    where: Annotated[
        list[str],
        typer.Option(
            metavar="SQL",
            help="A condition that makes a slice, over the columns of a pair, the axes of numbers "
            "and the parts of inputs and metadata; repeat it.",
        ),
    ] = [],  # noqa: B006
    name: Annotated[
        list[str],
        typer.Option(
            "--slice",
            metavar="NAME",
            help="Show this slice only, as the table calls it, or several joined by &, | or -, "
            "with a blank on each side; repeat it.",
            show_default="all",
        ),
    ] = [],  # noqa: B006
    find: Annotated[
        bool,
        typer.Option("--find", help="Show only slices significantly below the rest of the tests."),
    ] = False,
    contexts: Annotated[
        int, typer.Option(min=2, help="With --find: how many contexts a slice needs.")
    ] = 10,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for the one slice, as a dataset that can be evaluated."),
    ] = None,
    mixed_rules: MixedRules = False,
    details: Details = False,
    as_json: AsJson = False,
) -> None:
    """Show where models fail: the pass rates of slices.

    Nothing is scored again.

    Example: nnd slice run --data quiz_design --by error_category,length,novelty
    Example: nnd slice run --data quiz_design --find
    Example: nnd slice run --by error_category --slice error_category=disfluent
    """
    from nnd.metric.cli.slicing import slice as slice_

    found = slice_(
        runs,
        None if data is None else find_data(data),
        by=by,
        where=where,
        names=name,
        find=find,
        contexts=contexts,
        out=out,
        mixed_rules=mixed_rules,
    )
    written = [f"written to {out}"] if out else []
    show_result(found, as_json, details=details, after=written)
