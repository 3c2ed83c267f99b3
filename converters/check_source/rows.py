"""Checks of what a source gives: ids, counts, aspects, categories, systems, pairs."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from nnd.converters import NoError, Order
from nnd.converters.check_source.outcome import AT_HAND, Check, listed
from nnd.converters.check_source.run import Run
from nnd.converters.folder import Conversion, convert_again
from nnd.converters.pairs import ANY_SYSTEM, check_annotations
from nnd.converters.source import Source
from nnd.schemas import Problem, SourceError, nnd_version

IDS, COUNTS, ASPECTS, CATEGORIES = "ids", "counts", "aspects", "categories"
CONVERTS, SYSTEMS, PAIRS = "converts", "systems", "pairs"

_COUNTED = ("annotations", "contexts", "systems", "pairs", "by_error_category")


@dataclass(frozen=True, slots=True)
class Reading:
    """What a run gave.

    Attributes:
        run: The run.
        annotations: Its rows.
        problems: What `check_annotations` finds in them, by the field that has it.
        conversion: The pairs and all else; None where there is no pair.
        no_pair: Why there is none, or empty.
    """

    run: Run
    annotations: pl.DataFrame
    problems: Mapping[str, Sequence[Problem]]
    conversion: Conversion | None
    no_pair: str

    @property
    def label(self) -> str:
        """What it is called in messages."""
        return self.run.job.label

    @property
    def source(self) -> Source:
        """The source as it is read here."""
        return self.run.source


def read_run(run: Run, annotations: pl.DataFrame) -> Reading:
    """Derive from the rows of a run what `nnd convert` derives, and keep what it would refuse."""
    problems: dict[str, list[Problem]] = {}
    for problem in check_annotations(run.source, annotations):
        problems.setdefault(problem.path, []).append(problem)
    facts = {k: v for k, v in run.source.facts.items() if k not in ("sets", "variants")}
    manifest = {
        "nnd_version": nnd_version(),
        "source": facts,
        "files": run.files,
        "oddities": run.oddities,
        "normalised": [],
    }
    try:
        conversion, no_pair = convert_again(annotations, manifest), ""
    except SourceError as error:
        conversion, no_pair = None, str(error)
    return Reading(run, annotations, problems, conversion, no_pair)


def check_known(readings: Sequence[Reading], real: Sequence[Reading]) -> Iterator[Check]:
    """Check that aspects, error categories and systems are those of source.yaml, and are used.

    Args:
        readings: All that there is.
        real: Those of real files: a fixture need not have everything.
    """
    for name, field, section in (
        (ASPECTS, "aspect", "aspects"),
        (CATEGORIES, "label", "taxonomy"),
        (SYSTEMS, "system", "systems"),
    ):
        unknown = [
            f"{one.label}: {one.problems[field][0].message}"
            for one in readings
            if field in one.problems
        ]
        unused = sorted(_unused(real, field))
        if unknown:
            remedy = f"add it under `{section}` in source.yaml, or mend how it is read"
            yield Check(name, "fail", listed(list(dict.fromkeys(unknown)), 3), remedy)
        elif unused:
            remedy = (
                f"take them out of `{section}`, or mend how it is read; other sets may have them"
            )
            yield Check(name, "look", f"not in the real files: {listed(unused)}", remedy)
        else:
            yield Check(name, "pass", f"those under `{section}` and no others")


def _unused(readings: Sequence[Reading], field: str) -> set[str]:
    """Return the names that source.yaml knows and no reading has; those of other sets aside."""
    listed_, found = set[str](), set[str]()
    for one in readings:
        listed_ |= {name for name in _listed(one.source, field) if name != ANY_SYSTEM}
        values = one.annotations[field].drop_nulls()
        found |= set(values.str.split("|").explode() if field == "system" else values)
    return listed_ - found


def _listed(source: Source, field: str) -> Iterable[str]:
    match field, source.rule:
        case "aspect", _:
            return list(source.facts["aspects"])
        case "system", _:
            return list(source.systems)
        case _, NoError(no_error):
            return [no_error, *source.taxonomy]
        case _, Order(better):
            return [*{label for pair in better for label in pair}, *source.taxonomy]
    return list(source.taxonomy)


def check_converts(readings: Sequence[Reading]) -> Check:
    """Check that the rows are what `nnd convert` takes, but for what has a check of its own."""
    problems = [
        (one.label, found[0])
        for one in readings
        for path, found in one.problems.items()
        if path not in ("label", "aspect", "system")
    ]
    if problems:
        told = [f"{label}: {problem.path} {problem.message}" for label, problem in problems]
        return Check(CONVERTS, "fail", listed(told, 3), problems[0][1].remedy)
    return Check(CONVERTS, "pass", listed([one.label for one in readings]))


def check_pairs(readings: Sequence[Reading]) -> Check:
    """Check that the quality rule finds a pair in every reading."""
    without = [f"{one.label}: {one.no_pair}" for one in readings if one.conversion is None]
    if without:
        rule = readings[0].source.facts["quality"]
        remedy = f"mend `quality` in source.yaml ({rule}), or give the fixture rows that differ"
        return Check(PAIRS, "fail", without[0], remedy)
    made = [f"{one.label} {one.conversion.pairs.height:,}" for one in readings if one.conversion]
    return Check(PAIRS, "pass", listed(made))


def check_ids(
    straight: Sequence[Reading], shuffled: Mapping[str, Run], kept: Sequence[str]
) -> Check:
    """Check that the same rows in another order give the same pairs.

    Args:
        straight: Readings of the files as they are.
        shuffled: Label of a reading → the run of its files with their rows shuffled.
        kept: Files whose rows nothing here can shuffle.
    """
    remedy = (
        "make context_id and candidate_id of the source's own keys or of the texts, never of a row "
        "number, and take no row for the first"
    )
    for one in straight:
        run = shuffled.get(one.label)
        if run is None:
            continue
        where = f"{one.label}, rows shuffled"
        if run.annotations is None:
            return Check(IDS, "fail", f"{where}: {run.error}", remedy)
        before, after = (
            _pair_ids(one.conversion),
            _pair_ids(read_run(run, run.annotations).conversion),
        )
        if before != after:
            message = f"{where}: {len(before - after)} of {len(before)} pairs get another pair_id"
            return Check(IDS, "fail", message, remedy)
    aside = f"; rows were not shuffled in {listed(list(kept))}" if kept else ""
    if not shuffled:
        return Check(IDS, "look", f"no rows were shuffled{aside}", "see that no id is a row number")
    return Check(IDS, "pass", f"the same with rows shuffled{aside}")


def _pair_ids(conversion: Conversion | None) -> set[str]:
    return set() if conversion is None else set(conversion.pairs["pair_id"])


def check_counts(
    fixtures: Sequence[tuple[Reading, Mapping[str, Any]]], real: Sequence[Reading]
) -> Check:
    """Check that the fixture gives what expected.yaml says, and the real files what `expected` is.

    Args:
        fixtures: Readings of the fixture, and the entries of expected.yaml that are of them.
        real: Readings of the real files, if they are at hand.
    """
    wrong, open_ = [], []
    for one, expected in fixtures:
        wrong += [f"{one.label}: {told}" for told in _differences(one, expected)]
    for one in real:
        counts = one.conversion.manifest["counts"] if one.conversion else {}
        if not one.run.files or not all(file["verified"] for file in one.run.files):
            open_.append(f"{one.label}: not the declared files, so that `expected` says nothing")
        elif one.source.facts["expected"] is None:
            found = {name: counts.get(name) for name in _COUNTED}
            wrong.append(f"{one.label}: source.yaml expects nothing where the files give {found}")
        else:
            told = _differences(one, one.source.facts["expected"])
            wrong += [f"{one.label}: {each}" for each in told]
    if wrong:
        remedy = (
            "count by other means; then mend the converter, or fixture/expected.yaml, or "
            "`expected` in source.yaml"
        )
        return Check(COUNTS, "fail", listed(wrong, 3), remedy)
    if open_:
        return Check(COUNTS, "look", listed(open_), "declare their sha256, or fetch them again")
    if real:
        return Check(COUNTS, "pass", "fixture and real files give what is expected")
    if all(one.source.facts["expected"] is None for one, _ in fixtures):
        message = "source.yaml expects nothing of the real file"
        return Check(COUNTS, "look", message, f"{AT_HAND}, and put its counts under `expected`")
    return Check(COUNTS, "pass", f"the fixture gives what is expected; {AT_HAND} to check it too")


def _differences(reading: Reading, expected: Mapping[str, Any]) -> Iterator[str]:
    if reading.conversion is None:
        return
    manifest = reading.conversion.manifest
    dropped = {entry["reason"]: entry["n"] for entry in manifest["dropped"]}
    found = {**manifest["counts"], "dropped": dropped}
    for name, value in expected.items():
        if found.get(name) != value:
            yield f"{name} is {found.get(name)} where {value} is expected"
    missing = [name for name in _COUNTED if name not in expected]
    if missing:
        yield f"nothing is expected of {', '.join(missing)}"
