"""`check-source`: each property it asks for, broken in a source that has them all."""

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
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


def test_schema(here: Birds) -> None:
    here.set_facts(licence=["CC0-1.0"])

    check = only(here.check(), "fail", "source.yaml")

    assert "licence" in check.message
    assert len(outcomes(here.check())["skipped"]) == len(NAMES) - 1


def test_schema_of_a_set(here: Birds) -> None:
    here.set_facts(sets={"late": {"description": "Late birds", "languages": []}})

    assert "languages" in only(here.check(), "fail", "source.yaml").message


def test_schema_wants_the_folder_to_have_the_name(here: Birds) -> None:
    here.set_facts(name="words")

    assert "the source one name" in only(here.check(), "fail", "source.yaml").remedy


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"texts": "TODO"}, "texts"),
        ({"limitations": ["Few.", "TODO, say more"]}, "limitations/1"),
        ({"languages": ["und"]}, "languages"),
        ({"aspects": {"answer": "TODO, the question"}}, "aspects/answer"),
    ],
)
def test_filled_in(here: Birds, change: Mapping[str, Any], field: str) -> None:
    here.set_facts(**change)

    check = only(here.check(), "fail", "facts")

    assert field in check.message
    assert "fill them in" in check.remedy


def test_filled_in_looks_for_what_the_card_could_say(here: Birds) -> None:
    here.set_facts(annotators=..., homepage=None, instruction=...)

    check = only(here.check(), "review", "facts")

    assert check.message == "not stated: homepage, instruction, annotators"


def test_licence_nobody_knows(here: Birds) -> None:
    here.set_facts(licence="unknown", redistribution="unknown")

    check = only(here.check(), "review", "facts")

    assert "--private" in check.remedy


@pytest.mark.parametrize("licence", ["unknown", "CC-BY-ND-4.0"])
def test_licence_that_does_not_allow_what_it_is_said_to(here: Birds, licence: str) -> None:
    here.set_facts(licence=licence)

    assert f"licence: {licence}" in only(here.check(), "fail", "source.yaml").message


def test_licence_that_the_hub_does_not_know(here: Birds) -> None:
    here.set_facts(licence="Birds-1.0")

    assert "spdx.org" in only(here.check(), "review", "facts").remedy


@pytest.mark.parametrize(
    "citation", ["@misc{birds, title={Birds}}", "@misc{birds, title={Birds, year={2021}}", "@misc"]
)
def test_citation(here: Birds, citation: str) -> None:
    here.set_facts(citation=citation)

    assert "BibTeX" in only(here.check(), "fail", "facts").remedy


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


@pytest.mark.parametrize(
    "text",
    ["pairs: 2", "[]", "[2]", "{", "- {variant: late}", "- {set: [1]}", "- {from: ../../..}"],
)
def test_fixture_expects_something(here: Birds, text: str) -> None:
    (here.folder / "fixture" / "expected.yaml").write_text(text)

    only(here.check(), "fail", "fixture")


def test_fixture_has_a_reading_of_every_variant(here: Birds) -> None:
    here.set_facts(variants={"late": {"description": "Late birds"}})

    assert "variant late" in only(here.check(), "fail", "fixture").message


def test_fixture_is_invented(here: Birds) -> None:
    key, _, *rest = FIXTURE[0]
    question = REAL[0][1].upper()  # letter case does not make it another text
    rows = [(key, question, *rest), *((key, question, *row[2:]) for row in FIXTURE[1:])]
    here.set_fixture(rows)

    check = only(here.check(), "fail", "invented")

    assert "who nests in the reeds" in check.message
    assert "of your own" in check.remedy


def test_fixture_is_invented_where_a_few_characters_say_much(here: Birds) -> None:
    copied = (*REAL[-1][:3], "那是一把舊的木椅子。", "wrong")  # a sentence of ten characters
    here.set_real([*REAL[:-1], copied])
    here.set_fixture([*FIXTURE[:-1], (*FIXTURE[-1][:3], copied[3], "rude")])

    assert "那是一把舊的木椅子。" in only(here.check(), "fail", "invented").message


def test_a_source_whose_file_lies_in_its_folder_is_to_be_looked_at(here: Birds) -> None:
    (here.folder / "birds.jsonl").write_text(lines(FIXTURE))

    checks = check_source(here.folder)

    assert outcomes(checks)["review"] == ["invented"]


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


def test_converts_without_empty_candidates(here: Birds) -> None:
    here.set_real([*REAL[:-1], (*REAL[-1][:3], "", "wrong")])

    assert "empty_candidates: keep" in only(here.check(), "fail", "converts").message


