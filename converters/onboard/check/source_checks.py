"""`nnd check-source`: everything that a reviewer of a source would check, with remedies."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

from nnd.converters.check import (
    CHECKS,
    Check,
    CheckedData,
    CheckReport,
    PairCheck,
    Verdict,
    judged,
    labelled,
)
from nnd.converters.folder import Examples, pair_examples
from nnd.converters.onboard.check import coverage, fact_checks as facts, row_checks as rows
from nnd.converters.onboard.check.checked_source import Case
from nnd.converters.onboard.check.direction import find_contradictions
from nnd.converters.onboard.check.fixture_making import make_fixture as write_fixture
from nnd.converters.onboard.check.repository_check import check_repository
from nnd.converters.onboard.check.source_readings import (
    AT_HAND,
    NOT_AT_HAND,
    every_variant,
    fixture_readings,
    real_readings,
)
from nnd.converters.source import load_source
from nnd.schemas import SourceError, listed

Judge: TypeAlias = Callable[[Case], Verdict]

_SCHEMA = "source.yaml"
_REAL = "the real files"


def _of_pairs(check: PairCheck) -> Judge:
    """Return a check of pairs as one of a source: of the pairs of all real files."""

    def judge(case: Case) -> Verdict:
        verdicts = [(run.label, check(CheckedData.of(run.conversion))) for run in case.measured]
        found = [(label, verdict) for label, verdict in verdicts if verdict[0] != "pass"]
        if not found:
            return verdicts[0][1]
        several = len(case.measured) > 1
        messages = [f"{label}: {verdict[1]}" if several else verdict[1] for label, verdict in found]
        return "review", listed(messages, 3), found[0][1][2]

    return judge


def _check_columns(case: Case) -> Verdict:
    """Check that no name of a column says that the worse texts are the better ones."""
    runs = {run.label: find_contradictions(case, run) for run in case.measured}
    several = len(runs) > 1
    found = [w for name, own in runs.items() for w in (labelled(name, own) if several else own)]
    remedy = "look at some pairs; if they are the wrong way round, reverse `quality` or the columns"
    fine = "no name of a column says that the worse texts are the better ones"
    return judged("review", found, remedy, fine, most=3)


_CHECKS: dict[str, tuple[Judge, tuple[str, ...]]] = {
    "facts": (facts.check_facts, ()),
    "files": (facts.check_files, ()),
    "fixture": (facts.check_fixture, ()),
    "sandbox": (facts.check_sandbox, ()),
    "converts": (rows.check_converts, ("fixture", "sandbox")),
    "ids": (rows.check_ids, ("converts",)),
    "counts": (rows.check_counts, ("converts",)),
    "repository": (check_repository, ("converts",)),
    "unread": (coverage.check_unread, ("converts", _REAL)),
    "invented": (facts.check_invented, ("converts",)),
    "columns": (_check_columns, ("converts", _REAL)),
    **{name: (_of_pairs(check), ("converts", _REAL)) for name, check in CHECKS.items()},
}
"""The checks after that of the schema: name → function, and what must pass first."""

NAMES = (_SCHEMA, *_CHECKS)
"""Names of the checks, in order."""

_EXAMPLES = 3


def check_source(
    source: str | Path, *origins: str | Path, make_fixture: bool = False
) -> CheckReport:
    """Check a source as a reviewer would, and say how to fix it.

    This runs the source's convert.py, with a clean environment and an empty home folder, within
    limits, under bwrap or unshare -rn if available; the check `sandbox` says which. Without bwrap,
    read the code of strangers first. The exit code is 1 if a check fails. Nothing is downloaded, or
    written except a fixture; checks that need the real files are skipped without them.

    Args:
        source: Name of a source, or folder with a source.yaml.
        origins: Folder or file with the real annotations. Empty means those in the source's folder
            or the download cache, if any.
        make_fixture: Whether to write a fixture first: the first records of the real files, with
            invented texts in place of theirs.

    Returns:
        One check for each of NAMES, in that order. A check that depends on a failed one is
        `skipped`, so nothing fails twice for one reason.

    Raises:
        SourceError: If the source is unknown, one of `origins` has none of its files, or no fixture
            can be made.

    Examples:
        nnd check-source ./my_ratings --from ratings.csv
        nnd check-source ./my_ratings --from ratings.csv --make-fixture
    """
    with TemporaryDirectory(prefix="nnd-check-") as folder:
        try:
            loaded = load_source(source)
            variants = list(every_variant(loaded))
        except SourceError as error:
            if not (Path(source) / "source.yaml").exists():
                raise
            return _report(source, Check(_SCHEMA, "fail", str(error), "fix that field"))
        schema = Check(_SCHEMA, *facts.check_schema(loaded, len(variants)))
        if schema.outcome == "fail":
            return _report(source, schema)
        real = real_readings(loaded, [*map(Path, origins)], Path(folder))
        if make_fixture:
            write_fixture(real)
        try:
            case = Case(variants, real, fixture_readings(loaded))
        except SourceError as error:
            case = Case(variants, real, fixture_fault=str(error))
        checks = [*_check_all(case)]
        return replace(_report(source, schema, *checks), examples=_examples(case, checks))


def _check_all(case: Case) -> Iterator[Check]:
    """Run each check, unless one that must pass first blocks it."""
    blocking = set[str]()
    for name, (judge, needs) in _CHECKS.items():
        first = next((need for need in needs if need in blocking), None)
        if first is not None:
            found = _skipped(name, first)
        elif _REAL in needs and not case.measured:
            found = Check(name, "skipped", NOT_AT_HAND, AT_HAND)
        else:
            found = Check(name, *judge(case))
        yield found
        # A fixture that is not there blocks nothing, nor what gave rows although it took too long.
        is_borne = {"fixture": not case.fixture, "sandbox": not case.failed}.get(name, False)
        if found.outcome == "skipped" or (found.outcome == "fail" and not is_borne):
            blocking.add(name)


def _skipped(name: str, because: str) -> Check:
    return Check(name, "skipped", f'"{because}" must pass first')


def _examples(case: Case, checks: Sequence[Check]) -> Examples | None:
    if not any((check.name, check.outcome) == ("converts", "pass") for check in checks):
        return None
    run = (case.measured or case.invented)[0]
    return pair_examples(f"{case.source.name} ({run.label})", run.conversion.pairs, _EXAMPLES)


def _report(source: str | Path, *checks: Check) -> CheckReport:
    found = {check.name: check for check in checks}
    return CheckReport(
        str(source), tuple(found.get(name) or _skipped(name, _SCHEMA) for name in NAMES)
    )
