"""Checks of the folder: source.yaml, the fixture, convert.py, and what would be published."""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from nnd.cards import check_card as lint, data_card, faults_of, hub_licence
from nnd.converters.check.check_report import Verdict, judged
from nnd.converters.folder import validate
from nnd.converters.onboard.check.checked_source import Case
from nnd.converters.onboard.check.process_limits import Limits
from nnd.converters.onboard.scaffold.first_facts import LEFT, TO_FILL, UNDETERMINED
from nnd.converters.source import Source
from nnd.schemas import NNDError, SourceError, listed

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

_AT_IMPORT = "import: "

_OURS = ("nnd.converters", "nnd.schemas")
_MOST_LINES = 120
_MOST_FIXTURE_BYTES = 64 * 1024
_MOST_FOLDER_BYTES = 2**20
_MOST_SECONDS = 300.0
_MOST_BYTES = Limits().memory_bytes


def check_schema(source: Source, n_variants: int) -> Verdict:
    """Check that the folder has the name of the source; loading it has checked the schema."""
    folder = source.folder.resolve().name
    if source.name != folder:
        remedy = "give the folder and the source one name"
        return "fail", f'the source is called "{source.name}", and its folder "{folder}"', remedy
    more = f", in {n_variants} sets and variants" if n_variants > 1 else ""
    return "pass", f"follows its schema{more}", ""


def check_filled_in(case: Case) -> Verdict:
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
        return "fail", f"not filled in: {listed(open_fields)}", remedy
    missing = [field for field in _FOR_THE_CARD if not case.source.facts.get(field)]
    if missing:
        remedy = "state them if they are known; until then the card says that they are not stated"
        return "review", f"not stated: {', '.join(missing)}", remedy
    return "pass", "every field is stated", ""


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


def check_licence(case: Case) -> Verdict:
    """Check that the licence allows pairs to be published, and that the Hub knows it."""
    facts = case.source.facts
    licence, redistribution = facts["licence"], facts["redistribution"]
    if redistribution != "allowed":
        stated = f"{licence}, redistribution: {redistribution}"
        remedy = "`nnd publish` needs --private or --i-have-permission; ask the authors"
        return "review", stated, remedy
    if hub_licence(licence) == "other":
        remedy = "check its name at https://spdx.org/licenses; its text must be at the homepage"
        return "review", f"the Hub does not know the licence {licence}", remedy
    return "pass", f"{licence}, redistribution: {redistribution}", ""


def check_citation(case: Case) -> Verdict:
    """Check that the BibTeX parses, and that its entries have a key, a title and a year."""
    remedy = "paste the BibTeX of the paper under `citation`, with a title and a year"
    faults = list(faults_of(case.source.facts["citation"]))
    return judged("fail", faults, remedy, "the BibTeX parses")


def check_files(case: Case) -> Verdict:
    """Check that every file can be fetched and recognised."""
    files = list(dict.fromkeys(file for one in case.variants for file in one.files))
    bare = [file.name for file in files if file.sha256 is None or file.url is None]
    remedy = "state url and sha256 (`sha256sum FILE`), or under `notes` how to get the file"
    lacking = [f"without url or sha256: {', '.join(bare)}"] if bare else []
    return judged("review", lacking, remedy, f"{len(files)} with url and sha256")


def check_fixture(case: Case) -> Verdict:
    """Check that there is a fixture, that its files are there, and that it covers every variant."""
    try:
        missing = list(_missing(case))
    except SourceError as error:
        missing = [str(error)]
    readings = "" if missing else f"{len(case.fixture)} reading(s)"
    return judged("fail", missing, _LAYOUT, readings)


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


def check_card(case: Case) -> Verdict:
    """Check that each reading gives a valid folder and a card without problems."""
    for one in case.results:
        if one.problems:  # other checks report them
            continue
        with TemporaryDirectory(prefix="nnd-check-") as place:
            folder = Path(place) / one.source.name
            folder.mkdir()
            one.conversion.write(folder)
            try:
                findings = [str(found) for found in validate(folder)]
                text = data_card(folder, f"ORG/{one.source.name}")
                findings += [str(problem) for problem in lint(text, folder)]
            except NNDError as error:
                findings = [str(error)]
        # Another check compares the counts that source.yaml expects of the real files.
        findings = [found for found in findings if "source expects" not in found]
        if findings:
            remedy = "fix source.yaml, or what the converter yields"
            return "fail", f"{one.label}: {listed(findings, 3)}", remedy
    return "pass", "the folder and its card are valid", ""


