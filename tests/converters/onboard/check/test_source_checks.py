"""`check-source`: each property it asks for, broken in a source that has them all."""

import hashlib
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from support.checked_source import (
    FACTS,
    FIXTURE,
    REAL,
    Birds,
    lines,
    make_birds,
    outcomes,
    run_here,
)
from support.recounts.built_in_sources import SOURCES
from support.screens.commands import Nnd

from nnd.converters.check import CHECKS, Check, CheckReport
from nnd.converters.onboard import check_source
from nnd.converters.onboard.check import (
    fact_checks as checked_facts,
    separate_run as run,
)
from nnd.converters.onboard.check.process_limits import Limits
from nnd.converters.onboard.check.source_checks import NAMES
from nnd.converters.source import source
from nnd.converters.source.source import load_source

FULL = bool(os.environ.get("NND_TEST_FULL"))
# Of the rest, `tests/converters/sources` holds the counts of fixtures and real files always.
SHORT = {"sample", "frank"}
QUICK = {"quiz_design"}
NOT_AT_HAND = ["unread", "invented", "columns", *CHECKS]


@pytest.fixture
def birds(tmp_path: Path) -> Birds:
    return make_birds(tmp_path)


@pytest.fixture
def here(birds: Birds, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Birds:
    """The source, converted in this process: for checks that watch nothing."""
    monkeypatch.setattr(run, "run_readings", run_here(tmp_path / "runs"))
    return birds


def only(checks: CheckReport, outcome: str, name: str) -> Check:
    """Return the one check with that outcome, which must be that of `name`; nothing else is odd."""
    found = outcomes(checks)
    assert found.pop(outcome) == [name], [str(check) for check in checks]
    found.pop("skipped", None)
    assert found == {}, [str(check) for check in checks]
    (one,) = (check for check in checks if check.name == name)
    return one


# What is as it should be.


def test_a_good_source_passes_every_check_and_stays_as_it_is(birds: Birds) -> None:
    before = sorted(birds.folder.parent.rglob("*"))

    checks = birds.check()

    assert [check.name for check in checks] == list(NAMES)
    assert outcomes(checks) == {}
    assert sorted(birds.folder.parent.rglob("*")) == before


def test_without_the_real_file_it_says_what_it_could_not_look_at(here: Birds) -> None:
    checks = check_source(here.folder)

    assert outcomes(checks) == {"skipped": NOT_AT_HAND}
    assert all("--from" in check.remedy for check in checks if check.outcome == "skipped")


def test_the_real_file_may_lie_in_the_cache(here: Birds, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = here.folder.parent / "cache"
    (cache / "birds").mkdir(parents=True)
    monkeypatch.setenv("NND_CACHE", str(cache))
    (cache / "birds" / "birds.jsonl").write_bytes(here.real.read_bytes())

    assert outcomes(check_source(here.folder)) == {}


def test_the_source_is_read_once(here: Birds, monkeypatch: pytest.MonkeyPatch) -> None:
    here.set_facts(variants={"late": {"description": "Late birds"}})
    here.set_fixture(FIXTURE)
    read, whole = list[Path](), source.read_yaml

    def read_yaml(path: Path, **options: int) -> object:
        read.append(path)
        return whole(path, **options)

    monkeypatch.setattr(source, "read_yaml", read_yaml)

    here.check()

    assert read == [here.folder / "source.yaml"]


@pytest.mark.parametrize("name", [one.name for one in SOURCES])
def test_no_built_in_source_lacks_anything(name: str) -> None:
    if name not in SHORT and not FULL:
        pytest.skip("takes a while: NND_TEST_FULL=1")
    failed = [str(check) for check in check_source(name) if check.outcome == "fail"]

    assert failed == []


# `sample` has no other files, and those of `ragtruth` are not among the real data.
@pytest.mark.parametrize(
    "name", [one.name for one in SOURCES if one.name not in ("sample", "ragtruth")]
)
def test_no_built_in_source_lacks_anything_on_its_real_files(name: str, nnd_data: Path) -> None:
    if name not in QUICK and not FULL:
        pytest.skip("takes a while: NND_TEST_FULL=1")
    elsewhere = {"wmt_mqm": "wmt_mqm/ted", "wmt_qe_2022": "wmt_mqm/wmt-qe-2022"}
    place = nnd_data / elsewhere.get(name, name)
    checks = check_source(name, place)

    assert [str(check) for check in checks if check.outcome in ("fail", "skipped")] == []


# source.yaml.

LATE = {"description": "Late birds"}
UNTITLED = ("@misc{birds, title={Birds}}", "@misc{birds, title={Birds, year={2021}}", "@misc")
UNCOUNTED = {name: n for name, n in FACTS["expected"].items() if name != "counted_by"}

# Changed facts; the outcome of which check that changes; what it says, and what is to be done.
FACTS_FOUND: list[tuple[dict[str, Any], str, str, list[str], str]] = [
    ({"licence": ["CC0-1.0"]}, "fail", "source.yaml", ["licence"], ""),
    ({"sets": {"late": LATE | {"languages": []}}}, "fail", "source.yaml", ["languages"], ""),
    ({"name": "words"}, "fail", "source.yaml", [], "the source one name"),
    ({"texts": "TODO"}, "fail", "facts", ["texts"], "fill them in"),
    ({"limitations": ["Few.", "TODO, say"]}, "fail", "facts", ["limitations/1"], "fill them in"),
    ({"languages": ["und"]}, "fail", "facts", ["languages"], "fill them in"),
    ({"aspects": {"answer": "TODO, ask"}}, "fail", "facts", ["aspects/answer"], "fill them in"),
    ({"licence": "unknown", "redistribution": "unknown"}, "review", "facts", [], "--private"),
    ({"licence": "unknown"}, "fail", "source.yaml", ["licence: unknown"], ""),
    ({"licence": "CC-BY-ND-4.0"}, "fail", "source.yaml", ["licence: CC-BY-ND-4.0"], ""),
    ({"licence": "Birds-1.0"}, "review", "facts", [], "spdx.org"),
    *(({"citation": citation}, "fail", "facts", [], "BibTeX") for citation in UNTITLED),
    ({"variants": {"late": LATE}}, "fail", "fixture", ["variant late"], ""),
    *(
        (
            {section: known},
            "fail",
            "converts",
            [f'"{lost}" is not in source.yaml', f"`{section}`"],
            "",
        )
        for section, known, lost in (
            ("aspects", {"question": "Is it a question?"}, "answer"),
            ("taxonomy", {"wrong": FACTS["taxonomy"]["wrong"]}, "rude"),
            ("systems", {"heron": None, "wren": None}, "plover"),
        )
    ),
    ({"expected": None}, "review", "counts", ["'pairs': 5"], "count by other means"),
    ({"expected": UNCOUNTED}, "review", "counts", [], "`counted_by`"),
]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("facts", "outcome", "name", "said", "remedy"), FACTS_FOUND)
def test_facts(
    *,
    here: Birds,
    facts: dict[str, Any],
    outcome: str,
    name: str,
    said: list[str],
    remedy: str,
) -> None:
    here.set_facts(**facts)

    check = only(here.check(), outcome, name)

    assert [words for words in said if words not in check.message] == []
    assert remedy in check.remedy


def test_filled_in_looks_for_what_the_card_could_say(here: Birds) -> None:
    here.set_facts(annotators=..., homepage=None, instruction=...)

    check = only(here.check(), "review", "facts")

    assert check.message == "not stated: homepage, instruction, annotators"


def test_files_that_nobody_can_fetch(here: Birds) -> None:
    file = here.facts()["files"][0] | {"url": None}
    here.set_facts(files=[file])

    assert "birds.jsonl" in only(here.check(), "review", "files").message


# The fixture.


@pytest.mark.parametrize(
    ("lost", "message"),
    [
        ("fixture/expected.yaml", "expected.yaml"),
        ("fixture/birds.jsonl", "birds.jsonl"),
    ],
)
def test_fixture_is_there(here: Birds, lost: str, message: str) -> None:
    (here.folder / lost).unlink()

    check = only(here.check(), "fail", "fixture")

    assert message in check.message
    assert "expected.yaml" in check.remedy


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "text",
    ["pairs: 2", "[]", "[2]", "{", "- {variant: late}", "- {set: [1]}", "- {from: ../../..}"],
)
def test_fixture_expects_something(here: Birds, text: str) -> None:
    (here.folder / "fixture" / "expected.yaml").write_text(text)

    only(here.check(), "fail", "fixture")


