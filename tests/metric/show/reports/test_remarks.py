"""What a report says beside its numbers: of its data, its models, its doubts, its making."""

import json
import re
import shutil
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from support.refusals import refusal
from support.report.page import Page, page_of
from support.report.runs import MODELS, SYSTEMS, write_run
from support.stored_folders import write_sealed
from support.two_models import scored, write_run as write_likelihoods

from nnd.metric.numbers.about import PAPER
from nnd.metric.show.reports.page.report import report


def stored(run: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((run / "result.json").read_text())
    return found


def test_what_reaches_as_much_is_a_row_and_not_a_sentence(sample_run: Path, page: Page) -> None:
    names = {
        "shorter_wins": "always picking the shorter text",
        "longer_wins": "always picking the longer text",
        "copy_wins": "always picking the text that copies more",
        "unconditional": "the same model without any context",
    }
    told = page.words().partition("Before believing these numbers")[2].partition("Every pass")[0]
    expected = 0
    for result in stored(sample_run)["results"]:
        for name, each in result["baselines"].items():
            if each is not None and each["verdict"] != "behind":
                low, high = (100 * bound for bound in each["lead_interval"])
                verdict = "not significant" if low <= 0 <= high else "ahead"
                lead = f"{100 * each['lead']:+.1f} [{low:+.1f}, {high:+.1f}]".replace("-", "\u2212")
                assert f"{names[name]} {100 * each['with_coin']:.1f} {lead} {verdict}" in told
                expected += 1
    assert told.count("always picking the") + told.count("the same model") == expected > 4
    assert not re.search(r"passes \d+\.\d % of 72", told)


def test_other_notes_are_sentences_and_old_ones_about_rates_are_left_out(tmp_path: Path) -> None:
    folder = write_likelihoods(tmp_path / "run", scored("a/x", "+-"))
    notes = ["shorter wins alone passes 1.0 % of 2 tests, the model 50.0 %", "its file is odd"]
    result = {"model": "a/x", "signature": None, "notes": notes}
    write_sealed(folder / "result.json", {"results": [result]})
    words = page_of(tmp_path, folder).words()
    assert "its file is odd" in words
    assert "shorter wins alone" not in words


def test_the_source_says_what_its_data_is(page: Page) -> None:
    head = page.words().partition("A test is")[0]
    assert "The tests are made from nnd sample (licence CC0-1.0). Everything is invented" in head
    assert "no number computed from it says anything about a model." in head
    assert "More about this data (7)" in head


@pytest.mark.parametrize(
    ("source", "told", "links"),
    [
        ({"name": "x", "licence": "unknown"}, "made from x (licence unknown). A test is", []),
        (
            {"pretty_name": "<b>X", "licence": "MIT", "homepage": "https://x.org/<y>", "notes": 3},
            "made from <b>X (licence MIT). A test is",
            ["https://x.org/<y>"],
        ),
        ({"name": "x", "homepage": "javascript:alert(1)"}, "made from x (licence unknown). ", []),
    ],
)
@pytest.mark.usefixtures("undrawn")
def test_a_manifest_of_a_stranger(
    source: dict[str, Any], told: str, links: list[str], small: Path, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    shutil.copytree(small, data)
    write_sealed(data / "manifest.json", {"source": source})
    found = page_of(tmp_path, write_run(tmp_path / "run", small, MODELS[:1]), data=data)
    assert told in found.words()
    addresses = {str(attrs["href"]) for tag, attrs in found.elements if tag == "a"}
    assert {each for each in addresses if each[0] != "#"} == {PAPER, *links}


def test_a_manifest_that_cannot_be_read(small: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    shutil.copytree(small, data)
    run = write_run(tmp_path / "run", small, MODELS[:1])
    write_sealed(data / "manifest.json", {"source": 3})
    with refusal("data.convert-again", f"{data}/manifest.json"):
        report(run, tmp_path / "report.html", data=data)


@pytest.mark.usefixtures("undrawn")
def test_the_foot_says_when_and_how_where_that_is_told(tmp_path: Path) -> None:
    run = write_likelihoods(tmp_path / "run", scored("x", "+-"))
    assert "command of this page" not in page_of(tmp_path, run).words()
    words = page_of(tmp_path, run, day=date(2026, 1, 2), command="nnd report '<run>'").words()
    assert ", on 2026-01-02 from stored log-likelihoods" in words
    assert words.endswith("The command of this page: nnd report '<run>' ")


def test_models_have_short_names_and_say_the_whole_one_when_pointed_at(page: Page) -> None:
    names = [attrs.get("title") for tag, attrs in page.elements if tag == "bdi"]
    assert {name for name in names if name} == {each.name for each in MODELS}
    body = page.html.partition("<main>")[2].partition('<footer id="provenance">')[0]
    assert "zoo/" not in re.sub("<title>.*?</title>|<[^>]*>", "", body)
    assert {*page.pairs["whole_names"]} == {each.name for each in MODELS}


@pytest.mark.parametrize(
    ("judged", "why"),
    [
        (2, "2 systems: even perfect agreement has p = 1.00, so this says little"),
        (3, "3 systems: even perfect agreement has p = 0.33, so this says little"),
        (4, None),
    ],
)
def test_correlations_of_few_systems_are_grey(
    judged: int, why: str | None, small: Path, tmp_path: Path
) -> None:
    # Of 3 systems 2 of 6 orders agree or disagree in full, of 2 systems both do.
    systems = dict(list(SYSTEMS.items())[:judged])
    run = write_run(tmp_path / "run", small, MODELS[:judged], systems=systems)
    found = page_of(tmp_path, run, data=small)
    rows = [attrs for _, attrs in found.elements if "weak" in str(attrs.get("class"))]
    assert {row["title"] for row in rows} == ({why} if why else set())
    assert f"{judged} systems (too few)" in found.words() or why is None
    assert bool(re.search(r"τ .?\d\.", found.words())) == (why is None)
    # Three systems print what can be printed.
    words = found.words()
    assert ("overall n/a" in words or f"overall {judged} n/a" in words) == (judged == 2)


def test_panels_beside_each_other_are_stacked_for_narrow_screens(page: Page) -> None:
    stacked = [attrs["id"] for _, attrs in page.elements if "stacked-" in str(attrs.get("id"))]
    drawn = {str(name).split("-")[1] for name in stacked}
    assert drawn == {"agreement", "extrapolation", "scaling"}
