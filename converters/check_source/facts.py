"""Checks of source.yaml alone: its form, what is left to fill in, licence, citation, files."""

import re
from collections.abc import Iterator
from typing import Any

from nnd.cards import faults_of, hub_licence
from nnd.converters.check_source.outcome import Check, listed
from nnd.converters.new_source.scaffold import LEFT, TO_FILL, UNDETERMINED
from nnd.converters.source import Source
from nnd.schemas import SourceError

SCHEMA, FILLED_IN, LICENCE = "source.yaml", "filled in", "licence"
CITATION, FILES = "citation", "files"

_FOR_THE_CARD = (
    "homepage",
    "task_categories",
    "source_datasets",
    "texts",
    "annotators",
    "annotation_process",
    "limitations",
    "personal_information",
)
"""Fields that may be left out; the card then says that nobody knows."""

_NO_DERIVATIVES = re.compile(r"-ND\b", re.IGNORECASE)


def check_schema(source: Source) -> Check:
    """Check that source.yaml keeps its schema in every set and variant; its folder has its name."""
    folder = source.folder.resolve().name
    try:
        readings = list(every_reading(source))
    except SourceError as error:
        return Check(SCHEMA, "fail", str(error), "mend that field")
    if source.name != folder:
        remedy = "give the folder the name of the source"
        return Check(SCHEMA, "fail", f'is of "{source.name}", in the folder "{folder}"', remedy)
    more = f", in {len(readings)} sets and variants" if len(readings) > 1 else ""
    return Check(SCHEMA, "pass", f"keeps its schema{more}")


def every_reading(source: Source) -> Iterator[Source]:
    """Yield a source as itself, each of its sets, and each variant of all these.

    Raises:
        SourceError: At one that is not valid.
    """
    for chosen in (source, *(source.choose("set", name) for name in source.facts.get("sets", {}))):
        yield chosen
        yield from (chosen.choose("variant", name) for name in chosen.facts.get("variants", {}))


def check_filled_in(source: Source) -> Check:
    """Check that nothing is left of what `nnd new-source` could not know."""
    open_fields = [
        path for path, text in _texts(source.facts) if re.search(rf"\b{TO_FILL}\b", text)
    ]
    if UNDETERMINED in source.facts["languages"]:
        open_fields.append("languages")
    if open_fields:
        told = {left.field: left.what for left in LEFT}
        first = open_fields[0].partition("/")[0]
        remedy = f"write there what is the case; {first}: {told.get(first, 'as the schema has it')}"
        return Check(FILLED_IN, "fail", f"left open: {listed(open_fields)}", remedy)
    missing = [field for field in _FOR_THE_CARD if not source.facts.get(field)]
    if missing:
        remedy = "state them where anybody knows; the card says until then that nobody does"
        return Check(FILLED_IN, "look", f"not stated: {', '.join(missing)}", remedy)
    return Check(FILLED_IN, "pass", "everything is stated")


def _texts(value: Any, path: str = "") -> Iterator[tuple[str, str]]:  # noqa: ANN401 - any YAML
    """Yield path and text of every text in a YAML value, keys included."""
    if isinstance(value, dict):
        for key, inner in value.items():
            below = f"{path}/{key}".removeprefix("/")
            yield below, str(key)
            yield from _texts(inner, below)
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _texts(inner, f"{path}/{number}")
    elif isinstance(value, str):
        yield path, value


def check_licence(source: Source) -> Check:
    """Check that the licence is known, and that what it allows is not what it forbids."""
    licence, redistribution = source.facts["licence"], source.facts["redistribution"]
    if redistribution == "allowed" and licence == "unknown":
        remedy = "name the licence that allows it, or write `redistribution: unknown`"
        return Check(LICENCE, "fail", "unknown, and yet redistribution is allowed", remedy)
    if redistribution == "allowed" and _NO_DERIVATIVES.search(licence):
        remedy = "write `redistribution: no-derivatives`, since pairs are derived from the data"
        return Check(LICENCE, "fail", f"{licence} allows no derivatives", remedy)
    if redistribution != "allowed":
        told = f"{licence}, redistribution: {redistribution}"
        remedy = (
            "`nnd publish` refuses but with --private or --i-have-permission: ask the authors, and "
            "state what they say"
        )
        return Check(LICENCE, "look", told, remedy)
    if hub_licence(licence) == "other":
        remedy = "check it against https://spdx.org/licenses; its text must be at the homepage"
        return Check(LICENCE, "look", f"the Hub knows no licence {licence}", remedy)
    return Check(LICENCE, "pass", f"{licence}, redistribution: {redistribution}")


def check_citation(source: Source) -> Check:
    """Check that the BibTeX parses, and that its entries have a key, a title and a year."""
    faults = list(dict.fromkeys(faults_of(source.facts["citation"])))
    if faults:
        remedy = "paste the BibTeX of the paper under `citation`, with a title and a year"
        return Check(CITATION, "fail", listed(faults), remedy)
    return Check(CITATION, "pass", "the BibTeX parses")


def check_files(source: Source) -> Check:
    """Check that every file can be fetched and recognised."""
    files = list(dict.fromkeys(file for one in every_reading(source) for file in one.files))
    bare = [file.name for file in files if file.sha256 is None or file.url is None]
    if bare:
        remedy = (
            "state url and sha256 (`sha256sum FILE`) where they are known, and tell under `notes` "
            "how else to get the file"
        )
        return Check(FILES, "look", f"without url or sha256: {', '.join(bare)}", remedy)
    return Check(FILES, "pass", f"{len(files)} with url and sha256")
