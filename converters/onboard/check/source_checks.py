"""`nnd check-source`: everything that a reviewer of a source would check, with remedies."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

from nnd.converters.check.check_report import (
    AT_HAND,
    NOT_AT_HAND,
    Check,
    CheckReport,
    Verdict,
)
from nnd.converters.folder import Examples, pair_examples
from nnd.converters.onboard.check import (
    coverage,
    direction,
    fact_checks as facts,
    row_checks as rows,
    text_checks as texts,
)
from nnd.converters.onboard.check.checked_source import Case
from nnd.converters.onboard.check.source_readings import every_variant, real_readings
from nnd.converters.source import load_source
from nnd.schemas import SourceError

Judge: TypeAlias = Callable[[Case], Verdict]

_SCHEMA = "source.yaml"
_CODE = ("convert.py", "outside", "limits")
_ROWS = ("fixture", "converts")
_PAIRS = (*_ROWS, "pairs")
_REAL = "the real files"
_MEASURED = (*_PAIRS, _REAL)

_CHECKS: dict[str, tuple[Judge, tuple[str, ...]]] = {
    "filled in": (facts.check_filled_in, ()),
    "licence": (facts.check_licence, ()),
    "citation": (facts.check_citation, ()),
    "files": (facts.check_files, ()),
    "fixture": (facts.check_fixture, ()),
    "convert.py": (facts.check_code, ("fixture",)),
    "outside": (facts.check_outside, ("fixture",)),
    "limits": (facts.check_limits, ("fixture",)),
    "converts": (rows.check_converts, ("fixture", *_CODE)),
    "aspects": (rows.check_aspects, _ROWS),
    "categories": (rows.check_categories, _ROWS),
    "systems": (rows.check_systems, _ROWS),
    "pairs": (rows.check_pairs, _ROWS),
    "ids": (rows.check_ids, _PAIRS),
    "counts": (rows.check_counts, _PAIRS),
    "coverage": (coverage.check_coverage, (*_ROWS, _REAL)),
    "direction": (direction.check_direction, _MEASURED),
    "repeats": (rows.check_repeats, _MEASURED),
    "scales": (rows.check_scales, _MEASURED),
    "invented": (texts.check_invented, _ROWS),
    "confounds": (texts.check_confounds, _MEASURED),
    "giveaways": (texts.check_giveaways, _MEASURED),
    "hygiene": (texts.check_hygiene, _MEASURED),
    "personal data": (texts.check_personal_data, _ROWS),
    "card": (facts.check_card, (*_PAIRS, "filled in", "licence", "citation", "files")),
}
"""The checks after that of the schema: name → function, and the checks that must pass first."""

NAMES = (_SCHEMA, *_CHECKS)
"""Names of the checks, in order."""

_EXAMPLES = 3


def check_source(
    source: str | Path, *origins: str | Path, fixture_only: bool = False
) -> CheckReport:
    """Check a source as a reviewer would, and say how to fix it.

    This runs the source's convert.py, with a clean environment and an empty home folder, within
    limits, under bwrap or unshare -rn if available; the check `outside` says which. Without bwrap,
    read the code of strangers first. The exit code is 1 if a check fails. Nothing is downloaded or
    written; checks that need the real files are skipped without them.

    Args:
        source: Name of a source, or folder with a source.yaml.
        origins: Folder or file with the real annotations. Empty means those in the source's folder
            or the download cache, if any.
        fixture_only: Whether to skip all checks that need the real files.

    Returns:
        One check for each of NAMES, in that order. A check that depends on a failed one is
        `skipped`, so nothing fails twice for one reason.

    Raises:
        SourceError: If the source is unknown, one of `origins` has none of its files, or `origins`
            are given with `fixture_only`.

    Examples:
        nnd check-source ./my_ratings --from ratings.csv
    """
    if fixture_only and origins:
        raise SourceError(
            "--fixture-only excludes the files that --from names; give only one of them"
        )
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
        real = [] if fixture_only else real_readings(loaded, [*map(Path, origins)], Path(folder))
        case = Case(variants, real)
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
        # A faulty convert.py blocks nothing as long as it gives rows.
        is_borne = found.outcome == "fail" and name in (*_CODE, "converts") and not case.failed
        if found.outcome in ("fail", "skipped") and not is_borne:
            blocking.add(name)


def _skipped(name: str, because: str) -> Check:
    return Check(name, "skipped", f'"{because}" must pass first')


def _examples(case: Case, checks: Sequence[Check]) -> Examples | None:
    if not any((check.name, check.outcome) == ("pairs", "pass") for check in checks):
        return None
    run = (case.measured or case.invented)[0]
    return pair_examples(f"{case.source.name} ({run.label})", run.conversion.pairs, _EXAMPLES)


def _report(source: str | Path, *checks: Check) -> CheckReport:
    found = {check.name: check for check in checks}
    return CheckReport(
        str(source), tuple(found.get(name) or _skipped(name, _SCHEMA) for name in NAMES)
    )
