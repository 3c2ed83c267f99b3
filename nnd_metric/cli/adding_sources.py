"""Commands for adding a source."""

import sys
from collections.abc import Iterator, Sequence
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_type_hints

import typer

from nnd.converters.onboard import Answers
from nnd.metric.cli.printing import AsJson, Details, parts_of, show_result
from nnd.schemas import describe_fields, excerpt

if TYPE_CHECKING:
    from nnd.converters.onboard import Question

_METAVARS = {
    "each": "PATH",
    "verdict": "CELL=COLUMN",
    "separator": "MARK",
    "no_error": "LABEL",
    "order": "LABEL",
}
"""Answers of other kinds than a column."""


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
    sheet: Annotated[
        str | None, typer.Option(help="Sheet of a workbook.", show_default="the first")
    ] = None,
    details: Details = False,
    as_json: AsJson = False,
    **answers: Any,  # noqa: ANN401 - each of its own type
) -> None:
    """Guess the columns of annotation files and write a source.

    The command asks for what it cannot guess, unless an option gives it, and lists what it does not
    read. Columns of nested JSON are named by their keys: outputs.text.

    Example: nnd new-source my_ratings --from ratings.csv
    """
    from nnd.converters.onboard import new_source as new_source_

    given: dict[str, Any] = {
        key: tuple(each) if isinstance(each, list) else each for key, each in answers.items()
    }
    ask = _ask if sys.stdin.isatty() and sys.stderr.isatty() else None
    made = new_source_(name, file, out, answers=Answers(**given), sheet=sheet, ask=ask)
    show_result(made, as_json, details=details, after=parts_of(made.examples))


def _options_of_answers() -> Iterator[Parameter]:
    """Yield an option for each answer; those with several values can be repeated."""
    described = describe_fields(Answers)
    for name, kind in get_type_hints(Answers).items():
        value, *more = get_args(kind)
        is_repeated = more == [...]
        option = typer.Option(
            help=described[name].removesuffix(".") + (" (repeatable)." if is_repeated else "."),
            metavar=_METAVARS.get(name, "COLUMN") if value is str else None,
        )
        yield Parameter(
            name,
            Parameter.KEYWORD_ONLY,
            default=[] if is_repeated else None,
            annotation=Annotated[list[value] if is_repeated else kind, option],  # type: ignore[valid-type]
        )


def _with_answers() -> Signature:
    """Return the parameters of `new_source` with an option for each answer."""
    *first, sheet, details, as_json, _ = signature(new_source).parameters.values()
    return Signature([*first, *_options_of_answers(), sheet, details, as_json])


new_source.__signature__ = _with_answers()  # type: ignore[attr-defined]


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
