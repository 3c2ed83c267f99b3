"""Every built-in source, whatever it is: its facts, and its fixture against `expected.yaml`.

`fixture/expected.yaml` lists what the fixture gives, worked out by hand: one entry per set and
variant, with `from` where the file lies in a folder below. A new source is tested by being there.
"""

import csv
import os
import random
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from polars.testing import assert_frame_equal
from support.recounts.built_in_sources import LINE_BASED, SOURCES, choose, place_of, read_expected
from support.recounts.counted_again import converted

from nnd.converters.folder.conversion import Conversion, convert
from nnd.converters.folder.validation import validate
from nnd.converters.source.source import Source
from nnd.schemas import check_rows

PLACE = ("from", "set", "variant")  # the keys of an entry that say what is converted
REQUIRED = {"annotations", "contexts", "systems", "pairs", "by_error_category", "dropped"}
NOTHING: dict[str, Any] = {"pairs": 0, "by_error_category": {}}  # of a file that nobody could count
LARGEST = 64 * 1024
# One order that is not that of the file shows what depends on it; the others are in full.
SEEDS = (1, 2, 3) if os.environ.get("NND_TEST_FULL") else (1,)


class Case(NamedTuple):
    """A source, read as one of its sets and variants."""

    source: Source
    folder: Path
    set_name: str | None
    variant: str | None

    def chosen(self) -> Source:
        return choose(self.source, self.set_name, self.variant)


def as_case(source: Source, entry: dict[str, Any]) -> Case:
    return Case(source, place_of(source, entry), entry["set"], entry["variant"])


def case_id(source: Source, entry: dict[str, Any]) -> str:
    return "-".join([source.name, *(str(entry[key]) for key in PLACE if entry.get(key))])


ENTRIES = [(source, entry) for source in SOURCES for entry in read_expected(source.folder)]
every_source = pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.name)
every_entry = pytest.mark.parametrize(
    ("source", "entry"), ENTRIES, ids=[case_id(source, entry) for source, entry in ENTRIES]
)


def conversion_of(case: Case) -> Conversion:
    return converted(case.source.name, case.folder, set_name=case.set_name, variant=case.variant)


# What a source says of itself.


@every_source
def test_source_yaml_is_valid_in_every_set_and_variant(source: Source) -> None:
    names = source.facts.get("sets", {})
    chosen = [source, *(source.choose("set", name) for name in names)]
    chosen += [
        one.choose("variant", name) for one in chosen for name in one.facts.get("variants", {})
    ]

    assert list(check_rows("source", [one.facts for one in chosen])) == []
    assert source.name == source.folder.name


@every_source
def test_the_expected_counts_add_up(source: Source) -> None:
    for case in all_cases(source):
        expected = case.chosen().facts["expected"] or NOTHING

        assert sum(expected["by_error_category"].values()) == expected["pairs"]
        if "by_category" in expected:
            assert sum(expected["by_category"].values()) == expected["pairs"]
    if source.facts["expected"] is None:
        assert source.files[0].sha256 is None  # the true file was never seen
    else:
        assert len(source.systems) == source.facts["expected"]["systems"]


@every_source
def test_the_categories_it_expects_are_in_its_taxonomy(source: Source) -> None:
    for case in all_cases(source):
        chosen = case.chosen()

        # Rules without labels take the aspect as the category.
        known = set(chosen.taxonomy) | set(chosen.facts["aspects"])
        assert set((chosen.facts["expected"] or NOTHING)["by_error_category"]) <= known


@every_source
def test_a_file_has_a_digest_or_says_that_it_has_none(source: Source) -> None:
    for file in declared_files(source):
        assert file.sha256 is None or re.fullmatch("[0-9a-f]{64}", file.sha256)
        # A size without a digest, or the other way round, was measured on something else.
        assert (file.sha256 is None) == (file.bytes is None)


@every_source
def test_a_file_has_a_url_or_a_note_tells_how_to_get_it(source: Source) -> None:
    for file in declared_files(source):
        is_own = (source.folder / file.name).is_file()

        assert file.url or is_own or any(file.name in note for note in all_notes(source)), file.name


@every_source
def test_redistribution_follows_from_the_licence(source: Source) -> None:
    licence, redistribution = source.facts["licence"], source.facts["redistribution"]
    if licence == "unknown":
        assert redistribution == "unknown"
    elif re.search(r"-ND(-|$)", licence):
        assert redistribution == "no-derivatives"
    elif redistribution != "allowed":
        # More careful than the licence is fine where a note says why.
        assert redistribution == "unknown"
        assert any("licence" in note for note in all_notes(source))


@every_source
def test_its_folder_is_small(source: Source) -> None:
    sizes = {path: path.stat().st_size for path in source.folder.rglob("*") if path.is_file()}

    assert {path for path, size in sizes.items() if size > LARGEST} == set()


