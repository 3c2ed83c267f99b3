"""The commands that convert annotations into NND pairs, show them, and check them."""

from pathlib import Path
from typing import Annotated

import typer

from nnd.metric.app import find_data
from nnd.metric.cli.printing import AsJson, Details, show_result
from nnd.metric.cli.shared_options import DATA


def sources(*, details: Details = False, as_json: AsJson = False) -> None:
    """List the sources that can be converted, with their sets.

    The list shows task, language, licence, rule, number of pairs and variants. Installed packages
    may add sources (entry point group nnd.sources); their distribution is shown after the name.
    """
    from nnd.converters.source import sources as sources_

    found = sources_()
    show_result(found, as_json, value=found.entries(), details=details)


def convert(
    source: Annotated[str, typer.Argument(help="Built-in source, or folder with a source.yaml.")],
    *,
    origin: Annotated[
        Path | None,
        typer.Option(
            "--from", help="Folder or file with the annotations; by default they are downloaded."
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder to write.", show_default="SOURCE-nnd")
    ] = None,
    set_name: Annotated[
        str | None, typer.Option("--set", help="Which of a source's sets of files, e.g. ted/ende.")
    ] = None,
    variant: Annotated[
        str | None, typer.Option(help="Another reading of the same files, e.g. severity.")
    ] = None,
    normalise: Annotated[
        list[str],
        typer.Option(
            metavar="STEP",
            help="Normalise candidates and contexts: nfc, whitespace or detokenise; repeat it for "
            "several. By default texts are not changed.",
        ),
    ] = [],  # noqa: B006 - typer copies it
    accept_changed: Annotated[
        str | None,
        typer.Option(
            metavar="WHY",
            help="Accept files that differ from the declared ones, for this reason; the card "
            "quotes it.",
        ),
    ] = None,
    keep_equal: Annotated[
        bool,
        typer.Option(
            "--keep-equal",
            help="Keep pairs of two equal texts, as some published counts do; they tie, so they "
            "fail.",
        ),
    ] = False,
    details: Details = False,
    as_json: AsJson = False,
) -> None:
    """Convert human annotations into NND pairs and human scores.

    Writes pairs.parquet, human_scores.parquet, annotations.parquet, manifest.json and, where the
    source has any, references.parquet. The convert.py of a folder runs with your permissions: read
    the code of strangers first.

    Example: nnd convert quiz_design
    Example: nnd convert ./my_source --from ratings.csv --out my_source-nnd
    """
    from nnd.converters.folder import convert as convert_

    target = out or Path(f"{Path(source).resolve().name}-nnd")
    conversion = convert_(
        source,
        origin=origin,
        out=target,
        set_name=set_name,
        variant=variant,
        normalise=normalise,
        accept_changed=accept_changed,
        keep_equal=keep_equal,
    )
    show_result(conversion, as_json, details=details, after=[f"written to {target}"])


def show(
    data: Annotated[
        str, typer.Argument(help=f"What to show: {DATA}, or a folder with a source.yaml.")
    ],
    *,
    origin: Annotated[
        Path | None,
        typer.Option(
            "--from",
            help="Folder or file with the annotations of a source, which is converted in memory.",
        ),
    ] = None,
    category: Annotated[
        list[str],
        typer.Option(
            metavar="NAME", help="Only pairs of this error category; repeat it for several."
        ),
    ] = [],  # noqa: B006 - typer copies it
    n: Annotated[int, typer.Option("-n", min=1, help="Largest number of pairs.")] = 5,
    annotations: Annotated[
        bool,
        typer.Option("--annotations", help="Show the annotations of candidates instead of pairs."),
    ] = False,
    details: Annotated[bool, typer.Option("--details", help="Show long texts in full.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show a few pairs; the words that differ are marked.

    Error categories take turns, the most frequent first; within each, pairs are ordered by id.

    Example: nnd show quiz_design -n 3
    Example: nnd show ./my_source --from ratings.csv --annotations
    """
    from nnd.metric.app import show as show_

    examples = show_(
        data if origin is not None else find_data(data),
        origin=origin,
        category=category,
        n=n,
        annotations=annotations,
        whole=details,
    )
    show_result(examples, as_json)


def describe(
    data: Annotated[str, typer.Argument(help=f"What to describe: {DATA}.")],
    *,
    window: Annotated[
        int, typer.Option(metavar="N", min=1, help="Window of MSTTR, in tokens.")
    ] = 100,
    as_json: AsJson = False,
) -> None:
    """Describe better and worse candidates side by side.

    Reports lengths, distinct-n, MSTTR, entropies and Yule's I; with references, also ROUGE, BLEU,
    chrF and local recall. Warns if a surface metric, such as length, would pass the tests.

    Example: nnd describe quiz_design
    """
    from nnd.metric.app import describe as describe_

    show_result(describe_(find_data(data), window=window), as_json)


def validate(
    folder: Annotated[Path, typer.Argument(help="A folder that `nnd convert` wrote.")],
    *,
    as_json: AsJson = False,
) -> None:
    """Check a converted folder and list every problem.

    The exit code is 1 if there are problems.

    Example: nnd validate quiz_design-nnd
    """
    from nnd.converters.folder import validate as validate_

    validation = validate_(folder)
    show_result(validation, as_json, value=[str(finding) for finding in validation])
    raise typer.Exit(0 if validation.ok else 1)
