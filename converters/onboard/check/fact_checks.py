"""Checks of the folder: the fields of source.yaml, and the fixture."""

import re
from collections.abc import Iterator
from typing import Any

from nnd.cards import faults_of, hub_licence
from nnd.converters.onboard.check.check_result import Check, judged
from nnd.converters.onboard.check.checked_fixture import missing_in, without_main_file
from nnd.converters.onboard.check.checked_source import Case
from nnd.converters.onboard.scaffold.commented_yaml import LEFT
from nnd.converters.onboard.scaffold.first_facts import TO_FILL, UNDETERMINED
from nnd.converters.source import Source
from nnd.schemas import SourceError, listed

SCHEMA, FILLED_IN, LICENCE = "source.yaml", "filled in", "licence"
CITATION, FILES, FIXTURE = "citation", "files", "fixture"

_FOR_THE_CARD = (
    *("homepage", "instruction", "task_categories", "source_datasets", "texts", "annotators"),
    *("annotation_process", "limitations", "personal_information"),
)
"""Fields that may be left out; the card then says that the source does not state them."""

_LAYOUT = (
    "make fixture/ with a tiny invented file named as in source.yaml, and fixture/expected.yaml, a "
    "list of {set, variant, annotations, contexts, systems, pairs, by_error_category, dropped}, "
    "counted by hand"
)


def check_schema(source: Source, n_variants: int) -> Check:
    """Check that the folder has the name of the source; loading it has checked the schema."""
    folder = source.folder.resolve().name
    if source.name != folder:
        remedy = "give the folder and the source one name"
        return Check(
            SCHEMA,
            "fail",
            f'the source is called "{source.name}", and its folder "{folder}"',
            remedy,
        )
    more = f", in {n_variants} sets and variants" if n_variants > 1 else ""
    return Check(SCHEMA, "pass", f"follows its schema{more}")


def check_filled_in(case: Case) -> Check:
    """Check that no placeholder of `nnd new-source` is left."""
    open_fields = [
        path for path, text in _texts(case.source.facts) if re.search(rf"\b{TO_FILL}\b", text)
    ]
    if UNDETERMINED in case.source.facts["languages"]:
        open_fields.append("languages")
    if open_fields:
        meanings = {left.field: left.what for left in LEFT}
        first = open_fields[0].partition("/")[0]
        remedy = (
            f"fill them in; {first}: {meanings.get(first, 'see its description in the schema')}"
        )
        return Check(FILLED_IN, "fail", f"not filled in: {listed(open_fields)}", remedy)
    missing = [field for field in _FOR_THE_CARD if not case.source.facts.get(field)]
    if missing:
        remedy = "state them if they are known; until then the card says that they are not stated"
        return Check(FILLED_IN, "review", f"not stated: {', '.join(missing)}", remedy)
    return Check(FILLED_IN, "pass", "every field is stated")


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


def check_licence(case: Case) -> Check:
    """Check that the licence allows pairs to be published, and that the Hub knows it."""
    facts = case.source.facts
    licence, redistribution = facts["licence"], facts["redistribution"]
    if redistribution != "allowed":
        stated = f"{licence}, redistribution: {redistribution}"
        remedy = "`nnd publish` needs --private or --i-have-permission; ask the authors"
        return Check(LICENCE, "review", stated, remedy)
    if hub_licence(licence) == "other":
        remedy = "check its name at https://spdx.org/licenses; its text must be at the homepage"
        return Check(LICENCE, "review", f"the Hub does not know the licence {licence}", remedy)
    return Check(LICENCE, "pass", f"{licence}, redistribution: {redistribution}")


def check_citation(case: Case) -> Check:
    """Check that the BibTeX parses, and that its entries have a key, a title and a year."""
    remedy = "paste the BibTeX of the paper under `citation`, with a title and a year"
    faults = list(faults_of(case.source.facts["citation"]))
    return judged(CITATION, "fail", faults, remedy, "the BibTeX parses")


def check_files(case: Case) -> Check:
    """Check that every file can be fetched and recognised."""
    files = list(dict.fromkeys(file for one in case.variants for file in one.files))
    bare = [file.name for file in files if file.sha256 is None or file.url is None]
    remedy = "state url and sha256 (`sha256sum FILE`), or under `notes` how to get the file"
    lacking = [f"without url or sha256: {', '.join(bare)}"] if bare else []
    return judged(FILES, "review", lacking, remedy, f"{len(files)} with url and sha256")


def check_fixture(case: Case) -> Check:
    """Check that there is a fixture, that its files are there, and that it covers every variant."""
    try:
        missing = list(missing_in(case.source, case.fixture))
        for reading, message in without_main_file(case.fixture):
            (run,) = (run for run in case.runs if run.reading is reading)
            missing += [message] if run.annotations is None else []
    except SourceError as error:
        missing = [str(error)]
    readings = "" if missing else f"{len(case.fixture)} reading(s)"
    return judged(FIXTURE, "fail", missing, _LAYOUT, readings)
