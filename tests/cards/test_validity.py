"""A suite whose negatives were compared with the pairs of people: card, check, publishing."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.card_folders import section, table
from support.refusals import refusal
from support.stored_folders import write_sealed
from support.suites.compared import compared_suite

from nnd.cards import check_card, data_card
from nnd.converters.folder import validate
from nnd.converters.hub.release_folder import read_release, write_release

TITLE = "How well made pairs represent human pairs"


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    return compared_suite(tmp_path)


def write(folder: Path, validity: object) -> None:
    write_sealed(folder / "validity.json", validity)


def read(folder: Path) -> Any:
    return json.loads((folder / "validity.json").read_text(encoding="utf-8"))


def test_the_card_shows_how_often_models_pass_both(suite: Path) -> None:
    card = data_card(suite, "org/suite")
    shown = section(card, TITLE)
    header = (
        "operation",
        "model",
        "compared with",
        "made pairs",
        "compared pairs",
        "difference, points",
    )

    assert table(shown, *header) == [
        [
            *("`negation`", "`tiny_model`", "human pairs of `wrong`", "75.0 % of 4", "25.0 % of 4"),
            "+50.0 [-10.0, +75.0]",
        ]
    ]
    assert table(shown, "operation", "choice", "made pairs", "human pairs") == [
        ["`negation`", "picking the shorter text", "100.0 %", "50.0 %"]
    ]
    assert "Measured with `tiny_model`." in shown
    assert "- one\\_sentence." in shown
    assert "nnd|v:1" in shown
    assert list(check_card(card, suite)) == []
    (problem,) = check_card(card.replace("75.0 % of 4", "76.0 % of 4"), suite)
    assert problem.path == TITLE


def test_without_it_the_card_has_no_such_section(suite: Path) -> None:
    compared = data_card(suite, "org/suite")
    (suite / "validity.json").unlink()
    card = data_card(suite, "org/suite")

    assert f"## {TITLE}" in compared
    assert f"## {TITLE}" not in card
    assert list(check_card(card, suite)) == []


def test_it_is_published_with_the_suite(suite: Path, tmp_path: Path) -> None:
    (tmp_path / "release").mkdir()
    files = write_release(
        read_release(suite, unverified="invented"), tmp_path / "release", "org/suite"
    )

    assert read(tmp_path / "release") == read(suite)
    assert "validity.json" in files
    assert TITLE in files["README.md"].read_text(encoding="utf-8")
    assert validate(tmp_path / "release").ok


def other_pairs(validity: Any) -> None:
    validity["operations"][0]["digest"] = "0" * 16


def other_operation(validity: Any) -> None:
    validity["operations"][0]["operation"] = "numbers"


def other_form(validity: Any) -> None:
    del validity["operations"][0]["models"]


@pytest.mark.parametrize(
    ("change", "named"),
    [(other_pairs, '"negation"'), (other_operation, '"numbers"'), (other_form, "'models'")],
)
def test_one_of_other_pairs_is_refused(
    suite: Path, change: Callable[[Any], None], named: str
) -> None:
    validity = read(suite)
    change(validity)
    write(suite, validity)

    (finding,) = validate(suite)
    assert finding.file == "validity.json"
    assert named in str(finding)
    with refusal("contract.broken", "validity.json") as caught:
        data_card(suite, "org/suite")
    assert named in caught.value.what


def test_one_that_was_changed_is_refused(suite: Path) -> None:
    path = suite / "validity.json"
    path.write_text(path.read_text(encoding="utf-8").replace("one_sentence", "another"))

    (finding,) = validate(suite)
    assert str(finding) == (
        "validity.json: changed since it was written (write it again with `nnd compare --by origin "
        "--out`, or remove it)"
    )
    with refusal("contract.broken", "validity.json"):
        data_card(suite, "org/suite")


@pytest.mark.parametrize("text", ["{", "[]"])
def test_a_damaged_one_is_one_error(suite: Path, text: str) -> None:
    (suite / "validity.json").write_text(text, encoding="utf-8")
    for read_it in validate, lambda folder: data_card(folder, "org/suite"):
        with refusal("contract.broken", "validity.json"):
            read_it(suite)