def test_fixture_is_invented_where_a_few_characters_say_much(here: Birds) -> None:
    copied = (*REAL[-1][:3], "那是一把舊的木椅子。", "wrong")  # a sentence of ten characters
    here.set_real([*REAL[:-1], copied])
    here.set_fixture([*FIXTURE[:-1], (*FIXTURE[-1][:3], copied[3], "rude")])

    assert "那是一把舊的木椅子。" in only(here.check(), "fail", "invented").message


def test_a_source_whose_file_lies_in_its_folder_is_to_be_looked_at(here: Birds) -> None:
    (here.folder / "birds.jsonl").write_text(lines(FIXTURE))

    checks = check_source(here.folder)

    assert outcomes(checks)["review"] == ["invented"]


# Rows.

HERON = REAL[0][:3]
ASKED = FIXTURE[0][0], REAL[0][1].upper()  # letter case does not make it another text
COPIED = [(*ASKED, *row[2:]) for row in FIXTURE]
ALL_GOOD = [(*row[:4], "good") for row in FIXTURE]
EMPTY = (*REAL[-1][:3], "", "wrong")
GOOSE = (*HERON, "They say that it is a goose.", "wrong")
MAIL = (*FIXTURE[0][:3], "Ask jo@birds.example.org.", "good")
ADDRESSES = (*HERON, "Ask al@x.org, not 8.8.8.8 again", "good")

