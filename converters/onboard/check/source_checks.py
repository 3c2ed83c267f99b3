"""`nnd check-source`: everything that a reviewer of a source would check, with remedies."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from nnd.converters.folder import Examples, pair_examples
from nnd.converters.onboard.check import (
    card_checks as card,
    code_checks as code,
    coverage,
    direction,
    fact_checks as facts,
    repeat_checks as repeats,
    row_checks as rows,
    text_checks as texts,
)
from nnd.converters.onboard.check.check_report import CheckReport
from nnd.converters.onboard.check.check_result import AT_HAND, NOT_AT_HAND, Check, skipped
from nnd.converters.onboard.check.checked_source import Case
from nnd.converters.onboard.check.source_readings import every_variant, real_readings
from nnd.converters.source import load_source
from nnd.schemas import SourceError

_RUN = (facts.FIXTURE,)
_ROWS = (*_RUN, rows.CONVERTS)
_PAIRS = (*_ROWS, rows.PAIRS)
_REAL = "the real files"
_MEASURED = (*_PAIRS, _REAL)
_CODE = (code.CODE, code.OUTSIDE, code.LIMITS)
_FACTS = (facts.FILLED_IN, facts.LICENCE, facts.CITATION, facts.FILES)

_CHECKS: tuple[tuple[str, Callable[[Case], Check], tuple[str, ...]], ...] = (
    (facts.FILLED_IN, facts.check_filled_in, ()),
    (facts.LICENCE, facts.check_licence, ()),
    (facts.CITATION, facts.check_citation, ()),
    (facts.FILES, facts.check_files, ()),
    (facts.FIXTURE, facts.check_fixture, ()),
    (code.CODE, code.check_code, _RUN),
    (code.OUTSIDE, code.check_outside, _RUN),
    (code.LIMITS, code.check_limits, _RUN),
    (rows.CONVERTS, rows.check_converts, (*_RUN, *_CODE)),
    (rows.ASPECTS, rows.check_aspects, _ROWS),
    (rows.CATEGORIES, rows.check_categories, _ROWS),
    (rows.SYSTEMS, rows.check_systems, _ROWS),
    (rows.PAIRS, rows.check_pairs, _ROWS),
    (rows.IDS, rows.check_ids, _PAIRS),
    (rows.COUNTS, rows.check_counts, _PAIRS),
    (coverage.COVERAGE, coverage.check_coverage, (*_ROWS, _REAL)),
    (direction.DIRECTION, direction.check_direction, _MEASURED),
    (repeats.REPEATS, repeats.check_repeats, _MEASURED),
    (repeats.SCALES, repeats.check_scales, _MEASURED),
    (texts.INVENTED, texts.check_invented, _ROWS),
    (texts.CONFOUNDS, texts.check_confounds, _MEASURED),
    (texts.GIVEAWAYS, texts.check_giveaways, _MEASURED),
    (texts.HYGIENE, texts.check_hygiene, _MEASURED),
    (texts.PERSONAL_DATA, texts.check_personal_data, _ROWS),
    (card.CARD, card.check_card, (*_PAIRS, *_FACTS)),
)
"""The checks after that of the schema: name, function, and the checks that must pass first."""

NAMES = (facts.SCHEMA, *(name for name, _, _ in _CHECKS))
"""Names of the checks, in order."""

_EXAMPLES = 3


def check_source(
    source: str | Path, *origins: str | Path, fixture_only: bool = False
) -> CheckReport:
    """Check a source as a reviewer would; nothing is fetched, and nothing is written.

    This runs its convert.py, in a process of its own with a clean environment, an empty home and a
    temporary working folder, within limits of time, memory, processes, output and file size; under
    `bwrap` or `unshare -rn` where one of them works. The check `outside` states which, and what the
    code requested. Code can hide what it requests, so `outside` passes under bwrap only: without
    it, read a stranger's code before you check it. The real files are read if they are available:
    at `origins`, else in the source's own folder or in the download cache.

    Args:
        source: Name of a source, or a folder with a source.yaml.
        origins: Files or folders with the real files; each is read separately.
        fixture_only: Whether to skip the real files even if they are available.

    Returns:
        One check for each of NAMES, in that order. A check that depends on a failed one is
        `skipped`, so nothing fails twice for one reason.

    Raises:
        SourceError: If the source is unknown, one of `origins` has none of its files, or `origins`
            are given with `fixture_only`.
    """
    if fixture_only and origins:
        raise SourceError(
            "--fixture-only excludes the files that --from names; give only one of them"
        )
    try:
        loaded = load_source(source)
    except SourceError as error:
        if not (Path(source) / "source.yaml").exists():
            raise
        return _report(source, _broken(error))
    with TemporaryDirectory(prefix="nnd-check-") as folder:
        place = Path(folder)
        try:
            variants = list(every_variant(loaded))
        except SourceError as error:
            return _report(source, _broken(error))
        schema = facts.check_schema(loaded, len(variants))
        if schema.outcome == "fail":
            return _report(source, schema)
        real = [] if fixture_only else real_readings(loaded, [*map(Path, origins)], place)
        case = Case(variants, real, place)
        checks = [*_check_all(case)]
        return replace(_report(source, schema, *checks), examples=_examples(case, checks))


def _broken(error: SourceError) -> Check:
    return Check(facts.SCHEMA, "fail", str(error), "fix that field")


def _check_all(case: Case) -> Iterator[Check]:
    """Run each check, unless one that must pass first blocks it."""
    blocking = set[str]()
    for name, check, needs in _CHECKS:
        first = next((need for need in needs if need in blocking), None)
        if first is not None:
            found = skipped(name, first)
        elif _REAL in needs and not case.measured:
            found = Check(name, "skipped", NOT_AT_HAND, AT_HAND)
        else:
            found = check(case)
        yield found
        # A faulty convert.py blocks nothing as long as it gives rows.
        is_borne = found.outcome == "fail" and name in (*_CODE, rows.CONVERTS) and case.gives_rows
        if found.outcome in ("fail", "skipped") and not is_borne:
            blocking.add(name)


def _examples(case: Case, checks: Sequence[Check]) -> Examples | None:
    """Return example pairs, from the real files if they are available."""
    passed = {check.name for check in checks if check.outcome == "pass"}
    result = (case.measured or case.invented)[0] if rows.PAIRS in passed else None
    if result is None or result.conversion is None:
        return None
    name = f"{case.source.name} ({result.label})"
    return pair_examples(name, result.conversion.pairs, _EXAMPLES)


def _report(source: str | Path, *checks: Check) -> CheckReport:
    """Return a report of all checks; missing ones are skipped until the schema check passes."""
    found = {check.name: check for check in checks}
    return CheckReport(
        str(source),
        tuple(found.get(name) or skipped(name, facts.SCHEMA) for name in NAMES),
    )
