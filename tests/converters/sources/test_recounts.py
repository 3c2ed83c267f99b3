"""The built-in sources on their real files: every pair, score and count, counted again.

What is expected comes from `support.recounts`, which reads the same files with nothing of ours.
What the fixtures give is in `test_sources.py`, and what is odd about a source in a file of its own.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from decimal import Decimal
from pathlib import Path
from statistics import fmean

import polars as pl
import pytest
from support.recounts.built_in_sources import LINE_BASED, SOURCES, choose, fixture_cases
from support.recounts.counted_again import conversion_of, converted, pairs_of, same_text, texts_of
from support.recounts.known_numbers import DISTINCT, REFERENCES, WITH_EQUAL_TEXTS
from support.recounts.readings import READINGS, Reading

from nnd.converters.folder.validation import validate
from nnd.converters.source.source import Source
from nnd.converters.source.source_files import Files
from nnd.schemas import SourceError, read_systems

COLUMNS = (
    *("split", "context_id", "high_id", "low_id", "aspect", "error_category", "group"),
    *("candidate_high", "candidate_low", "system_high", "system_low", "pair_id"),
)

LARGE = {
    *("demetr", "wmt23_mqm_sxs-zhen", "summedits", "simplification"),
    *("wmt_mqm-ted-ende", "wmt_mqm-ted-ende-severity_order", "wmt_mqm-ted-zhen-severity"),
}

# Validating derives everything again. Sources of the same rules are validated always.
LONG_TO_VALIDATE = LARGE | {
    *("summeval", "dialsummeval", "wmt23_mqm_sxs-ende"),
    *("wmt_mqm-ted-zhen-severity_order", "wmt_mqm-ted-ende-severity"),
}


def readings_but(full: set[str]) -> pytest.MarkDecorator:
    """Parametrise by every reading; those of some names run by `make test-full` alone."""
    readings = [
        pytest.param(reading, id=reading.id, marks=[pytest.mark.full] if reading.id in full else [])
        for reading in READINGS
    ]
    return pytest.mark.parametrize("reading", readings)


every_reading = readings_but(LARGE)


@pytest.mark.sampled(3)
@every_reading
def test_every_pair_and_no_other_in_order(reading: Reading, nnd_data: Path) -> None:
    conversion = conversion_of(reading, nnd_data)
    pairs = pairs_of(reading, nnd_data)
    dropped = {entry["reason"]: entry["n"] for entry in conversion.manifest["dropped"]}

    assert pairs
    expected = [row for row in pairs if not same_text(row)]
    assert conversion.pairs.select(COLUMNS).rows() == expected
    assert dropped.get("same_text", 0) == len(pairs) - len(expected)


NEWER = [reading for reading in READINGS if reading.id in DISTINCT]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("reading", NEWER, ids=[reading.id for reading in NEWER])
def test_the_recount_gives_the_distinct_pairs(reading: Reading, nnd_data: Path) -> None:
    pairs = pairs_of(reading, nnd_data)

    assert len({(*row[:4], row[6]) for row in pairs if not same_text(row)}) == DISTINCT[reading.id]


@every_reading
def test_the_recount_gives_the_known_number(reading: Reading, nnd_data: Path) -> None:
    assert len(pairs_of(reading, nnd_data)) == WITH_EQUAL_TEXTS[reading.id]


@every_reading
def test_contexts_and_their_parts(reading: Reading, nnd_data: Path) -> None:
    columns = ("split", "context_id", "context", "inputs")
    rows = conversion_of(reading, nnd_data).annotations.select(columns).iter_rows()
    found = {
        (split, key): (context, {part["key"]: part["value"] for part in inputs})
        for split, key, context, inputs in rows
    }
    texts = texts_of(reading, nnd_data)

    assert {key: parts for key, (_, parts) in found.items()} == {
        (text.split, text.context): text.inputs for text in texts
    }
    for context, parts in found.values():
        assert len(parts) > 1 or [context] == list(parts.values())


@every_reading
def test_references(reading: Reading, nnd_data: Path) -> None:
    # In the order of a row; those of several rows, as of corrected ones, in that of the alphabet.
    given: dict[tuple[str, str], set[tuple[int, str]]] = {}
    for text in texts_of(reading, nnd_data):
        for place in enumerate(text.references):
            given.setdefault((text.split, text.context), set()).add(place)
    expected = {key: list(dict(map(reversed, sorted(places)))) for key, places in given.items()}
    frame = conversion_of(reading, nnd_data).references
    found: dict[tuple[str, str], list[str]] = {}
    for split, key, n, reference in frame.select(
        "split", "context_id", "n", "reference"
    ).iter_rows():
        found.setdefault((split, key), []).append(reference)
        assert n == len(found[split, key])

    assert found == expected
    place = "/".join([reading.source, *filter(None, [reading.options.get("set_name")])])
    assert frame.height == REFERENCES.get(place, REFERENCES.get(reading.source, 0))


@every_reading
def test_margins(reading: Reading, nnd_data: Path) -> None:
    """A margin is the difference of two scores; there is none without scores."""
    marks = {
        (text.split, text.id, aspect): mark
        for text in texts_of(reading, nnd_data)
        for aspect, mark in text.marks.items()
        if isinstance(mark, int | float | Decimal)
    }
    pairs = conversion_of(reading, nnd_data).pairs
    for split, high, low, aspect, margin in pairs.select(
        "split", "high_id", "low_id", "aspect", "margin"
    ).iter_rows():
        if marks:
            difference = marks[split, high, aspect] - marks[split, low, aspect]
            assert margin == pytest.approx(float(difference))
        elif reading.source not in ("frank", "confit_samsum", "qgeval"):  # see their own tests
            assert margin is None


@every_reading
def test_counts(reading: Reading, nnd_data: Path) -> None:
    texts = texts_of(reading, nnd_data)
    pairs = [row for row in pairs_of(reading, nnd_data) if not same_text(row)]
    sizes = Counter((text.split, text.context) for text in texts)
    found = conversion_of(reading, nnd_data).manifest
    dropped = {entry["reason"]: entry["n"] for entry in found["dropped"]}
    # A label is an annotation; so is a candidate without one, under each aspect.
    labels = [mark for text in texts for mark in text.marks.values()]

    assert {name: found["counts"][name] for name in COUNTED} == {
        "annotations": sum(len(m) or 1 if isinstance(m, tuple) else 1 for m in labels),
        "contexts": len(sizes),
        "candidates": len({(text.split, text.id) for text in texts}),
        "empty_candidates": sum(not text.text.strip() for text in texts),
        "systems": len({name for text in texts for name in text.systems}),
        "pairs": len(pairs),
        "distinct_pairs": len({row[:4] for row in pairs}),
        "same_after_lowercase": sum(
            same_text((*row[:7], row[7].lower(), row[8].lower())) for row in pairs
        ),
        "by_error_category": Counter(row[5] for row in pairs),
        "by_aspect": Counter(row[4] for row in pairs),
        "by_split": Counter(row[0] for row in pairs),
    }
    assert dropped.get("one_candidate", 0) == sum(size == 1 for size in sizes.values())
    assert dropped.get("unlabelled", 0) == sum(mark is None for mark in labels)
    if reading.between is not None:
        assert dropped.pop("between") == sum(map(reading.between, labels))
    assert dropped.keys() <= {"same_text", "one_candidate", "unlabelled"}


COUNTED = (
    *("annotations", "contexts", "candidates", "empty_candidates", "systems", "pairs"),
    *("distinct_pairs", "same_after_lowercase", "by_error_category", "by_aspect", "by_split"),
)


@every_reading
def test_human_scores(reading: Reading, nnd_data: Path) -> None:
    texts = texts_of(reading, nnd_data)
    values: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    kinds = {
        label
        for text in texts
        for mark in text.marks.values()
        if isinstance(mark, tuple)
        for label in mark
        if label != "No-error"
    }
    for text in texts:
        for system in text.systems:
            for aspect, mark in text.marks.items():
                if (value := reading.value(mark)) is not None:
                    values[system, aspect, "overall"].append(value)
                    # Where there are labels, categories are those of errors.
                    if text.category is not None and not isinstance(mark, tuple):
                        values[system, aspect, text.category].append(value)
                for kind in kinds if mark is not None else ():
                    values[system, aspect, kind].append(kind not in mark)
    scores = conversion_of(reading, nnd_data).human_scores
    found = {
        row[:3]: row[3:]
        for row in scores.select("system", "aspect", "category", "score", "n").iter_rows()
    }

    if reading.source == "challenge300":  # its categories of contexts have a test of their own
        found = {key: value for key, value in found.items() if key[2] == "overall"}
    assert found == {
        key: (pytest.approx(fmean(numbers)), len(numbers)) for key, numbers in values.items()
    }


@every_reading
def test_systems_that_are_public_have_their_hub_ids(reading: Reading, nnd_data: Path) -> None:
    conversion = conversion_of(reading, nnd_data)
    scores = conversion.human_scores.select("system", "model_id").unique()
    declared = read_systems(conversion.manifest["source"])

    assert {name: declared[name].model_id for name in scores["system"]} == dict(scores.iter_rows())


@every_reading
def test_the_file_is_the_declared_one(reading: Reading, nnd_data: Path) -> None:
    files = conversion_of(reading, nnd_data).manifest["files"]

    assert files
    assert all(file["verified"] for file in files)


@pytest.mark.sampled(3)
@readings_but(LONG_TO_VALIDATE)
def test_the_folder_is_valid(reading: Reading, nnd_data: Path, tmp_path: Path) -> None:
    conversion_of(reading, nnd_data).write(tmp_path)

    assert [str(finding) for finding in validate(tmp_path).findings] == []


# What is special about the real files.

NOT_THERE = ("file.not-found", "source.several-files", "source.no-articles")
LARGE_SOURCES = {"demetr", "simplification", "wmt23_mqm_sxs"}


def sets_of(sources: Iterable[Source]) -> list[tuple[Source, str | None]]:
    return [(one, name) for one in sources for name in (None, *one.facts.get("sets", {}))]


SMALL = sets_of(source for source in SOURCES if source.name not in LARGE_SOURCES)


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("source", "set_name"), SMALL, ids=[f"{one.name}-{name}" for one, name in SMALL]
)
def test_the_fixture_has_every_trait_of_the_real_files(
    source: Source, set_name: str | None, nnd_data: Path
) -> None:
    covered = [case for case in fixture_cases() if case.source == source.name]
    invented = set[str]().union(*(traits(source, *case[1:]) for case in covered))

    assert traits(source, nnd_data / source.name, set_name, None) - invented == set()


@pytest.mark.full
@pytest.mark.parametrize("name", sorted(LARGE_SOURCES))
def test_the_fixture_has_every_trait_of_large_files(name: str, nnd_data: Path) -> None:
    for source, set_name in sets_of(source for source in SOURCES if source.name == name):
        test_the_fixture_has_every_trait_of_the_real_files(source, set_name, nnd_data)


def traits(source: Source, folder: Path, set_name: str | None, variant: str | None) -> set[str]:
    """What is special about the files in a folder, by name; nothing where they are not there."""
    try:
        conversion = converted(source.name, folder, set_name=set_name, variant=variant)
    except SourceError as error:
        if error.code not in NOT_THERE:
            raise
        return set()
    counts, rows = conversion.manifest["counts"], conversion.annotations
    seen = {
        "oddities": bool(conversion.manifest["oddities"]),
        "empty candidates": counts["empty_candidates"] > 0,
        "pairs that differ in letter case only": counts["same_after_lowercase"] > 0,
        "pairs of several error categories": counts["pairs"] > counts["distinct_pairs"],
        "several splits": len(counts["by_split"]) > 1,
        "context categories": rows["category"].is_not_null().any(),
        "candidates of several systems": rows["system"].str.contains("|", literal=True).any(),
        "letters outside ASCII": has(rows, "candidate", r"[^\x00-\x7f]")
        or has(rows, "context", r"[^\x00-\x7f]"),
        "line breaks in contexts": has(rows, "context", r"\n"),
        "line breaks in candidates": has(rows, "candidate", r"\n"),
        "doubled spaces in candidates": has(rows, "candidate", "  "),
        "spaces at the end of candidates": has(rows, "candidate", r"\s$"),
        "spaces before full stops": has(rows, "candidate", r" \.( |$)"),
        "-lrb- for a bracket": has(rows, "candidate", r"(?i)-lrb-"),
    }
    dropped = {f"dropped: {entry['reason']}" for entry in conversion.manifest["dropped"]}
    found = {name for name, is_there in seen.items() if is_there}
    return found | dropped | marks(choose(source, set_name, variant), folder)


def has(rows: pl.DataFrame, column: str, pattern: str) -> bool:
    return bool(rows[column].str.contains(pattern).any())


def marks(source: Source, folder: Path) -> set[str]:
    """What is special about the bytes of the declared files that are there."""
    files, found = Files(source, folder), set()
    for file in source.files:
        raw = files.path(file.name).read_bytes() if files.has(file.name) else b""
        if Path(file.name).suffix in LINE_BASED:
            found |= {"byte-order mark"} if raw.startswith(b"\xef\xbb\xbf") else set()
            found |= {"CRLF"} if b"\r\n" in raw else set()
    return found
