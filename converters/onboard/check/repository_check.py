"""Check of what this repository asks of each of its own sources, beyond what any source needs."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from nnd.converters.check import Verdict
from nnd.converters.onboard.check.checked_source import Case
from nnd.converters.source import Source, SourceFile
from nnd.schemas import NO_INSTRUCTION, listed, placeholders_in, read_instruction

_PAGE = Path("cards/guide/datasets.md")
_LARGEST = 64 * 1024  # bytes of a file in the folder
_WORDINGS = 3


def check_repository(case: Case) -> Verdict:
    """Check a source in `converters/sources` of a clone as the tests of the repository do."""
    source = case.source
    root = source.folder.resolve().parents[2]
    if source.folder.resolve().parent != root / "converters/sources" or not (root / _PAGE).exists():
        message = "nothing is asked of a source that is not in converters/sources of a clone"
        return "pass", message, ""
    if found := list(_lacking(case, root)):
        return "fail", listed([what for what, _ in found], 8), found[0][1]
    return "pass", "pages, instruction, files and counts are as the tests ask", ""


def _lacking(case: Case, root: Path) -> Iterator[tuple[str, str]]:
    """Yield what is missing, and the remedy."""
    yield from _of_pages(case.source, root)
    of_variants = (
        found
        for one in case.variants
        for found in (*_of_instruction(one.facts), *_of_counts(one.facts))
    )
    yield from dict.fromkeys(of_variants)
    expected, systems = case.source.facts["expected"], len(case.source.facts["systems"])
    if expected is not None and systems != expected["systems"]:
        remedy = "count again, or name under `systems` those that there are"
        yield f"{systems} systems, and {expected['systems']} are expected", remedy
    notes = {note for one in case.variants for note in one.facts.get("notes", [])}
    for file in dict.fromkeys(file for one in case.variants for file in one.files):
        yield from _of_file(file, notes, case.source.folder)
    yield from _of_rights(case.source.facts, notes)
    for path in sorted(case.source.folder.rglob("*")):
        if path.is_file() and path.stat().st_size > _LARGEST:
            remedy = "keep the fixture small: a few invented records show every kind of row"
            yield f"{path.name} has more than {_LARGEST // 1024} KiB", remedy
    for run in case.invented:
        if lacking := {*run.source.facts["aspects"]} - {*run.annotations["aspect"]}:
            remedy = "add a record of each aspect to the fixture"
            yield f"{run.label} has no row of {', '.join(sorted(lacking))}", remedy


def _of_pages(source: Source, root: Path) -> Iterator[tuple[str, str]]:
    text, name = (root / _PAGE).read_text(encoding="utf-8"), source.name
    row = re.search(rf"^\| `{name}` \|.*$", text, re.MULTILINE)
    remedy = f"add it to both tables of {_PAGE}, like the others"
    if row is None:
        yield f"{_PAGE} has no row `{name}` in its first table", remedy
    else:
        yield from _of_row(row[0], source.facts, remedy)
    if f"converters/sources/{name}/source.yaml)" not in text:
        yield f"{_PAGE} has no example of {name} in its second table", remedy
    readme = (root / "README.md").read_text(encoding="utf-8")
    if f"`{name}`" not in readme.partition("<!-- /box -->")[0] and name != "sample":
        yield f"README.md does not list {name}", "run `make readme-tables`, which needs no model"


def _of_row(row: str, facts: Mapping[str, Any], remedy: str) -> Iterator[tuple[str, str]]:
    licence, expected = facts["licence"], facts["expected"]
    if ("none stated" if licence == "unknown" else licence) not in row:
        yield f"the row of {_PAGE} does not state the licence {licence}", remedy
    if expected is not None and f"{expected['pairs']:,}" not in row:
        yield f"the row of {_PAGE} does not state {expected['pairs']:,} pairs", remedy


def _of_instruction(facts: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if not str(facts.get("instruction_from", "")).endswith("."):
        yield "`instruction_from` is not a sentence", "say who worded the instruction, or why none"
    if facts.get("instruction", NO_INSTRUCTION) == NO_INSTRUCTION:
        return
    instruction = read_instruction(facts)
    wordings = () if instruction is None else instruction.wordings
    remedy = (
        "write two paraphrases under `instruction_variants`, with the same placeholders, a blank "
        "line in each; the context is behind the words in some and before words in others"
    )
    if len(wordings) != _WORDINGS:
        yield f"{len(wordings) - 1} paraphrases of the instruction", remedy
        return
    for key in wordings[0]:
        texts = [wording.get(key, "") for wording in wordings]
        alike = len({frozenset(placeholders_in(text)) for text in texts}) == 1
        apart = len({*texts}) == _WORDINGS and all("\n\n" in text.strip() for text in texts)
        if not (alike and apart and {text.endswith("}") for text in texts} == {True, False}):
            yield "the paraphrases of the instruction are not as asked", remedy


def _of_counts(facts: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    expected = facts["expected"]
    if expected is None:
        return
    remedy = "count again, by other means"
    if sum(expected["by_error_category"].values()) != expected["pairs"]:
        yield "`expected`: the categories do not add up to the pairs", remedy
    if unknown := {*expected["by_error_category"]} - {*facts["taxonomy"], *facts["aspects"]}:
        yield f"`expected` has unknown categories: {', '.join(sorted(unknown))}", remedy


def _of_file(file: SourceFile, notes: set[str], folder: Path) -> Iterator[tuple[str, str]]:
    is_got = file.url or (folder / file.name).is_file() or any(file.name in note for note in notes)
    if not is_got:
        remedy = f"say under `notes` how to get it, with its name: {file.name}"
        yield f"{file.name} has no url, and no note names it", remedy
    if (file.sha256 is None) != (file.bytes is None):
        yield f"{file.name} has sha256 or bytes, not both", "state both, or neither"


def _of_rights(facts: Mapping[str, Any], notes: set[str]) -> Iterator[tuple[str, str]]:
    licence, stated = facts["licence"], facts["redistribution"]
    if licence == "unknown" and stated != "unknown":
        yield f"redistribution is {stated}", "without a licence it is unknown"
    elif stated == "unknown" != licence and not any("licence" in note for note in notes):
        remedy = "say in a note on the licence why pairs may not be shared"
        yield f"redistribution is {stated} under {licence}", remedy