# Rows of the fixture or of the real file, and counts; then as above.
ROWS_FOUND: list[tuple[str, Sequence[Any], dict[str, Any], str, str, list[str], str]] = [
    (
        *("fixture", COPIED, {}, "fail", "invented"),
        *(["who nests in the reeds"], "of your own"),
    ),
    ("fixture", ALL_GOOD, {}, "fail", "converts", ["makes no pair"], "`quality`"),
    (
        *("fixture", FIXTURE, {"by_error_category": {"rude": 2}}, "fail", "counts"),
        *(["by_error_category is {'rude': 1, 'wrong': 1}, but {'rude': 2}"], "expected.yaml"),
    ),
    (
        *("fixture", FIXTURE, {"dropped": {"unlabelled": 1}}, "fail", "counts"),
        *(["dropped is {}, but"], ""),
    ),
    (
        *("fixture", [MAIL, *FIXTURE[1:]], {}, "fail", "invented"),
        *(["email j…@b…"], "out of the fixture"),
    ),
    ("real", [*REAL[:-1], EMPTY], {}, "fail", "converts", ["empty_candidates: keep"], ""),
    ("real", [*REAL, GOOSE], {}, "fail", "converts", [], "`candidate_id` names the column"),
    ("real", REAL, {"pairs": 6}, "fail", "counts", ["pairs is 5, but 6 is expected"], ""),
    (
        *("real", [ADDRESSES, *REAL[1:]], {}, "review", "personal data"),
        *(["email 1, ip 1"], "--redact"),
    ),
]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("place", "rows", "counts", "outcome", "name", "said", "remedy"), ROWS_FOUND
)
def test_rows(
    *,
    here: Birds,
    place: str,
    rows: Sequence[Any],
    counts: dict[str, Any],
    outcome: str,
    name: str,
    said: list[str],
    remedy: str,
) -> None:
    (here.set_fixture if place == "fixture" else here.set_real)(rows, **counts)

    check = only(here.check(), outcome, name)

    assert [words for words in said if words not in check.message] == []
    assert remedy in check.remedy


