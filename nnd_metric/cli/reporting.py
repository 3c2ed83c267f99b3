"""The command that shows stored runs; `cli` registers it. Imports are local."""

import shlex
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from nnd.metric.app import find_data, one_or_several
from nnd.metric.cli.printing import AsJson, show_result
from nnd.metric.cli.shared_options import (
    DATA,
    HumanScores,
    MixedRules,
    Runs,
    ScoredSplits,
    Systems,
    read_of_models,
)


def report(
    runs: Runs,
    *,
    data: Annotated[
        list[str],
        typer.Option(
            metavar="DATA",
            help=f"The pairs that were scored, because a run does not store their texts: {DATA}; "
            "repeat it for several.",
            show_default="ids instead of texts",
        ),
    ] = [],  # noqa: B006 - typer copies it
    human_scores: HumanScores = None,
    out: Annotated[Path, typer.Option(help="Path of the page.")] = Path("report.html"),
    figures: Annotated[
        Path | None, typer.Option(help="Folder for a PNG and an SVG file of each figure.")
    ] = None,
    system: Systems = [],  # noqa: B006 - typer copies it
    family: Annotated[
        list[str],
        typer.Option(
            metavar="MODEL=FAMILY",
            help="Model family; a line joins the models of a family by size.",
        ),
    ] = [],  # noqa: B006
    by: Annotated[
        list[str],
        typer.Option(
            metavar="AXIS,…",
            help="Also show slices of the pairs, by the axes of `nnd slice`, such as length.",
        ),
    ] = [],  # noqa: B006
    split: ScoredSplits = [],  # noqa: B006
    mixed_rules: MixedRules = False,
    as_json: AsJson = False,
) -> None:
    """Show stored runs as one HTML page.

    The page works offline and needs no other file. No model is run.

    With runs of several datasets, the page has a summary and a part for each dataset.

    Example: nnd report run --data quiz_design-nnd --out report.html --figures figures
    Example: nnd report runs/frank runs/summeval --data frank --data summeval
    """
    from nnd.metric.show import report as report_

    page = report_(
        runs,
        out,
        figures=figures,
        data=one_or_several(data),
        human_scores=None if human_scores is None else find_data(human_scores),
        systems=read_of_models("system", system),
        families=read_of_models("family", family),
        by=by,
        splits=split,
        mixed_rules=mixed_rules,
        day=datetime.now(tz=UTC).date(),
        command=shlex.join(["nnd", *sys.argv[1:]]),
    )
    show_result(page, as_json)
