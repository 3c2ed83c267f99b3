"""Commands for adding a source."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nnd.metric.cli.printing import AsJson, Details, parts_of, show_result
from nnd.schemas import excerpt

if TYPE_CHECKING:
    from nnd.converters.onboard import Question


def new_source(
    name: Annotated[str, typer.Argument(help="Name of the source: a-z, 0-9 and underscores.")],
    *,
    file: Annotated[
        list[Path],
        typer.Option(
            "--from",
            help="Annotation file (csv, tsv, jsonl, json, xlsx or parquet), or a folder of them; "
            "repeat it for several of one shape.",
        ),
    ],
    out: Annotated[
        Path | None, typer.Option(help="Folder to make.", show_default="the name of the source")
    ] = None,
    context: Annotated[
        list[str],
        typer.Option(metavar="COLUMN", help="A part of the context; repeat it for several."),
    ] = [],  # noqa: B006
    candidate: Annotated[
        list[str],
        typer.Option(
            metavar="COLUMN", help="The generated text; repeat it where a row has several."
        ),
    ] = [],  # noqa: B006
    system: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The system that wrote it, or `none`.")
    ] = None,
    context_id: Annotated[
        list[str],
        typer.Option(
            metavar="COLUMN", help="The key of the context; repeat it for a key of several columns."
        ),
    ] = [],  # noqa: B006
    candidate_id: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The key of the candidate.")
    ] = None,
    category: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The category of the context.")
    ] = None,
    split: Annotated[str | None, typer.Option(metavar="COLUMN", help="The split.")] = None,
    group: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Compare candidates only within one value of this, in addition to the context.",
        ),
    ] = None,
    annotator: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The annotator, if a row is one judgement.")
    ] = None,
    each: Annotated[
        list[str],
        typer.Option(
            metavar="PATH",
            help="JSON objects whose keys are data, e.g. names of systems; `.` means the file "
            "itself.",
        ),
    ] = [],  # noqa: B006
    label: Annotated[
        list[str],
        typer.Option(
            metavar="COLUMN",
            help="A label or list of labels for one aspect; repeat it for several.",
        ),
    ] = [],  # noqa: B006
    error: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="The error categories of a bad text, or `none`."),
    ] = None,
    mark: Annotated[
        list[str],
        typer.Option(
            metavar="COLUMN",
            help="A column that marks an error of this name; repeat it for several.",
        ),
    ] = [],  # noqa: B006
    score: Annotated[
        list[str],
        typer.Option(
            metavar="COLUMN",
            help="A score (higher is better) for one aspect; repeat it for several.",
        ),
    ] = [],  # noqa: B006
    rating: Annotated[
        list[str],
        typer.Option(
            metavar="COLUMN",
            help="The rating of one annotator; repeat it for further annotators "
            "of the same aspect.",
        ),
    ] = [],  # noqa: B006
    aspect: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The name of the aspect of each row.")
    ] = None,
    higher: Annotated[
        list[str],
        typer.Option(
            metavar="COLUMN",
            help="A column in which higher is better, whatever its name "
            "suggests; repeat it for several.",
        ),
    ] = [],  # noqa: B006
    lower: Annotated[
        list[str],
        typer.Option(
            metavar="COLUMN", help="A column in which lower is better; repeat it for several."
        ),
    ] = [],  # noqa: B006
    better: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="The better one of two texts in a row, or a column with the verdict.",
        ),
    ] = None,
    verdict: Annotated[
        list[str],
        typer.Option(
            metavar="CELL=COLUMN",
            help="The meaning of a verdict: a text, or `tie`; repeat it for several.",
        ),
    ] = [],  # noqa: B006
    separator: Annotated[
        str | None,
        typer.Option(metavar="MARK", help="The separator of several labels in a cell, or `none`."),
    ] = None,
    no_error: Annotated[
        str | None, typer.Option(metavar="LABEL", help="The label of a text without an error.")
    ] = None,
    order: Annotated[
        list[str],
        typer.Option(metavar="LABEL", help="Labels from best to worst; repeat it for each."),
    ] = [],  # noqa: B006
    high: Annotated[
        list[float],
        typer.Option(
            help="A score that counts as high, while all others count as "
            "low; repeat it for several."
        ),
    ] = [],  # noqa: B006
    minimum: Annotated[
        float | None, typer.Option(help="Smallest difference between scores that counts.")
    ] = None,
    top: Annotated[
        float | None, typer.Option(help="The rating that a majority must give a good candidate.")
    ] = None,
    sheet: Annotated[
        str | None, typer.Option(help="Sheet of a workbook.", show_default="the first")
    ] = None,
    details: Details = False,
    as_json: AsJson = False,
) -> None:
    """Guess the columns of annotation files and write a source.

    The command asks for what it cannot guess, unless an option gives it, and lists what it does not
    read. Columns of nested JSON are named by their keys: outputs.text.

    Example: nnd new-source my_ratings --from ratings.csv
    """
    from nnd.converters.onboard import Answers, new_source as new_source_

    answers = Answers(
        context=tuple(context),
        candidate=tuple(candidate),
        system=system,
        context_id=tuple(context_id),
        candidate_id=candidate_id,
        category=category,
        split=split,
        group=group,
        annotator=annotator,
        each=tuple(each),
        label=tuple(label),
        error=error,
        mark=tuple(mark),
        score=tuple(score),
        rating=tuple(rating),
        aspect=aspect,
        higher=tuple(higher),
        lower=tuple(lower),
        better=better,
        verdict=tuple(verdict),
        separator=separator,
        no_error=no_error,
        order=tuple(order),
        high=tuple(high),
        minimum=minimum,
        top=top,
    )
    ask = _ask if sys.stdin.isatty() and sys.stderr.isatty() else None
    made = new_source_(name, file, out, answers=answers, sheet=sheet, ask=ask)
    show_result(made, as_json, details=details, after=parts_of(made.examples))


def check_source(
    source: Annotated[str, typer.Argument(help="Name of a source, or folder with a source.yaml.")],
    *,
    origin: Annotated[
        list[Path],
        typer.Option(
            "--from",
            help="Folder or file with the annotations; repeat it for several.",
            show_default="those in the source's folder or the download cache, if any",
        ),
    ] = [],  # noqa: B006
    fixture_only: Annotated[
        bool, typer.Option("--fixture-only", help="Skip all checks that need the real files.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Check a source as a reviewer would, and say how to fix it.

    This runs the source's convert.py, with a clean environment and an empty home folder, under
    bwrap or unshare -rn if available; the check `outside` says which. Without bwrap, read the code
    of strangers first. The exit code is 1 if a check fails. Nothing is downloaded; checks that need
    the real files are skipped without them.

    Example: nnd check-source ./my_ratings --from ratings.csv
    """
    from nnd.converters.onboard import check_source as check_source_

    report = check_source_(source, *origin, fixture_only=fixture_only)
    checks = report.to_dict()["checks"]
    show_result(report, as_json, value=checks, after=parts_of(report.examples))
    raise typer.Exit(0 if report.ok else 1)


def _ask(question: "Question") -> Sequence[str]:
    """Ask the user at the terminal to choose by number."""
    typer.echo(f"\n{question.text} ({question.why})", err=True)
    for number, choice in enumerate(question.choices, start=1):
        sample = f"   {excerpt(question.samples[number - 1], 100)}" if question.samples else ""
        typer.echo(f"  {number}  {choice}{sample}", err=True)
    while True:
        several = ", several separated by spaces" if question.many else ""
        answer = str(
            typer.prompt(
                f"Number{several} (or stop and use {question.usage or question.flag})", err=True
            )
        )
        numbers = answer.split()
        in_range = [n for n in numbers if n.isdecimal() and 1 <= int(n) <= len(question.choices)]
        if numbers == in_range and (question.many or len(numbers) == 1):
            return [question.choices[int(number) - 1] for number in numbers]
        typer.echo(f"a number from 1 to {len(question.choices)}", err=True)
