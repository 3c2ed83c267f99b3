"""Checks of convert.py itself: imports, actions at import, requests to the system, size."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

from nnd.converters.onboard.check.check_result import Check
from nnd.converters.onboard.check.checked_source import Case
from nnd.converters.onboard.check.process_limits import Limits
from nnd.converters.source import Source
from nnd.schemas import SourceError, listed

CODE, OUTSIDE, LIMITS = "convert.py", "outside", "limits"

AT_IMPORT = "import: "

_AT_THE_TOP = "move it into annotations(files); keep only constants at the top"
_OURS = ("nnd.converters", "nnd.schemas")
_MOST_LINES = 120
_MOST_FIXTURE_BYTES = 64 * 1024
_MOST_FOLDER_BYTES = 2**20
_MOST_SECONDS = 300.0
_MOST_BYTES = Limits().memory_bytes


def check_code(case: Case) -> Check:
    """Check that convert.py is Python that imports little, and does nothing when imported."""
    path = case.source.folder / "convert.py"
    if not path.exists():
        if {"table", "tables"} & {*case.source.facts}:
            return Check(CODE, "pass", "no code is needed, because `table:` maps the columns")
        remedy = "write `def annotations(files)` there, or a `table:` section in source.yaml"
        return Check(
            CODE, "fail", "the source has neither a convert.py nor a `table:` section", remedy
        )
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError, OSError) as error:
        return Check(CODE, "fail", f"cannot be read: {error}", "fix the file")
    strange = [f"line {line}: {name}" for line, name in _imports(tree) if not _is_allowed(name)]
    asked = (what for run in case.runs for what in run.refused if what.startswith(AT_IMPORT))
    done = list(dict.fromkeys(what.removeprefix(AT_IMPORT) for what in asked))
    functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    for is_so, message, remedy in (
        (
            strange,
            f"imports {listed(strange)}",
            "import only the standard library and nnd.converters",
        ),
        (done, f"importing it does something: {listed(done, 2)}", _AT_THE_TOP),
        ("annotations" not in functions, "has no function annotations(files)", "write it"),
    ):
        if is_so:
            return Check(CODE, "fail", message, remedy)
    return Check(
        CODE, "pass", "imports only what it may, and was not seen to do anything else at import"
    )


def _imports(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.lineno, f"{'.' * node.level}{node.module or ''}"


def _is_allowed(name: str) -> bool:
    standard = name.partition(".")[0] in sys.stdlib_module_names
    return standard or any(f"{name}.".startswith(f"{ours}.") for ours in _OURS)


def check_outside(case: Case) -> Check:
    """Check that converting requested only its files, as far as can be seen.

    Python's audit events report requests (see `audit`), but the code runs in the same process and
    can hide them: only a sandbox that holds it makes this check pass.
    """
    if not (case.source.folder / "convert.py").exists():
        return Check(OUTSIDE, "pass", "the source has no code to run")
    asked = [what for run in case.runs for what in run.refused if not what.startswith(AT_IMPORT)]
    sandbox = case.runs[0].sandbox
    ran = f"convert.py was run {sandbox.description}"
    if asked:
        remedy = "declare what it needs under `files` in source.yaml, and read it with files.path()"
        message = f"{ran}; it asked for {listed(list(dict.fromkeys(asked)), 3)}"
        return Check(OUTSIDE, "fail", message, remedy)
    saw = "no connection, other program, native code or change to other files was seen"
    if sandbox.holds:
        return Check(OUTSIDE, "pass", f"{ran}; {saw}")
    remedy = "read convert.py, which may hide what it does, or check it where bwrap works"
    return Check(OUTSIDE, "review", f"{ran}; {saw}", remedy)


def check_limits(case: Case) -> Check:
    """Check time, memory and size, because everyone who runs the tests waits for all sources."""
    over = list(_over(case))
    if over:
        remedy = (
            "read row by row, print little, and keep only rows in the fixture that show something "
            "new"
        )
        return Check(LIMITS, "fail", listed(over), remedy)
    path = case.source.folder / "convert.py"
    lines = len(path.read_bytes().splitlines()) if path.is_file() else 0
    if lines > _MOST_LINES:
        remedy = "make it shorter if you can; a reader has to follow it"
        return Check(LIMITS, "review", f"convert.py has {lines} lines", remedy)
    seconds = max((run.seconds for run in case.runs), default=0.0)
    memory = max((run.peak_bytes for run in case.runs), default=0) / 2**20
    return Check(LIMITS, "pass", f"{seconds:.1f} s and at most {memory:,.0f} MiB for a conversion")


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
