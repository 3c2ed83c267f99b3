"""Checks of the rows of a source: ids, counts, aspects, categories, systems, pairs."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from nnd.converters.onboard.check.check_result import AT_HAND, Check
from nnd.converters.onboard.check.checked_source import Case, Result
from nnd.converters.pairs import ANY_SYSTEM, make_pairs
from nnd.schemas import labels_of, listed

IDS, COUNTS, ASPECTS, CATEGORIES = "ids", "counts", "aspects", "categories"
CONVERTS, SYSTEMS, PAIRS = "converts", "systems", "pairs"

COUNTED_BY = "counted_by"
_COUNTED = ("annotations", "contexts", "systems", "pairs", "by_error_category")


def check_known(case: Case, name: str, field: str, section: str) -> Check:
    """Check that the names in a field are those of a section of source.yaml, and are used."""
    unknown = [
        f"{one.label}: {one.problems[field][0].message}"
        for one in case.results
        if field in one.problems
    ]
    if unknown:
        remedy = f"add it under `{section}` in source.yaml, or fix how it is read"
        return Check(name, "fail", listed(list(dict.fromkeys(unknown)), 3), remedy)
    unused = sorted(_unused(case.measured, field))  # a fixture need not have every name
    if unused:
        remedy = f"take them out of `{section}`, or fix how it is read; other sets may have them"
        return Check(name, "review", f"not in the real files: {listed(unused)}", remedy)
    return Check(name, "pass", f"exactly those under `{section}`")


check_aspects = partial(check_known, name=ASPECTS, field="aspect", section="aspects")
check_categories = partial(check_known, name=CATEGORIES, field="label", section="taxonomy")
check_systems = partial(check_known, name=SYSTEMS, field="system", section="systems")


def _unused(results: Sequence[Result], field: str) -> set[str]:
    """Return the names in source.yaml that no result has, except names of other sets."""
    known, found = {ANY_SYSTEM}, {ANY_SYSTEM}
    for one in results:
        source, values = one.source, one.annotations[field].drop_nulls()
        names = {"aspect": source.facts["aspects"], "system": source.systems}
        known |= {*names.get(field, source.taxonomy)}
        if field == "label":
            rules = (source.rules.default, *source.rules.aspects.values())
            known |= {label for rule in rules for label in labels_of(rule) or ()}
        found |= {*(values.str.split("|").explode() if field == "system" else values)}
    return known - found


def check_converts(case: Case) -> Check:
    """Check that `nnd convert` accepts the rows, except for what other checks report."""
    errors = [f"{run.label}: {run.error}" for run in case.straight if run.annotations is None]
    if errors:
        remedy = "fix what the message names; `nnd convert` gives the same message" + _hint(
            errors[0]
        )
        return Check(CONVERTS, "fail", listed(errors, 1), remedy)
    for one in case.results:
        for path, (problem, *_) in one.problems.items():
            if path not in ("label", "aspect", "system"):
                message = f"{one.label}: {path} {problem.message}"
                return Check(CONVERTS, "fail", message, problem.remedy + _hint(message))
    return Check(CONVERTS, "pass", listed([one.label for one in case.results]))


def _hint(message: str) -> str:
    """Return the option of `nnd new-source` that names the key column."""
    named = (key for key in ("candidate_id", "context_id") if f"{key}:" in message)
    option = next((key.replace("_", "-") for key in named), None)
    return f"; `nnd new-source --{option}` names the column that has it" if option else ""


def check_pairs(case: Case) -> Check:
    """Check that the quality rule finds a pair in every reading."""
    for one in case.results:
        if one.conversion is None:
            rule = one.source.facts["quality"]
            remedy = f"fix `quality` in source.yaml ({rule}), or give the fixture rows that differ"
            return Check(PAIRS, "fail", f"{one.label}: {one.no_pair}", remedy)
    made = [f"{one.label} {one.made.pairs.height:,}" for one in case.results]
    return Check(PAIRS, "pass", listed(made))


def check_ids(case: Case) -> Check:
    """Check that the same rows in another order give the same pairs."""
    remedy = "make ids from the source's keys or texts, never from a row number or a first row"
    for one in case.results:
        run, source = case.shuffled.get(one.label), one.source
        if run is None:
            continue
        where = f"{one.label}, rows shuffled"
        if run.annotations is None:
            return Check(IDS, "fail", f"{where}: {run.error}", remedy)
        constructed = source.is_constructed
        pairs = make_pairs(run.annotations, source.rules, source.taxonomy, constructed=constructed)
        before, after = {*one.made.pairs["pair_id"]}, {*pairs.frame["pair_id"]}
        tables = f"{source.facts.get('table')} {source.facts.get('tables')}"
        if before != after and re.search(r"\b_row\b", tables):
            message = f"{where}: the pair_id of pairs changes, because source.yaml reads `_row`"
            return Check(IDS, "review", message, "make sure that the rows have no key of their own")
        if before != after:
            message = (
                f"{where}: the pair_id of {len(before - after)} of {len(before)} pairs changes"
            )
            return Check(IDS, "fail", message, remedy)
    aside = f"; rows were not shuffled in {listed(case.unshuffled)}" if case.unshuffled else ""
    if not case.shuffled:
        message = f"no rows were shuffled{aside}"
        return Check(IDS, "review", message, "make sure that no id is a row number")
    return Check(IDS, "pass", f"the same pairs with rows shuffled{aside}")


def check_counts(case: Case) -> Check:
    """Check the counts of the fixture (expected.yaml) and of real files (`expected`)."""
    wrong, undeclared, uncounted = list[str](), list[str](), list[str]()
    for one in case.results:
        expected = one.run.reading.expected
        if expected is None:
            expected = one.source.for_files(one.run.files).facts["expected"]
            if not one.run.files or not all(file["verified"] for file in one.run.files):
                undeclared.append(one.label)
                continue
            if expected is not None and COUNTED_BY not in expected:
                uncounted.append(one.label)
        wrong += [f"{one.label}: {difference}" for difference in _differences(one, expected)]
    if wrong:
        remedy = "count by other means; then fix the converter, fixture/expected.yaml or `expected`"
        return Check(COUNTS, "fail", listed(wrong, 3), remedy)
    if undeclared:
        message = (
            f"{listed(undeclared)}: these are not the declared files, so `expected` does not apply"
        )
        return Check(
            COUNTS, "review", message, "declare the sha256 of each file, or fetch the files again"
        )
    if uncounted:
        remedy = "count by other means, and state there who counted, and from what (`counted_by`)"
        message = f"{listed(uncounted)}: `expected` does not say who counted"
        return Check(COUNTS, "review", message, remedy)
    if case.measured:
        return Check(COUNTS, "pass", "the fixture and the real files give the expected counts")
    if all(one.source.facts["expected"] is None for one in case.invented):
        message = "source.yaml states no expected counts of the real file"
        return Check(COUNTS, "review", message, f"{AT_HAND}, and put its counts under `expected`")
    return Check(
        COUNTS, "pass", f"the fixture gives the expected counts; {AT_HAND} to check it too"
    )


def _differences(result: Result, expected: Mapping[str, Any] | None) -> Iterator[str]:
    counts, dropped = result.made.manifest["counts"], result.made.manifest["dropped"]
    if expected is None:
        found = {name: counts.get(name) for name in _COUNTED}
        yield f"source.yaml states no expected counts; the files give {found}"
        return
    counts = counts | {"dropped": {entry["reason"]: entry["n"] for entry in dropped}}
    for name, value in expected.items():
        if name != COUNTED_BY and counts.get(name) != value:
            yield f"{name} is {counts.get(name)}, but {value} is expected"
    if missing := [name for name in _COUNTED if name not in expected]:
        yield f"no expected count of {', '.join(missing)}"
