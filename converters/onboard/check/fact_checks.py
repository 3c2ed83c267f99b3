"""Checks of the folder: source.yaml, the fixture, and where convert.py ran."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from nnd.cards import faults_of, hub_licence
from nnd.converters.check import Verdict, judged
from nnd.converters.onboard.check.checked_source import Case
from nnd.converters.onboard.check.separate_run import ReadingRun
from nnd.converters.onboard.check.source_readings import AT_HAND, MADE, NOT_AT_HAND, is_own
from nnd.converters.onboard.scaffold.first_facts import LEFT, TO_FILL, UNDETERMINED
from nnd.converters.pairs import find_contacts
from nnd.converters.source import Source
from nnd.schemas import counted, excerpt, fold, listed

_FOR_THE_CARD = (
    *("homepage", "instruction", "task_categories", "source_datasets", "texts", "annotators"),
    *("annotation_process", "limitations", "personal_information"),
)
"""Fields that may be left out; the card then says that the source does not state them."""

_LAYOUT = (
    "the tests of nnd need one: make fixture/ with a tiny invented file named as in source.yaml, "
    "and fixture/expected.yaml, a list of {set, variant, annotations, contexts, systems, pairs, "
    "by_error_category, dropped}, counted by hand; or invent one with --make-fixture"
)

_SHORTEST = 25
"""Fewest bytes of a text that two people do not write by chance; `A dog.` is shorter.
In UTF-8, since nine characters of Chinese say as much as 25 of English."""

_MOST_SECONDS = 300.0


def check_schema(source: Source, n_variants: int) -> Verdict:
    """Check that the folder has the name of the source; loading it has checked the schema."""
    folder = source.folder.resolve().name
    if source.name != folder:
        remedy = "give the folder and the source one name"
        return "fail", f'the source is called "{source.name}", and its folder "{folder}"', remedy
    more = f", in {n_variants} sets and variants" if n_variants > 1 else ""
    return "pass", f"follows its schema{more}", ""


def check_facts(case: Case) -> Verdict:
    """Check that every field is filled in, the BibTeX parses, and what the licence allows."""
    facts = case.source.facts
    open_fields = [path for path, text in texts_in(facts) if re.search(rf"\b{TO_FILL}\b", text)]
    if UNDETERMINED in facts["languages"]:
        open_fields.append("languages")
    if open_fields:
        meanings = {left.field: left.what for left in LEFT}
        first = open_fields[0].partition("/")[0]
        remedy = (
            f"fill them in; {first}: {meanings.get(first, 'see its description in the schema')}"
        )
        return "fail", f"not filled in: {listed(open_fields)}", remedy
    if faults := list(faults_of(facts["citation"])):
        remedy = "paste the BibTeX of the paper under `citation`, with a title and a year"
        return "fail", listed(faults), remedy
    return _check_stated(facts)


def _check_stated(facts: Mapping[str, Any]) -> Verdict:
    licence, redistribution = facts["licence"], facts["redistribution"]
    stated = f"{licence}, redistribution: {redistribution}"
    if redistribution != "allowed":
        remedy = "`nnd publish` needs --private or --i-have-permission; ask the authors"
        return "review", stated, remedy
    if hub_licence(licence) == "other":
        remedy = "check its name at https://spdx.org/licenses; its text must be at the homepage"
        return "review", f"the Hub does not know the licence {licence}", remedy
    if missing := [field for field in _FOR_THE_CARD if not facts.get(field)]:
        remedy = "state them if they are known; until then the card says that they are not stated"
        return "review", f"not stated: {', '.join(missing)}", remedy
    return "pass", f"every field is stated; {stated}", ""


def texts_in(value: Any, path: str = "") -> Iterator[tuple[str, str]]:  # noqa: ANN401 - any YAML
    """Yield path and text of every text in a YAML value, keys included."""
    if isinstance(value, dict):
        for key, inner in value.items():
            below = f"{path}/{key}".removeprefix("/")
            yield below, str(key)
            yield from texts_in(inner, below)
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from texts_in(inner, f"{path}/{number}")
    elif isinstance(value, str):
        yield path, value


def check_files(case: Case) -> Verdict:
    """Check that every file can be fetched and recognised."""
    files = list(dict.fromkeys(file for one in case.variants for file in one.files))
    bare = [file.name for file in files if file.sha256 is None or file.url is None]
    remedy = "state url and sha256 (`sha256sum FILE`), or under `notes` how to get the file"
    lacking = [f"without url or sha256: {', '.join(bare)}"] if bare else []
    return judged("review", lacking, remedy, f"{len(files)} with url and sha256")


def check_fixture(case: Case) -> Verdict:
    """Check that there is a fixture, that its files are there, and that it covers every variant."""
    if case.fixture_fault is not None:
        is_there = (case.source.folder / "fixture").exists()
        message = case.fixture_fault if is_there else "there is none"
        return "fail" if is_there else "review", message, _LAYOUT
    if missing := list(_missing(case)):
        return "fail", listed(missing), _LAYOUT
    if (case.source.folder / "fixture/expected.yaml").read_text("utf-8").startswith(MADE):
        message = "its counts are the converter's own"
        return "review", message, "count by hand, and correct fixture/expected.yaml"
    return "pass", counted(len(case.fixture), "reading"), ""


def _missing(case: Case) -> Iterator[str]:
    """Yield which variants, sets and main files the fixture lacks."""
    covered = {one.source.variant for one in case.fixture}
    facts, sets = case.source.facts, case.source.facts.get("sets", {})
    variants = {name for own in (facts, *sets.values()) for name in own.get("variants", {})}
    yield from (f"no reading of the variant {name}" for name in sorted(variants - covered))
    # Sets are read in the same way: one is enough.
    if sets and not any(one.source.facts.get("set") for one in case.fixture):
        yield "no reading of a set"
    # A converter need not open the main file; running it shows whether it does.
    for one in case.runs:
        origin, name = one.reading.origin, one.source.files[0].name
        is_plain = not one.reading.is_real and one.reading.change is None
        if is_plain and one.error is not None and not (origin / name).is_file():
            yield f"{one.label}: {origin.name}/ has no {name}"


def check_invented(case: Case) -> Verdict:
    """Check that the fixture has no address, and no text of the real files."""
    rows = (rows for one in case.invented for rows in (one.annotations, one.references))
    if invented := [found for frame in rows for found in find_contacts(frame)]:
        shown = [f"{found.column} ({found.kind} {found.quote})" for found in invented]
        remedy = "take it out of the fixture: an invented address may belong to a real person"
        return "fail", f"in the fixture: {listed(shown, 3)}", remedy
    if not case.fixture:
        return "skipped", "there is no fixture", ""
    if is_own(case.source):
        message = "the source's own files are in its folder"
        remedy = "make sure that they are invented, or that their licence allows them to be there"
        return "review", message, remedy
    if not case.measured:
        return "skipped", NOT_AT_HAND, AT_HAND
    copied = sorted(_texts_of(case.invented) & _texts_of(case.measured))
    if copied:
        shown = [f'"{excerpt(text, 40)}"' for text in copied]
        remedy = "write texts of your own into the fixture; real data stays out of the repository"
        message = f"{len(copied)} texts of the fixture are from the source: {listed(shown, 2)}"
        return "fail", message, remedy
    return "pass", "no text of the fixture is in the real files", ""


def _texts_of(results: Sequence[ReadingRun]) -> set[str]:
    found = set[str]()
    for rows in (one.annotations for one in results):
        parts = rows.select(pl.col("inputs").explode()).drop_nulls().unnest("inputs")
        texts = pl.concat([rows["candidate"], rows["context"], parts["value"]])
        folded = texts.unique().to_frame("text").select(fold(pl.col("text")).str.to_lowercase())
        found |= {*folded.filter(pl.col("text").str.len_bytes() >= _SHORTEST)["text"]}
    return found


def check_sandbox(case: Case) -> Verdict:
    """Check where convert.py ran, and what it took: everyone who checks the source waits for it."""
    if not case.runs:
        return "skipped", "there are no files to convert", "name the real files with --from"
    if over := list(_over(case.runs)):
        return "fail", listed(over), "read row by row, and print little"
    seconds = max(run.seconds for run in case.runs)
    took = f"{seconds:.1f} s for a conversion"
    sandbox = case.runs[0].sandbox
    if not (case.source.folder / "convert.py").exists():
        return "pass", f"the source has no code to run; {took}", ""
    ran = f"convert.py was run {sandbox.description}; {took}"
    if sandbox.holds:
        return "pass", ran, ""
    return "review", ran, "read convert.py, or check it where bwrap works"


def _over(runs: Sequence[ReadingRun]) -> Iterator[str]:
    for run in runs:
        if run.is_ended:
            yield f"{run.label} {run.error}"
            return
        if run.seconds > _MOST_SECONDS:
            yield f"{run.label} took {run.seconds:.0f} s, more than {_MOST_SECONDS:.0f} s"
