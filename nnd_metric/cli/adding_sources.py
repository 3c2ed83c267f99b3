"""The commands for who adds a source."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nnd.metric.cli.printing import AsJson, show

if TYPE_CHECKING:
    from rich.table import Table

    from nnd.converters.check_source import Check
    from nnd.converters.new_source.guess import Question
    from nnd.converters.new_source.scaffold import NewSource

_LONGEST_SAMPLE = 40
_OUTCOMES = {"pass": "green", "fail": "bold red", "look": "yellow", "not reached": "dim"}


def new_source(
    name: Annotated[str, typer.Argument(help="Name of the source: a-z, 0-9 and underscores.")],
    *,
    file: Annotated[
        Path,
        typer.Option("--from", help="Annotation file: csv, tsv, jsonl, json, xlsx or parquet."),
    ],
    out: Annotated[
        Path | None, typer.Option(help="Folder to make.", show_default="the name of the source")
    ] = None,
    context: Annotated[
        list[str],
        typer.Option(metavar="COLUMN", help="A part of the context; repeat it for several."),
    ] = [],  # noqa: B006 - typer copies it
    candidate: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The generated text.")
    ] = None,
    system: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The system that wrote it.")
    ] = None,
    context_id: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The context's key.")
    ] = None,
    candidate_id: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The candidate's key.")
    ] = None,
    category: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The context's category.")
    ] = None,
    split: Annotated[str | None, typer.Option(metavar="COLUMN", help="The split.")] = None,
    label: Annotated[
        list[str], typer.Option(metavar="COLUMN", help="A label or list of labels; repeat it.")
    ] = [],  # noqa: B006
    score: Annotated[
        list[str], typer.Option(metavar="COLUMN", help="A score, an aspect each; repeat it.")
    ] = [],  # noqa: B006
    rating: Annotated[
        list[str],
        typer.Option(
            metavar="COLUMN",
            help="One annotator's rating; repeat it: columns whose names differ by who judged are "
            "one aspect.",
        ),
    ] = [],  # noqa: B006
    no_error: Annotated[
        str | None, typer.Option(metavar="LABEL", help="The label that says nothing is wrong.")
    ] = None,
    order: Annotated[
        list[str],
        typer.Option(metavar="LABEL", help="Next label from best to worst; repeat it."),
    ] = [],  # noqa: B006
    high: Annotated[
        list[float], typer.Option(help="A score that is high, all others being low; repeat it.")
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
    as_json: AsJson = False,
) -> None:
    """Look at an annotation file, guess what its columns are, and write a source that converts.

    What cannot be guessed is asked, or said by an option. Columns of nested JSON are called by
    their keys: outputs.text. Example: nnd new-source my_ratings --from ratings.csv
    """
    from nnd.converters.new_source.guess import Answers
    from nnd.converters.new_source.scaffold import new_source as new_source_

    answers = Answers(
        context=tuple(context),
        candidate=candidate,
        system=system,
        context_id=context_id,
        candidate_id=candidate_id,
        category=category,
        split=split,
        label=tuple(label),
        score=tuple(score),
        rating=tuple(rating),
        no_error=no_error,
        order=tuple(order),
        high=tuple(high),
        minimum=minimum,
        top=top,
    )
    ask = _ask if sys.stdin.isatty() and sys.stderr.isatty() else None
    made = new_source_(name, file, out, answers=answers, sheet=sheet, ask=ask)
    tables = [_columns_table(made.to_dict()["columns"]), _left_table(made)]
    show(made.to_dict(), as_json, *tables, *_told(made, file))


def check_source(
    source: Annotated[str, typer.Argument(help="Name of a source, or folder with a source.yaml.")],
    *,
    origin: Annotated[
        Path | None,
        typer.Option(
            "--from",
            help="Folder or file with the annotations.",
            show_default="those in the source's folder or the download cache, if any",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Check a source as a reviewer would: pass, fail or look, each with what to do about it.

    Exits with 1 if anything fails. Nothing is fetched; what needs the real files is not reached
    without them. Example: nnd check-source ./my_ratings --from ratings.csv
    """
    from dataclasses import asdict

    from nnd.converters.check_source import check_source as check

    checks = check(source, origin)
    counts = {name: sum(one.outcome == name for one in checks) for name in _OUTCOMES}
    told = ", ".join(f"{n} {name}" for name, n in counts.items())
    show([asdict(one) for one in checks], as_json, _checks_table(checks), f"{source}: {told}")
    raise typer.Exit(1 if counts["fail"] else 0)


def _checks_table(checks: "Sequence[Check]") -> "Table":
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for title in ("", "checked", "found", "what to do"):
        table.add_column(title)
    for one in checks:
        # Messages quote texts of any kind, which are no markup.
        outcome = Text(one.outcome, _OUTCOMES[one.outcome])
        table.add_row(outcome, one.name, Text(one.message), Text(one.remedy))
    return table


def _ask(question: "Question") -> Sequence[str]:
    """Put a question to the person at the terminal; the answer is numbers of its choices."""
    typer.echo(f"\n{question.text} ({question.why})", err=True)
    for number, choice in enumerate(question.choices, start=1):
        sample = f"   {question.samples[number - 1][:100]}" if question.samples else ""
        typer.echo(f"  {number}  {choice}{sample}", err=True)
    while True:
        several = ", several with spaces between" if question.many else ""
        answer = str(typer.prompt(f"Number{several} (or leave and use {question.flag})", err=True))
        numbers = answer.split()
        in_range = [n for n in numbers if n.isdecimal() and 1 <= int(n) <= len(question.choices)]
        if numbers == in_range and (question.many or len(numbers) == 1):
            return [question.choices[int(number) - 1] for number in numbers]
        typer.echo(f"one of 1 to {len(question.choices)}", err=True)


def _columns_table(columns: Sequence[dict[str, Any]]) -> "Table":
    """What every column was taken for, with values from the file."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for title in ("column", "taken for", "because", "different", "such as"):
        table.add_column(title, justify="right" if title == "different" else "left")
    for each in columns:
        samples = [
            sample if len(sample) <= _LONGEST_SAMPLE else f"{sample[:_LONGEST_SAMPLE]}…"
            for sample in each["samples"]
        ]
        cells = [each["column"], each["role"], each["why"], f"{each['distinct']:,}"]
        # Texts of the file are no markup.
        table.add_row(*map(Text, cells), Text("\n".join(samples)))
    return table


def _left_table(made: "NewSource") -> "Table":
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for title in ("left to fill in source.yaml", "with", "since"):
        table.add_column(title)
    for left in made.left:
        table.add_row(left.field, left.what, left.why)
    return table


def _told(made: "NewSource", file: Path) -> list[str]:
    """Say what was made, and what comes next."""
    quality = made.guess.quality
    rule = ", ".join(f"{name} {value}" for name, value in quality.rule.items())
    return [
        *made.notes,
        f"quality: {rule} ({quality.why})",
        f"{made.counts['pairs']:,} pairs of {made.counts['contexts']:,} contexts",
        f"written to {made.folder}: {', '.join(made.files)}",
        f"next: fill in {made.folder / 'source.yaml'}, then",
        f"  nnd convert {_place(made.folder)} --from {file}",
        f"  nnd check-source {_place(made.folder)} --from {file}",
    ]


def _place(folder: Path) -> str:
    """Return a folder as `nnd convert` takes it for one, and for no name."""
    return str(folder) if folder.is_absolute() or len(folder.parts) > 1 else f"./{folder}"