# convert.py.


def test_limits_of_time(birds: Birds, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "LIMITS", Limits(seconds=4.0))
    birds.set_code("    for number", "    while True:\n        pass\n    for number")

    check = only(birds.check(), "fail", "sandbox")

    assert "was ended after 4 s" in check.message


def test_limits(here: Birds, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checked_facts, "_MOST_SECONDS", -1.0)

    check = only(here.check(), "fail", "sandbox")

    assert "s, more than" in check.message
    assert "read row by row" in check.remedy


# What it gives.


def test_converts(here: Birds) -> None:
    here.set_code('row.text("answer")', 'row.text("reply")')

    checks = here.check()

    check = only(checks, "fail", "converts")
    assert "reply" in check.message
    assert check.remedy
    assert outcomes(checks)["skipped"] == list(NAMES[NAMES.index("converts") + 1 :])


def test_a_converter_that_ends_the_process_is_told_of(birds: Birds) -> None:
    birds.set_code("    for number", "    import os; os._exit(7)\n    for number")

    assert "ended with 7" in only(birds.check(), "fail", "converts").message


def test_a_source_may_let_in_any_system(here: Birds) -> None:
    here.set_facts(systems={"*": None})

    assert outcomes(here.check()) == {}


def test_ids_that_are_numbers_of_rows(here: Birds) -> None:
    here.set_code("f\"{row.text('key')}/{system}\"", 'f"{number}"')

    check = only(here.check(), "fail", "ids")

    assert "pairs changes" in check.message
    assert "row number" in check.remedy


def test_ids_that_are_numbers_of_rows_as_source_yaml_says(here: Birds) -> None:
    (here.folder / "convert.py").unlink()
    here.set_facts(
        table={
            "inputs": {"question": "question"},
            "compute": {"number": "'row ' || _row"},
            "columns": {
                "context_id": "key",
                "candidate": "answer",
                "candidate_id": "number",
                "system": "system",
            },
            "labels": {"answer": "label"},
        }
    )

    check = only(here.check(), "review", "ids")

    assert check.message.endswith("the pair_id of pairs changes, because source.yaml reads `_row`")


def test_ids_of_rows_that_convert_in_one_order_only(here: Birds) -> None:
    # As of a file whose first row of a context holds what the others leave out.
    here.set_code(
        "    for number",
        '    first = next(files.jsonl("birds.jsonl"))\n'
        '    if first.text("system") != "heron":\n'
        '        raise ValueError("begins with the heron")\n'
        "    for number",
    )

    check = only(here.check(), "fail", "ids")

    assert "begins with the heron" in check.message


def test_counts_say_nothing_of_another_file(here: Birds) -> None:
    here.real.write_text(lines(REAL[:-2]))

    assert "not the declared files" in only(here.check(), "review", "counts").message


@pytest.mark.parametrize("pairs", [4, 5])
def test_counts_of_another_version(here: Birds, pairs: int) -> None:
    (declared,) = load_source(here.folder).facts["files"]
    here.real.write_text(lines(REAL[:-2]))
    counted = {"counted_by": "hand", "annotations": 6, "contexts": 2, "systems": 3, "pairs": pairs}
    version = {
        "version": "v1",
        "sha256": hashlib.sha256(here.real.read_bytes()).hexdigest(),
        "expected": {**counted, "by_error_category": {"rude": 2, "wrong": 2}},
    }
    here.set_facts(files=[{**declared, "versions": [version]}])

    if pairs == 4:
        assert "fail" not in outcomes(here.check())
    else:
        assert "pairs is 4, but 5 is expected" in only(here.check(), "fail", "counts").message


def test_counts_that_nobody_declared_and_no_file_at_hand(here: Birds) -> None:
    here.set_facts(expected=None)

    checks = check_source(here.folder)

    assert outcomes(checks) == {"review": ["counts"], "skipped": NOT_AT_HAND}


