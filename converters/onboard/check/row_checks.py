"""Checks of the rows of a source: ids, counts, names, pairs, repetitions and scales."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import polars as pl

from nnd.converters.check.check_report import AT_HAND, Verdict, judged
from nnd.converters.onboard.check.checked_source import Case, reviews
from nnd.converters.onboard.check.separate_run import ReadingRun
from nnd.converters.pairs import ANY_SYSTEM, make_pairs
from nnd.schemas import CONTEXT, SourceError, fold, labels_of, listed

_COUNTED_BY = "counted_by"
_COUNTED = ("annotations", "contexts", "systems", "pairs", "by_error_category")

_FEW = 0.01
_LONG = 25
"""Fewest bytes of a context that does not repeat by chance, as short sentences do."""

_WIDER = 3
"""Factor by which the scales of aspects under one rule may differ."""

_SOME = 0.05
_LEAST = 20


def _check_known(case: Case, field: str, section: str) -> Verdict:
    """Check that the names in a field are those of a section of source.yaml, and are used."""
    unknown = [
        f"{one.label}: {one.problems[field][0].message}"
        for one in case.results
        if field in one.problems
    ]
    if unknown:
        remedy = f"add it under `{section}` in source.yaml, or fix how it is read"
        return "fail", listed(list(dict.fromkeys(unknown)), 3), remedy
    unused = sorted(_unused(case.measured, field))  # a fixture need not have every name
    if unused:
        remedy = f"take them out of `{section}`, or fix how it is read; other sets may have them"
        return "review", f"not in the real files: {listed(unused)}", remedy
    return "pass", f"exactly those under `{section}`", ""


check_aspects = partial(_check_known, field="aspect", section="aspects")
check_categories = partial(_check_known, field="label", section="taxonomy")
check_systems = partial(_check_known, field="system", section="systems")


def _unused(results: Sequence[ReadingRun], field: str) -> set[str]:
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


def check_converts(case: Case) -> Verdict:
    """Check that `nnd convert` accepts the rows, except for what other checks report."""
    if errors := [f"{run.label}: {run.error}" for run in case.failed]:
        remedy = "fix what the message names; `nnd convert` gives the same message"
        return "fail", listed(errors, 1), remedy + _hint(errors[0])
    for one in case.results:
        for path, (problem, *_) in one.problems.items():
            if path not in ("label", "aspect", "system"):
                message = f"{one.label}: {path} {problem.message}"
                return "fail", message, problem.remedy + _hint(message)
    return "pass", listed([one.label for one in case.results]), ""


def _hint(message: str) -> str:
    """Return the option of `nnd new-source` that names the key column."""
    named = (key for key in ("candidate_id", "context_id") if f"{key}:" in message)
    option = next((key.replace("_", "-") for key in named), None)
    return f"; `nnd new-source --{option}` names the column that has it" if option else ""


def check_pairs(case: Case) -> Verdict:
    """Check that the quality rule finds a pair in every reading."""
    made = list[str]()
    for one in case.results:
        try:
            made.append(f"{one.label} {one.conversion.pairs.height:,}")
        except SourceError as error:
            rule = one.source.facts["quality"]
            remedy = f"fix `quality` in source.yaml ({rule}), or give the fixture rows that differ"
            return "fail", f"{one.label}: {error}", remedy
    return "pass", listed(made), ""


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
            if expected is not None and _COUNTED_BY not in expected:
                uncounted.append(one.label)
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
        remedy = "count by other means, and state there who counted, and from what (`counted_by`)"
        message = f"{listed(uncounted)}: `expected` does not say who counted"
        return "review", message, remedy
    if case.measured:
        return "pass", "the fixture and the real files give the expected counts", ""
    if all(one.source.facts["expected"] is None for one in case.invented):
        message = "source.yaml states no expected counts of the real file"
        return "review", message, f"{AT_HAND}, and put its counts under `expected`"
    return "pass", f"the fixture gives the expected counts; {AT_HAND} to check it too", ""


def _differences(result: ReadingRun, expected: Mapping[str, Any] | None) -> Iterator[str]:
    counts, dropped = result.conversion.manifest["counts"], result.conversion.manifest["dropped"]
    if expected is None:
        found = {name: counts.get(name) for name in _COUNTED}
        yield f"source.yaml states no expected counts; the files give {found}"
        return
    counts = counts | {"dropped": {entry["reason"]: entry["n"] for entry in dropped}}
    for name, value in expected.items():
        if name != _COUNTED_BY and counts.get(name) != value:
            yield f"{name} is {counts.get(name)}, but {value} is expected"
    if missing := [name for name in _COUNTED if name not in expected]:
        yield f"no expected count of {', '.join(missing)}"


def check_repeats(case: Case) -> Verdict:
    """Check for pairs in both directions, contexts with several ids, systems with two names."""
    remedy = (
        "give candidates that were judged apart a `group`, each context one context_id "
        "(--context-id), and each system one name; state under `limitations` what remains"
    )
    fine = "each pair has one direction, each context one context_id, and each system one name"
    across = case.found(lambda one: _both_ways(one, is_odd=False))
    found = case.found(lambda one: (*_both_ways(one, is_odd=True), *_doubles(one)))
    more = f" (as people disagree: {listed(across)})" if across else ""
    return judged("review", found, remedy, f"{fine}{more}")


def _both_ways(result: ReadingRun, *, is_odd: bool) -> Iterator[str]:
    """Yield the number of reversed pairs, if they are many or within one group."""
    n, within = _reversed(result.conversion.pairs)
    if (n or within) and is_odd == bool(within or n > _SOME * result.conversion.pairs.height):
        yield f"{within or n:,} pairs and their reverse{' within one group' if within else ''}"


def _reversed(pairs: pl.DataFrame) -> tuple[int, int]:
    """Return the numbers of reversed tests by texts, and by ids within a group.

    Within a group, a single judgement contradicts itself.
    """

    def count(sides: list[str], *known: str) -> int:
        tests = pairs.select(*CONTEXT, "aspect", *known, *sides).unique()
        turned = tests.rename(dict(zip(sides, sides[::-1], strict=True)))
        return tests.join(turned, on=tests.columns, how="semi", nulls_equal=True).height // 2

    return count(["candidate_high", "candidate_low"]), count(["high_id", "low_id"], "group")


def _doubles(result: ReadingRun) -> Iterator[str]:
    contexts = result.annotations.select(*CONTEXT, text=fold(pl.col("context"))).unique()
    contexts = contexts.filter(pl.col("text").str.len_bytes() >= _LONG)
    ids = contexts.group_by("split", "text").agg(pl.col("context_id").n_unique())
    several = ids.filter(pl.col("context_id") > 1).height
    if several > _FEW * ids.height:
        yield f"{several:,} of {ids.height:,} contexts have several context_ids"
    names = defaultdict[str, list[str]](list)
    for name in result.annotations["system"].drop_nulls().str.split("|").explode().unique().sort():
        names[re.sub(r"\s+", "", name)].append(name)
    for same in names.values():
        if len(same) > 1:
            yield f"systems that differ only by blanks: {listed([repr(name) for name in same])}"


@reviews(
    "convert them to one scale, or give each aspect its own rule (`quality.aspects`)",
    "scores that are compared have one scale",
    most=3,
)
def check_scales(result: ReadingRun) -> Iterator[str]:
    """Check that the numbers of an aspect, and of aspects under one rule, are on one scale."""
    numbers = pl.coalesce(pl.col("ratings"), pl.col("score").reshape((-1, 1)).arr.to_list())
    rows = result.annotations.select("aspect", "split", "category", value=numbers)
    rows = rows.explode("value").drop_nulls("value")
    scales = {aspect: own["value"] for (aspect,), own in rows.group_by("aspect")}
    rules = result.source.facts["quality"].get("aspects", {})
    ends = {name: (min(own), max(own)) for name, own in scales.items() if name not in rules}
    widths = [highest - lowest for lowest, highest in ends.values()]
    if widths and max(widths) > _WIDER * min(widths) > 0:
        ranges = [f"{name} {ends[name][0]:g} to {ends[name][1]:g}" for name in sorted(ends)]
        yield f"one rule for scales of different widths: {listed(ranges)}"
    for aspect, values in scales.items():
        tops = _tops(rows.filter(pl.col("aspect") == aspect))
        if _is_mixed(values) or min(tops, default=1) <= 1 < _WIDER < max(tops, default=1):
            yield f"{aspect} has both numbers from 0 to 1 and larger ones"


def _tops(rows: pl.DataFrame) -> list[float]:
    """Return the highest number of each split and category with numbers."""
    groups = rows.group_by("split", "category").agg(pl.len(), pl.col("value").max())
    return groups.filter(pl.col("len") >= _LEAST)["value"].to_list()


def _is_mixed(values: pl.Series) -> bool:
    """Say whether there are shares and whole numbers above 1, and no other numbers."""
    shares, above = values.filter((values > 0) & (values < 1)), values.filter(values > 1)
    is_whole = bool((above % 1 == 0).all())
    return is_whole and min(len(shares), len(above)) >= _SOME * len(values)
