"""The facts of a new source, as far as a file tells them."""

from pathlib import Path
from typing import Any

from nnd.converters.new_source.guess import Column, Guess, Measure, slug
from nnd.converters.reading import DELIMITERS
from nnd.schemas import SourceError

TO_FILL = "TODO"
"""What is in a source.yaml where only a person knows the answer."""

UNDETERMINED = "und"
"""BCP-47 for a language that nobody has stated."""

_MOST_SYSTEMS = 500
_SAYS_LITTLE = ("text", "content", "value", "body")


def source_facts(
    name: str, guess: Guess, file: dict[str, Any], sheet: str | None
) -> dict[str, Any]:
    """Return a source.yaml for what was guessed, `TO_FILL` where it cannot be known.

    Args:
        name: Name of the source.
        guess: What the columns are.
        file: Name, url, sha256 and bytes of the file.
        sheet: Sheet of a workbook, or None for the first.
    """
    facts: dict[str, Any] = {
        "name": name,
        "pretty_name": name.replace("_", " ").capitalize(),
        "task": f"{TO_FILL}, for example summarization",
        "languages": [UNDETERMINED],
        "licence": "unknown",
        "redistribution": "unknown",
        "citation": f"@misc{{{name},\n  title = {{{TO_FILL}}},\n  author = {{{TO_FILL}}},\n"
        f"  year = {{{TO_FILL}}}\n}}\n",
        "homepage": None,
        "files": [file],
        "aspects": {
            measure.aspect: f"{TO_FILL}, the question that the annotators answered"
            for measure in guess.measures
        },
        "quality": dict(guess.quality.rule),
        "taxonomy": {label: _entry(label) for label in guess.quality.errors},
        "systems": dict.fromkeys(systems_of(guess.system)),
    }
    if is_mapped(guess):
        facts["table"] = _table(guess, sheet)
    if any(not cell.strip() for cell in guess.candidate.cells) or (
        guess.candidate.filled < guess.candidate.rows
    ):
        facts["empty_candidates"] = "keep"
    facts["split"] = "as the file has it" if "split" in guess.keys else "one split, `test`"
    return facts


def _entry(label: str) -> dict[str, Any]:
    name = label.replace("_", " ").strip() or label
    description = f"{TO_FILL}, what the error is"
    return {"name": name[0].upper() + name[1:], "group": None, "description": description}


def systems_of(column: Column) -> list[str]:
    """Return the names of systems in the order of the file; `|` joins those of one text."""
    names = dict.fromkeys(name for cell in column.counts for name in cell.split("|"))
    if "" in names or len(names) > _MOST_SYSTEMS or column.filled < column.rows:
        what = f"{len(names):,} names" if len(names) > _MOST_SYSTEMS else "cells without a name"
        raise SourceError(
            f"--system: {column.name} has {what}; every candidate has a system that wrote it: name "
            "another column, or correct the file"
        )
    return list(names)


def is_mapped(guess: Guess) -> bool:
    """Say whether a `table:` section can read the file: it is a table, and used cells are plain."""
    if not guess.content.is_table:
        return False
    measured = [column for measure in guess.measures for column in measure.columns]
    used = [guess.candidate, guess.system, *guess.context, *guess.keys.values(), *measured]
    for column in used:
        if column.kind in ("numbers", "texts", "other") or len(column.path) != 1 or column.above:
            raise SourceError(
                f"{guess.content.file}: {column.name} holds lists or objects, which Parquet can "
                "hold and no table has; write the rows as JSON lines, and begin from that file"
            )
    return True


def part_names(guess: Guess) -> dict[str, Column]:
    """Return the parts of a context by the names that templates know them by."""
    parts: dict[str, Column] = {}
    for number, column in enumerate(guess.context, start=1):
        *around, last = ("", *column.path)
        says_little = last.lower() in _SAYS_LITTLE and len(around) > 1
        name = slug(around[-1] if says_little else last, "context")
        parts[name if name not in parts else f"{name}_{number}"] = column
    return parts


def _table(guess: Guess, sheet: str | None) -> dict[str, Any]:
    """Return the `table` section: columns are called by their headers."""
    parts = {part: column.name for part, column in part_names(guess).items()}
    keys = {role: column.name for role, column in guess.keys.items()}
    columns = {**keys, "system": guess.system.name, "candidate": guess.candidate.name}
    table: dict[str, Any] = {"columns": columns, "inputs": parts}
    if len(parts) > 1:
        table["context"] = context_template(guess)
    for measure in guess.measures:
        _add_measure(table, measure, guess)
    content, suffix = guess.content, Path(guess.content.file).suffix.lower()
    if content.delimiter != DELIMITERS.get(suffix):
        table["delimiter"] = content.delimiter
    if content.quoted is not None and content.quoted != (suffix == ".csv"):
        table["quoted"] = content.quoted
    if sheet is not None:
        table["sheet"] = sheet
    return table


def context_template(guess: Guess) -> str:
    """Return how the parts of a context are read as one text: one below the other."""
    return "\n".join(f"{{{part}}}" for part in part_names(guess))


def _add_measure(table: dict[str, Any], measure: Measure, guess: Guess) -> None:
    columns = measure.columns
    match measure.kind:
        case "label":
            table.setdefault("labels", {})[measure.aspect] = columns[0].name
        case "votes":  # a label each, which convert.py brings together
            table.setdefault("labels", {}).update({column.name: column.name for column in columns})
        case "score":
            table.setdefault("scores", {})[measure.aspect] = columns[0].name
        case "ratings":
            names = [column.name for column in columns]
            table.setdefault("ratings", {})[measure.aspect] = names
        case "marks":
            table.setdefault("marks", {})[measure.aspect] = {
                "no_error": guess.quality.blank or guess.quality.rule["no_error"],
                "marks": sorted({cell.strip() for column in columns for cell in column.cells}),
                "columns": {column.name: column.name for column in columns},
            }