def check_code(case: Case) -> Verdict:
    """Check that convert.py is Python that imports little, and does nothing when imported."""
    path = case.source.folder / "convert.py"
    if not path.exists():
        if {"table", "tables"} & {*case.source.facts}:
            return "pass", "no code is needed, because `table:` maps the columns", ""
        remedy = "write `def annotations(files)` there, or a `table:` section in source.yaml"
        return "fail", "the source has neither a convert.py nor a `table:` section", remedy
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError, OSError) as error:
        return "fail", f"cannot be read: {error}", "fix the file"
    for fault in _faults(tree, case):
        return "fail", *fault
    return "pass", "imports only what it may, and was not seen to do anything else at import", ""


def _faults(tree: ast.Module, case: Case) -> Iterator[tuple[str, str]]:
    strange = [f"line {line}: {name}" for line, name in _imports(tree) if not _is_allowed(name)]
    if strange:
        yield f"imports {listed(strange)}", "import only the standard library and nnd.converters"
    asked = (what for run in case.runs for what in run.refused if what.startswith(_AT_IMPORT))
    if done := list(dict.fromkeys(what.removeprefix(_AT_IMPORT) for what in asked)):
        remedy = "move it into annotations(files); keep only constants at the top"
        yield f"importing it does something: {listed(done, 2)}", remedy
    if "annotations" not in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}:
        yield "has no function annotations(files)", "write it"


def _imports(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.lineno, f"{'.' * node.level}{node.module or ''}"


def _is_allowed(name: str) -> bool:
    standard = name.partition(".")[0] in sys.stdlib_module_names
    return standard or any(f"{name}.".startswith(f"{ours}.") for ours in _OURS)


def check_outside(case: Case) -> Verdict:
    """Check that converting requested only its files, as far as can be seen.

    Python's audit events report requests (see `audit`), but the code runs in the same process and
    can hide them: only a sandbox that holds it makes this check pass.
    """
    if not (case.source.folder / "convert.py").exists():
        return "pass", "the source has no code to run", ""
    asked = [what for run in case.runs for what in run.refused if not what.startswith(_AT_IMPORT)]
    sandbox = case.runs[0].sandbox
    ran = f"convert.py was run {sandbox.description}"
    if asked:
        remedy = "declare what it needs under `files` in source.yaml, and read it with files.path()"
        message = f"{ran}; it asked for {listed(list(dict.fromkeys(asked)), 3)}"
        return "fail", message, remedy
    saw = "no connection, other program, native code or change to other files was seen"
    if sandbox.holds:
        return "pass", f"{ran}; {saw}", ""
    remedy = "read convert.py, which may hide what it does, or check it where bwrap works"
    return "review", f"{ran}; {saw}", remedy


def check_limits(case: Case) -> Verdict:
    """Check time, memory and size, because everyone who runs the tests waits for all sources."""
    over = list(_over(case))
    if over:
        remedy = (
            "read row by row, print little, and keep only rows in the fixture that show something "
            "new"
        )
        return "fail", listed(over), remedy
    path = case.source.folder / "convert.py"
    lines = len(path.read_bytes().splitlines()) if path.is_file() else 0
    if lines > _MOST_LINES:
        remedy = "make it shorter if you can; a reader has to follow it"
        return "review", f"convert.py has {lines} lines", remedy
    seconds = max((run.seconds for run in case.runs), default=0.0)
    memory = max((run.peak_bytes for run in case.runs), default=0) / 2**20
    return "pass", f"{seconds:.1f} s and at most {memory:,.0f} MiB for a conversion", ""


def _over(case: Case) -> Iterator[str]:
    for run in case.runs:
        if run.is_ended:
            yield f"{run.label} {run.error}"
            return
        if run.seconds > _MOST_SECONDS:
            yield f"{run.label} took {run.seconds:.0f} s, more than {_MOST_SECONDS:.0f} s"
        if run.peak_bytes > _MOST_BYTES:
            yield f"{run.label} took {run.peak_bytes / 2**30:.1f} GiB of memory"
    sizes = {path: path.stat().st_size for path in _files(case.source)}
    for path, size in sizes.items():
        if path.is_relative_to(case.source.folder / "fixture") and size > _MOST_FIXTURE_BYTES:
            yield f"{path.name} in fixture/ has {size:,} bytes, more than {_MOST_FIXTURE_BYTES:,}"
    if sum(sizes.values()) > _MOST_FOLDER_BYTES:
        yield f"the folder has {sum(sizes.values()):,} bytes, more than {_MOST_FOLDER_BYTES:,}"


def _files(source: Source) -> list[Path]:
    try:
        return sorted(
            path
            for path in source.folder.rglob("*")
            if path.is_file() and "__pycache__" not in path.parts
        )
    except OSError as error:
        raise SourceError(f"{source.folder}: cannot be read: {error.strerror}") from error