def test_converts_names_the_line_that_helps(here: Birds) -> None:
    here.set_real([*REAL, (*REAL[0][:3], "They say that it is a goose.", "wrong")])

    assert "`candidate_id` names the column" in only(here.check(), "fail", "converts").remedy


def test_a_converter_that_ends_the_process_is_told_of(birds: Birds) -> None:
    birds.set_code("    for number", "    import os; os._exit(7)\n    for number")

    assert "ended with 7" in only(birds.check(), "fail", "converts").message


@pytest.mark.parametrize(
    ("section", "known", "unknown"),
    [
        ("aspects", {"question": "Is it a question?"}, "answer"),
        ("taxonomy", {"wrong": FACTS["taxonomy"]["wrong"]}, "rude"),
        ("systems", {"heron": None, "wren": None}, "plover"),
    ],
)
def test_names_that_source_yaml_lacks(
    here: Birds, section: str, known: Mapping[str, Any], unknown: str
) -> None:
    here.set_facts(**{section: known})

    message = only(here.check(), "fail", "converts").message

    assert f'"{unknown}" is not in source.yaml' in message
    assert f"`{section}`" in message


def test_a_source_may_let_in_any_system(here: Birds) -> None:
    here.set_facts(systems={"*": None})

    assert outcomes(here.check()) == {}


def test_pairs(here: Birds) -> None:
    here.set_fixture([(*row[:4], "good") for row in FIXTURE])

    check = only(here.check(), "fail", "converts")

    assert "makes no pair" in check.message
    assert "`quality`" in check.remedy


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


def test_counts_of_the_fixture(here: Birds) -> None:
    here.set_fixture(FIXTURE, by_error_category={"rude": 2})

    check = only(here.check(), "fail", "counts")

    assert "by_error_category is {'rude': 1, 'wrong': 1}, but {'rude': 2}" in check.message
    assert "expected.yaml" in check.remedy


def test_counts_of_what_was_dropped(here: Birds) -> None:
    here.set_fixture(FIXTURE, dropped={"unlabelled": 1})

    assert "dropped is {}, but" in only(here.check(), "fail", "counts").message


def test_counts_that_nobody_declared(here: Birds) -> None:
    here.set_facts(expected=None)

    check = only(here.check(), "review", "counts")

    assert "'pairs': 5" in check.message
    assert "count by other means" in check.remedy


def test_counts_of_the_real_file(here: Birds) -> None:
    here.set_real(REAL, pairs=6)

    assert "pairs is 5, but 6 is expected" in only(here.check(), "fail", "counts").message


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


def test_counts_that_the_tool_wrote(here: Birds) -> None:
    counts = {name: n for name, n in FACTS["expected"].items() if name != "counted_by"}
    here.set_facts(expected=counts)

    assert "`counted_by`" in only(here.check(), "review", "counts").remedy


def test_a_fixture_may_lack_what_is_not_opened(here: Birds) -> None:
    here.set_facts(
        files=[{**here.facts()["files"][0], "name": "notes.json"}, *here.facts()["files"]]
    )

    (check,) = (check for check in check_source(here.folder) if check.name == "fixture")

    assert check.outcome == "pass"


def test_personal_data_in_the_fixture(here: Birds) -> None:
    here.set_fixture([(*FIXTURE[0][:3], "Ask jo@birds.example.org.", "good"), *FIXTURE[1:]])

    check = only(here.check(), "fail", "invented")

    assert "email j…@b…" in check.message
    assert "out of the fixture" in check.remedy


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


def test_personal_data_in_the_real_file(here: Birds) -> None:
    here.set_real([(*REAL[0][:3], "Ask al@x.org, not 8.8.8.8 again", "good"), *REAL[1:]])

    check = only(here.check(), "review", "personal data")

    assert "email 1, ip 1" in check.message
    assert "--redact" in check.remedy


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
    assert f"{here.folder}: 25 of 26 checks pass, 1 to look at." in done.out
    assert "--private" in done.out
    assert "birds (real files) has 5 pairs; 3 shown." in done.out
    assert "say that it is a [" in done.out


@pytest.mark.parametrize("extra", [(), ("--from", "nowhere")])
def test_what_is_not_there_is_one_line(birds: Birds, nnd: Nnd, extra: tuple[str, ...]) -> None:
    done = nnd("check-source", birds.folder if extra else birds.folder / "lost", *extra)

    assert done.code == 2
    assert len(done.err.splitlines()) == 1
