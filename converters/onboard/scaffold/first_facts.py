"""The source.yaml of a new source, as far as its files show the facts."""

from collections.abc import Sequence
from typing import Any

from nnd.converters.onboard.guess.guessing import Guess
from nnd.converters.onboard.scaffold.table_section import TableSection
from nnd.schemas import SourceError

TO_FILL = "TODO"
"""Placeholder in a source.yaml for facts that only a person knows."""

UNDETERMINED = "und"
"""BCP-47 tag of an unknown language."""


def source_facts(
    name: str, guess: Guess, files: Sequence[dict[str, Any]], sheet: str | None
) -> dict[str, Any]:
    """Return the content of a source.yaml for a guess, with `TO_FILL` for unknown facts.

    Each of `files` has name, url, sha256 and bytes; no `sheet` means the first sheet of a workbook.
    """
    aspects = [measure.aspect for measure in guess.measures] or ["quality"]
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
        "files": list(files),
        "aspects": dict.fromkeys(aspects, f"{TO_FILL}, the question that the annotators answered"),
        "quality": dict(guess.quality.rule),
        "taxonomy": {
            label: {
                "name": label[:1].upper() + label[1:].replace("_", " "),
                "group": None,
                "description": f"{TO_FILL}, what the error is",
            }
            for label in guess.quality.errors
        },
        "systems": dict.fromkeys(systems_of(guess)),
    }
    facts["table"] = TableSection(guess, sheet).written()
    if any(
        column.filled < column.rows or any(not cell.strip() for cell in column.cells)
        for column in guess.candidates
    ):
        facts["empty_candidates"] = "keep"
    facts["split"] = "as the file has it" if "split" in guess.keys else "one split, `test`"
    return facts


def systems_of(guess: Guess) -> list[str]:
    """Return the names of systems in the order of the file; `|` joins those of one text."""
    columns = guess.pair.systems if guess.pair else [guess.system] if guess.system else []
    names: dict[str, None] = {}
    for column in columns:
        names |= dict.fromkeys(name for cell in column.counts for name in cell.split("|"))
        if "" in names or column.filled < column.rows:
            raise SourceError(
                f"--system: {column.name} has cells without a name, where the system of each "
                "candidate must be; name another column, say --system none, or correct the file"
            )
    return list(names)