def all_cases(source: Source) -> Iterator[Case]:
    """The source with every set and every variant that it declares."""
    fixture = source.folder / "fixture"
    for set_name in (None, *source.facts.get("sets", {})):
        chosen = Case(source, fixture, set_name, None).chosen()
        for variant in (None, *chosen.facts.get("variants", {})):
            yield Case(source, fixture, set_name, variant)


def declared_files(source: Source) -> set[Any]:
    return {file for case in all_cases(source) for file in case.chosen().files}


def all_notes(source: Source) -> set[str]:
    return {note for case in all_cases(source) for note in case.chosen().facts.get("notes", [])}


# What its fixture holds.


@every_source
def test_the_fixture_covers_every_variant_and_a_set(source: Source) -> None:
    covered = [(entry["set"], entry["variant"]) for entry in read_expected(source.folder)]
    sets, variants = {name for name, _ in covered}, {name for _, name in covered}

    assert covered
    # Sets are read alike: one stands for all.
    assert bool(sets - {None}) == bool(source.facts.get("sets"))
    assert variants - {None} == {case.variant for case in all_cases(source) if case.variant}


@every_source
def test_the_fixture_covers_every_aspect(source: Source) -> None:
    for case in (as_case(source, entry) for entry in read_expected(source.folder)):
        assert set(conversion_of(case).annotations["aspect"]) == set(case.chosen().facts["aspects"])


# What its fixture gives.


@every_entry
def test_the_fixture_gives_what_is_expected(source: Source, entry: dict[str, Any]) -> None:
    manifest = conversion_of(as_case(source, entry)).manifest
    dropped = {found["reason"]: found["n"] for found in manifest["dropped"]}
    expected = {name: value for name, value in entry.items() if name not in PLACE}

    assert set(expected) >= REQUIRED
    assert {
        name: (manifest["counts"] | {"dropped": dropped})[name] for name in expected
    } == expected


@every_entry
def test_the_folder_is_valid(source: Source, entry: dict[str, Any], tmp_path: Path) -> None:
    conversion = conversion_of(as_case(source, entry))
    conversion.write(tmp_path)

    assert conversion.pairs["pair_id"].is_unique().all()
    assert [str(finding) for finding in validate(tmp_path)] == []


@pytest.mark.parametrize(
    ("source", "entry"),
    [
        pytest.param(source, entry, id=case_id(source, entry))
        for source, entry in ENTRIES
        if any(
            Path(file.name).suffix in LINE_BASED for file in as_case(source, entry).chosen().files
        )
    ],
)
def test_the_order_of_the_lines_does_not_matter(
    source: Source, entry: dict[str, Any], tmp_path: Path
) -> None:
    case = as_case(source, entry)
    straight = conversion_of(case)
    for seed in SEEDS:
        place = tmp_path / str(seed)
        shutil.copytree(case.folder, place, ignore=shutil.ignore_patterns("expected.yaml"))
        chance = random.Random(seed)
        for path in sorted(place.rglob("*")):
            if path.suffix in LINE_BASED:
                path.write_bytes(shuffle(path.read_bytes(), path.suffix, chance))
        shuffled = convert(
            case.source.name,
            origin=place,
            set_name=case.set_name,
            variant=case.variant,
            accept_changed="a test",
        )

        assert_frame_equal(shuffled.annotations, straight.annotations)
        assert_frame_equal(shuffled.pairs, straight.pairs)
        assert_frame_equal(shuffled.human_scores, straight.human_scores)


def shuffle(raw: bytes, suffix: str, chance: random.Random) -> bytes:
    """Return a line-based file with its rows in another order; a table's header stays the first."""
    mark = b"\xef\xbb\xbf" if raw.startswith(b"\xef\xbb\xbf") else b""
    rows = [b""]
    for line in raw.removeprefix(mark).splitlines(keepends=True):
        # A quoted cell may hold line breaks: a row ends where its quotes are closed. Where quotes
        # are characters like any other, some rows then stay together, which is a shuffle too.
        is_open = suffix != ".jsonl" and rows[-1].count(b'"') % 2 == 1
        rows[-1:] = [rows[-1] + line] if is_open else [rows[-1], line]
    rows = [row if row.endswith(b"\n") else row + b"\n" for row in rows[1:]]
    header = [] if suffix == ".jsonl" else rows[:1]
    body = rows[len(header) :]
    return mark + b"".join([*header, *chance.sample(body, len(body))])


def test_shuffling_keeps_every_row_of_a_table() -> None:
    table = b'\xef\xbb\xbfa,b\r\n1,"x\r\ny"\r\n2,z\n3,"say ""hi"""'

    shuffled = shuffle(table, ".csv", random.Random(1))

    def read(raw: bytes) -> list[list[str]]:
        lines = raw.decode("utf-8-sig").splitlines(keepends=True)
        return list(csv.reader(lines))

    assert read(shuffled)[0] == ["a", "b"]
    assert shuffled[len(b"\xef\xbb\xbf") :].startswith(b"a,b\r\n")
    assert sorted(read(shuffled)) == sorted(read(table))
    assert read(shuffled) != read(table)
