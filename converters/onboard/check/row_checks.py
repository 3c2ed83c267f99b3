"""Checks of the rows of a source: pairs, ids and counts."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from nnd.converters.check import Verdict
from nnd.converters.onboard.check.checked_source import Case
from nnd.converters.onboard.check.separate_run import ReadingRun
from nnd.converters.onboard.check.source_readings import AT_HAND, COUNTED
from nnd.converters.pairs import make_pairs
from nnd.schemas import SourceError, counted, listed

_COUNTED_BY = "counted_by"


def check_converts(case: Case) -> Verdict:
    """Check that `nnd convert` accepts the rows, and that the rule finds pairs in every reading."""
    if errors := [f"{run.label}: {run.error}" for run in case.failed]:
        remedy = "fix what the message names; `nnd convert` gives the same message"
        return "fail", listed(errors, 1), remedy + _hint(errors[0])
    made = list[str]()
    for one in case.results:
        try:
            made.append(f"{one.label}: {counted(one.conversion.pairs.height, 'pair')}")
        except SourceError as error:
            rule = one.source.facts["quality"]
            remedy = f"fix `quality` in source.yaml ({rule}), or give the fixture rows that differ"
            return "fail", f"{one.label}: {error}", remedy
    return "pass", listed(made), ""


def _hint(message: str) -> str:
    """Return which line of a table names the key."""
    key = next((key for key in ("candidate_id", "context_id") if f"{key}:" in message), None)
    return f"; under `columns` of a table, `{key}` names the column that has it" if key else ""


def check_ids(case: Case) -> Verdict:
    """Check that the same rows in another order give the same pairs."""
    remedy = "make ids from the source's keys or texts, never from a row number or a first row"
    for one in case.results:
        run, source = case.shuffled.get(one.label), one.source
        if run is None:
            continue
        where = f"{one.label}, rows shuffled"
        if run.error is not None:
            return "fail", f"{where}: {run.error}", remedy
        constructed = source.is_constructed
        pairs = make_pairs(run.annotations, source.rules, source.taxonomy, constructed=constructed)
        before, after = {*one.conversion.pairs["pair_id"]}, {*pairs.frame["pair_id"]}
        tables = f"{source.facts.get('table')} {source.facts.get('tables')}"
        if before != after and re.search(r"\b_row\b", tables):
            message = f"{where}: the pair_id of pairs changes, because source.yaml reads `_row`"
            return "review", message, "make sure that the rows have no key of their own"
        if before != after:
            message = (
                f"{where}: the pair_id of {len(before - after)} of {len(before)} pairs changes"
            )
            return "fail", message, remedy
    aside = f"; rows were not shuffled in {listed(case.unshuffled)}" if case.unshuffled else ""
    if not case.shuffled:
        message = f"no rows were shuffled{aside}"
        return "review", message, "make sure that no id is a row number"
    return "pass", f"the same pairs with rows shuffled{aside}", ""


def check_counts(case: Case) -> Verdict:
    """Check the counts of the fixture (expected.yaml) and of real files (`expected`)."""
    wrong, undeclared, uncounted = list[str](), list[str](), list[str]()
    for one in case.results:
        expected = one.reading.expected
        if expected is None:
            expected = one.source.for_files(one.files).facts["expected"]
            if not one.files or not all(file["verified"] for file in one.files):
                undeclared.append(one.label)
                continue
            uncounted += [f"{one.label}: {what}" for what in _uncounted(one, expected)]
        wrong += [f"{one.label}: {difference}" for difference in _differences(one, expected)]
    if wrong:
        remedy = "count by other means; then fix the converter, fixture/expected.yaml or `expected`"
        return "fail", listed(wrong, 3), remedy
    if undeclared:
        message = (
            f"{listed(undeclared)}: these are not the declared files, so `expected` does not apply"
        )
        return "review", message, "declare the sha256 of each file, or fetch the files again"
    if uncounted:
        remedy = (
            "count by other means, and state under `expected` who counted, and from what "
            "(`counted_by`)"
        )
        return "review", listed(uncounted), remedy
    if case.measured:
        return "pass", "the fixture and the real files give the expected counts", ""
    if all(one.source.facts["expected"] is None for one in case.invented):
        message = "source.yaml states no expected counts of the real file"
        return "review", message, f"{AT_HAND}, and put its counts under `expected`"
    return "pass", f"the fixture gives the expected counts; {AT_HAND} to check it too", ""


def _uncounted(result: ReadingRun, expected: Mapping[str, Any] | None) -> Iterator[str]:
    """Yield that nothing is expected of real files, or that it is not said who counted."""
    if expected is None:
        found = {name: result.conversion.manifest["counts"][name] for name in COUNTED}
        yield f"nothing is expected; the files give {found}"
    elif _COUNTED_BY not in expected:
        yield "`expected` does not say who counted"


def _differences(result: ReadingRun, expected: Mapping[str, Any] | None) -> Iterator[str]:
    counts, dropped = result.conversion.manifest["counts"], result.conversion.manifest["dropped"]
    counts = counts | {"dropped": {entry["reason"]: entry["n"] for entry in dropped}}
    for name, value in (expected or {}).items():
        if name != _COUNTED_BY and counts.get(name) != value:
            yield f"{name} is {counts.get(name)}, but {value} is expected"
    if expected and (missing := [name for name in COUNTED if name not in expected]):
        yield f"no expected count of {', '.join(missing)}"
