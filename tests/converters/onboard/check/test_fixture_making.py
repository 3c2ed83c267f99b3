"""`check-source --make-fixture`: an invented fixture in the shape of the real files."""

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from support.checked_source import Birds, make_birds, outcomes, run_here
from support.refusals import refusal

from nnd.converters.onboard import check_source
from nnd.converters.onboard.check import fixture_making, separate_run
from nnd.converters.onboard.check.fixture_making import Invention
from nnd.converters.onboard.contents.reading_files import read_parts


@pytest.fixture
def birds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Birds:
    """The source without its fixture."""
    monkeypatch.setattr(separate_run, "run_readings", run_here(tmp_path / "runs"))
    made = make_birds(tmp_path)
    shutil.rmtree(made.folder / "fixture")
    return made


def test_the_fixture_of_a_source_is_made_and_checked(birds: Birds) -> None:
    checks = check_source(birds.folder, birds.real, make_fixture=True)

    assert outcomes(checks) == {"review": ["fixture"]}
    (fixture,) = (check for check in checks if check.name == "fixture")
    assert fixture.message == "its counts are the converter's own"
    # The real file has eight rows, which are all of the fixture: see `REAL`.
    (counts,) = (check for check in checks if check.name == "converts")
    assert counts.message == "fixture: 5 pairs, real files: 5 pairs"


def test_no_word_of_the_texts_is_in_it(birds: Birds) -> None:
    check_source(birds.folder, birds.real, make_fixture=True)

    words = {*re.findall(r"[a-z]{4,}", (birds.folder / "fixture/birds.jsonl").read_text().lower())}
    real = {*re.findall(r"[a-z]{4,}", birds.real.read_text().lower())}
    # The fields, the labels and the systems of source.yaml.
    fields = {"question", "system", "answer", "label"}
    assert words & real == fields | {"wrong", "rude", "good", "heron", "wren", "plover"}


def test_whoever_has_counted_says_so_by_deleting_a_line(birds: Birds) -> None:
    check_source(birds.folder, birds.real, make_fixture=True)
    path = birds.folder / "fixture/expected.yaml"
    path.write_text(path.read_text().partition("\n")[2])

    assert outcomes(birds.check()) == {}


@pytest.mark.parametrize(
    ("suffix", "text"),
    [
        ("tsv", 'bird\tsays\nheron\tI said "no", and left.\nwren\t"Oh" was all.\n'),
        ("csv", 'bird,says\nheron,"I said ""no"", and left."\nwren,It was all.\n'),
        ("json", '[{"bird": "heron", "says": "I said \\"no\\"."}]'),
    ],
)
def test_each_format_is_written_as_it_was(tmp_path: Path, suffix: str, text: str) -> None:
    real, made = tmp_path / f"a.{suffix}", tmp_path / "fixture" / f"a.{suffix}"
    real.write_text(text)

    fixture_making._write(real, made, 1, Invention({"heron"}))

    (rows,) = read_parts(made).values()
    ((bird, says),) = ([*row.values()] for row in rows)
    assert bird == "heron"
    assert not {"said", "left", "all"} & {*re.findall("[a-z]+", says)}


def test_a_workbook_is_for_people_to_write(tmp_path: Path) -> None:
    (tmp_path / "a.xlsx").touch()

    with refusal("file.not-a-table", "a.xlsx"):
        fixture_making._write(tmp_path / "a.xlsx", tmp_path / "b.xlsx", 1, Invention(set()))


def test_a_fixture_that_is_there_stays(birds: Birds) -> None:
    (birds.folder / "fixture").mkdir()

    with refusal("place.exists", "fixture"):
        check_source(birds.folder, birds.real, make_fixture=True)

    assert [*(birds.folder / "fixture").iterdir()] == []


def test_texts_that_code_knows_keep_it_from_being_made(birds: Birds) -> None:
    birds.set_code(
        "        yield Annotation(",
        """\
        if not question.startswith("Who"):
            raise ValueError(question)
        yield Annotation(""",
    )

    with refusal("source.no-fixture", "birds"):
        check_source(birds.folder, birds.real, make_fixture=True)

    assert not (birds.folder / "fixture").exists()


@pytest.mark.parametrize(
    ("real", "invented"),
    [
        ({"a": None, "b": [1, True, 2.5]}, {"a": None, "b": [1, True, 2.5]}),
        ("heron|wren", "heron|wren"),  # systems that are known
        (" good ", " good "),
        ("-1.50", "-1.50"),
        ("en", "en"),
        ("doc_12", "baba_45"),  # a word, and each digit plus three
    ],
)
def test_what_is_no_text_stays(real: Any, invented: Any) -> None:
    assert Invention({"heron", "wren", "good"})(real) == invented


def test_texts_are_others() -> None:
    invent = Invention(set())
    long = "Write to jane.doe@example.org, she said; or call her, now, at her office by the sea."

    assert invent("<v>Ann</v> sings") != invent("<v>Ann</v> sang")
    assert invent("<v>Ann</v> sings").startswith("<v> ")
    assert "@" not in invent("jane.doe@example.org") + invent(long)
    assert invent(long) == invent(long)
    assert invent(f"{long} Or not.") != invent(long)
    assert invent("...? !") != "...? !"
