"""Checks of what a source gives: ids, counts, aspects, categories, systems, pairs."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from nnd.converters import labels_of
from nnd.converters.check_source.case import Case, Result
from nnd.converters.check_source.outcome import AT_HAND, Check, listed
from nnd.converters.pairs import ANY_SYSTEM, make_pairs
from nnd.converters.source import Source

IDS, COUNTS, ASPECTS, CATEGORIES = "ids", "counts", "aspects", "categories"
CONVERTS, SYSTEMS, PAIRS = "converts", "systems", "pairs"

COUNTED_BY = "counted_by"
_COUNTED = ("annotations", "contexts", "systems", "pairs", "by_error_category")


def check_aspects(case: Case) -> Check:
    """Check that aspects are those of source.yaml, and are used."""
    return _check_known(case, ASPECTS, "aspect", "aspects")


def check_categories(case: Case) -> Check:
    """Check that error categories are those of source.yaml, and are used."""
    return _check_known(case, CATEGORIES, "label", "taxonomy")


def check_systems(case: Case) -> Check:
    """Check that systems are those of source.yaml, and are used."""
    return _check_known(case, SYSTEMS, "system", "systems")


def _check_known(case: Case, name: str, field: str, section: str) -> Check:
    unknown = [
        f"{one.label}: {one.problems[field][0].message}"
        for one in case.results
        if field in one.problems
    ]
    if unknown:
        remedy = f"add it under `{section}` in source.yaml, or mend how it is read"
        return Check(name, "fail", listed(list(dict.fromkeys(unknown)), 3), remedy)
    unused = sorted(_unused(case.measured, field))  # a fixture need not have everything
    if unused:
        remedy = f"take them out of `{section}`, or mend how it is read; other sets may have them"
        return Check(name, "review", f"not in the real files: {listed(unused)}", remedy)
    return Check(name, "pass", f"those under `{section}` and no others")


def _unused(results: Sequence[Result], field: str) -> set[str]:
    """Return the names that source.yaml knows and no result has; those of other sets aside."""
    listed_, found = set[str](), set[str]()
    for one in results:
        listed_ |= {name for name in _listed(one.source, field) if name != ANY_SYSTEM}
        values = one.annotations[field].drop_nulls()
        found |= set(values.str.split("|").explode() if field == "system" else values)
    return listed_ - found


def _listed(source: Source, field: str) -> Iterable[str]:
    match field:
        case "aspect":
            return list(source.facts["aspects"])
        case "system":
            return list(source.systems)
    rules = (source.rules.default, *source.rules.aspects.values())
    return {*source.taxonomy, *(label for rule in rules for label in labels_of(rule) or ())}


def check_converts(case: Case) -> Check:
    """Check that the rows are what `nnd convert` takes, but for what has a check of its own."""
    errors = [f"{run.label}: {run.error}" for run in case.straight if run.annotations is None]
    if errors:
        remedy = "fix what the message names; `nnd convert` says it, too" + _hint(errors[0])
        return Check(CONVERTS, "fail", listed(errors, 1), remedy)
    problems = [
        (one.label, found[0])
        for one in case.results
        for path, found in one.problems.items()
        if path not in ("label", "aspect", "system")
    ]
    if problems:
        told = [f"{label}: {problem.path} {problem.message}" for label, problem in problems]
        return Check(CONVERTS, "fail", listed(told, 3), problems[0][1].remedy + _hint(told[0]))
    return Check(CONVERTS, "pass", listed([one.label for one in case.results]))


def _hint(message: str) -> str:
    """Name the option of `nnd new-source` that says which column the key is."""
    named = (key for key in ("candidate_id", "context_id") if f"{key}:" in message)
    option = next((key.replace("_", "-") for key in named), None)
    return f"; `nnd new-source --{option}` takes the column that has it" if option else ""


def check_pairs(case: Case) -> Check:
    """Check that the quality rule finds a pair in every reading."""
    without = [f"{one.label}: {one.no_pair}" for one in case.results if one.conversion is None]
    if without:
        rule = case.results[0].source.facts["quality"]
        remedy = f"mend `quality` in source.yaml ({rule}), or give the fixture rows that differ"
        return Check(PAIRS, "fail", without[0], remedy)
    made = [
        f"{one.label} {one.conversion.pairs.height:,}" for one in case.results if one.conversion
    ]
    return Check(PAIRS, "pass", listed(made))


def check_ids(case: Case) -> Check:
    """Check that the same rows in another order give the same pairs."""
    remedy = (
        "make context_id and candidate_id of the source's own keys or of the texts, never of a row "
        "number, and take no row for the first"
    )
    shuffled = case.shuffled
    for one in case.results:
        run = shuffled.get(one.label)
        if run is None or one.conversion is None:
            continue
        where = f"{one.label}, rows shuffled"
        if run.annotations is None:
            return Check(IDS, "fail", f"{where}: {run.error}", remedy)
        before = set(one.conversion.pairs["pair_id"])
        pairs = make_pairs(
            run.annotations,
            one.source.rules,
            one.source.taxonomy,
            constructed=one.source.is_constructed,
        )
        after = set(pairs.frame["pair_id"])
        if before != after and _numbers_rows(one.source):
            message = f"{where}: pairs get another pair_id, as source.yaml reads `_row`"
            return Check(IDS, "review", message, "see that the rows have no key of their own")
        if before != after:
            message = f"{where}: {len(before - after)} of {len(before)} pairs get another pair_id"
            return Check(IDS, "fail", message, remedy)
    aside = f"; rows were not shuffled in {listed(case.unshuffled)}" if case.unshuffled else ""
    if not shuffled:
        return Check(
            IDS, "review", f"no rows were shuffled{aside}", "see that no id is a row number"
        )
    return Check(IDS, "pass", f"the same with rows shuffled{aside}")


def _numbers_rows(source: Source) -> bool:
    """Return whether a table says that the number of a row is part of what it gives."""
    tables = [source.facts.get("table"), source.facts.get("tables")]
    return bool(re.search(r"\b_row\b", str(tables)))


def check_counts(case: Case) -> Check:
    """Check that the fixture gives what expected.yaml says, and real files what `expected` says."""
    wrong = [
        f"{one.label}: {told}"
        for one in case.invented
        for told in _differences(one, one.run.reading.expected or {})
    ]
    undeclared, uncounted = list[str](), list[str]()
    for one in case.measured:
        expected = one.source.for_files(one.run.files).facts["expected"]
        if not one.run.files or not all(file["verified"] for file in one.run.files):
            undeclared.append(
                f"{one.label}: not the declared files, so that `expected` says nothing"
            )
        elif expected is None:
            counts = one.conversion.manifest["counts"] if one.conversion else {}
            found = {name: counts.get(name) for name in _COUNTED}
            wrong.append(f"{one.label}: source.yaml expects nothing where the files give {found}")
        else:
            wrong += [f"{one.label}: {told}" for told in _differences(one, expected)]
            if COUNTED_BY not in expected:
                uncounted.append(one.label)
    if wrong:
        remedy = (
            "count by other means; then mend the converter, or fixture/expected.yaml, or "
            "`expected` in source.yaml"
        )
        return Check(COUNTS, "fail", listed(wrong, 3), remedy)
    if undeclared:
        remedy = "declare their sha256, or fetch them again"
        return Check(COUNTS, "review", listed(undeclared), remedy)
    if uncounted:
        remedy = (
            "count by other means, and say under `expected` in source.yaml who did, from what "
            "(`counted_by`): numbers that the tool wrote only say that nothing changed"
        )
        message = f"{listed(uncounted)}: `expected` does not say who counted"
        return Check(COUNTS, "review", message, remedy)
    if case.measured:
        return Check(COUNTS, "pass", "fixture and real files give what is expected")
    if all(one.source.facts["expected"] is None for one in case.invented):
        message = "source.yaml expects nothing of the real file"
        return Check(COUNTS, "review", message, f"{AT_HAND}, and put its counts under `expected`")
    return Check(COUNTS, "pass", f"the fixture gives what is expected; {AT_HAND} to check it too")


def _differences(result: Result, expected: Mapping[str, Any]) -> Iterator[str]:
    if result.conversion is None:
        return
    manifest = result.conversion.manifest
    dropped = {entry["reason"]: entry["n"] for entry in manifest["dropped"]}
    found = {**manifest["counts"], "dropped": dropped}
    for name, value in expected.items():
        if name != COUNTED_BY and found.get(name) != value:
            yield f"{name} is {found.get(name)} where {value} is expected"
    missing = [name for name in _COUNTED if name not in expected]
    if missing:
        yield f"nothing is expected of {', '.join(missing)}"