# Texts.


def many(low: str = "It is one.", high: str = "It is one.") -> list[Any]:
    """Return contexts with a good and a wrong answer, of which something is the same in all."""
    return [
        row
        for n in range(6)
        for question in [f"Which of all birds has the number {n}?"]
        for row in (
            (f"k{n}", question, "heron", f"{n}: {high}", "good"),
            (f"k{n}", question, "wren", f"{n}, {low}", "wrong"),
        )
    ]


def message_of(here: Birds, name: str, rows: Sequence[Any]) -> str:
    """Return what a check says of other real files, which it finds worth a look."""
    here.set_real(rows)
    (check,) = (check for check in here.check() if check.name == name)
    assert check.outcome == "review"
    return check.message


def test_direction_of_people(here: Birds) -> None:
    here.set_facts(systems={"*": None})
    rows = [(*row[:2], row[2].replace("wren", "human"), *row[3:]) for row in many()]

    assert message_of(here, "direction", rows).endswith("human ranks worst of 2 systems")


def test_direction_of_labels(here: Birds) -> None:
    here.set_facts(
        taxonomy={"good": FACTS["taxonomy"]["wrong"], "rude": FACTS["taxonomy"]["rude"]},
        quality={"rule": "no_error", "no_error": "wrong"},
    )

    assert 'labelled "good" are the worse' in message_of(here, "direction", many())


def test_the_real_files_may_be_several(here: Birds) -> None:
    both = check_source(here.folder, here.real, here.real)

    assert "real files at birds.jsonl" in next(c.message for c in both if c.name == "converts")


def test_a_fixture_may_lack_what_is_not_opened(here: Birds) -> None:
    here.set_facts(
        files=[{**here.facts()["files"][0], "name": "notes.json"}, *here.facts()["files"]]
    )

    (check,) = (check for check in check_source(here.folder) if check.name == "fixture")

    assert check.outcome == "pass"


def test_personal_data_in_a_reference(here: Birds) -> None:
    here.set_code("import Annotation, Files", "import Annotation, Files, Reference")
    code = here.folder / "convert.py"
    code.write_text(
        code.read_text()
        + """

def references(files: Files) -> Iterator[Reference]:
    for row in files.jsonl("birds.jsonl"):
        yield Reference(
            where=row.where, context_id=row.text("key"), reference="Ask jo@birds.example.org."
        )
"""
    )

    checks = {check.name: check for check in here.check()}

    assert "reference (email j…@b…)" in checks["invented"].message
    assert checks["personal data"].outcome == "review"


# The command.


def test_the_command_tells_machines_and_exits_with_1(here: Birds, nnd: Nnd) -> None:
    here.set_facts(citation="@misc{birds}")

    done = nnd("check-source", here.folder, "--from", here.real, "--json")

    told = json.loads(done.out)["checks"]
    assert done.code == 1, done.err
    assert [one["name"] for one in told] == list(NAMES)
    assert [one["name"] for one in told if one["outcome"] == "fail"] == ["facts"]


def test_the_command_tells_people_and_exits_with_0(here: Birds, nnd: Nnd) -> None:
    here.set_facts(licence="unknown", redistribution="unknown")

    done = nnd("check-source", here.folder, "--from", here.real)

    assert done.code == 0, done.err
    assert f"{here.folder}: 27 of 28 checks pass, 1 to look at." in done.out
    assert "--private" in done.out
    assert "birds (real files) has 5 pairs; 3 shown." in done.out
    assert "say that it is a [" in done.out


@pytest.mark.parametrize("extra", [(), ("--from", "nowhere")])
def test_what_is_not_there_is_one_line(birds: Birds, nnd: Nnd, extra: tuple[str, ...]) -> None:
    done = nnd("check-source", birds.folder if extra else birds.folder / "lost", *extra)

    assert done.code == 2
    assert len(done.err.splitlines()) == 1
