"""What the repository asks of its sources: each of ours has it, and each lack is named."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.places import ROOT
from support.recounts.built_in_sources import SOURCES

from nnd.converters.check import Verdict
from nnd.converters.onboard.check.checked_source import Case
from nnd.converters.onboard.check.repository_check import check_repository
from nnd.converters.onboard.check.source_readings import every_variant
from nnd.converters.source import load_source
from nnd.converters.source.source import Source

PAGES = ("cards/guide/datasets.md", "README.md")


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.name)
def test_each_source_of_ours_has_it(source: Source) -> None:
    outcome, message, _ = check_repository(Case([*every_variant(source)], ()))

    assert outcome == "pass", message


def verdict_on(clone: Path, change: Callable[[dict[str, Any]], Any]) -> Verdict:
    """Return the verdict on Quiz Design in a clone, with a change of its source.yaml."""
    folder = clone / "converters/sources/quiz_design"
    folder.mkdir(parents=True)
    facts = yaml.safe_load((ROOT / "converters/sources/quiz_design/source.yaml").read_text("utf-8"))
    change(facts)
    (folder / "source.yaml").write_text(yaml.safe_dump(facts), encoding="utf-8")
    for page in PAGES:
        (clone / page).parent.mkdir(parents=True, exist_ok=True)
        if not (clone / page).exists():
            shutil.copy(ROOT / page, clone / page)
    return check_repository(Case([*every_variant(load_source(folder))], ()))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda facts: facts.pop("instruction_variants"), "0 paraphrases"),
        (
            lambda facts: facts.update(instruction_variants=[facts["instruction"]] * 2),
            "not as asked",
        ),
        (lambda facts: facts.update(instruction_from="The paper"), "not a sentence"),
        (lambda facts: facts["files"][0].update(url=None), "no url, and no note names it"),
        (lambda facts: facts["files"][0].update(bytes=None), "not both"),
        (lambda facts: facts["expected"].update(systems=3), "3 are expected"),
        (lambda facts: facts["expected"].update(pairs=3), "do not add up"),
        (lambda facts: facts.update(licence="MIT"), "does not state the licence"),
        (lambda facts: facts.update(redistribution="unknown", notes=[]), "redistribution"),
    ],
)
def test_each_lack_is_named(
    change: Callable[[dict[str, Any]], Any], words: str, tmp_path: Path
) -> None:
    outcome, message, remedy = verdict_on(tmp_path, change)

    assert outcome == "fail"
    assert words in message
    assert remedy


@pytest.mark.parametrize(
    ("page", "line", "words"),
    [
        (PAGES[0], "| `quiz_design` |", "first table"),
        (PAGES[0], "| [quiz_design]", "second table"),
        (PAGES[1], "`quiz_design`", "README.md does not list"),
    ],
)
def test_a_page_that_lacks_it_is_named(page: str, line: str, words: str, tmp_path: Path) -> None:
    (tmp_path / page).parent.mkdir(parents=True, exist_ok=True)
    lines = (ROOT / page).read_text(encoding="utf-8").splitlines(keepends=True)
    (tmp_path / page).write_text("".join(each for each in lines if line not in each), "utf-8")

    outcome, message, _ = verdict_on(tmp_path, lambda _: None)

    assert (outcome, words in message) == ("fail", True), message


def test_a_source_elsewhere_is_not_asked(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "converters/sources/sample", tmp_path / "sample")

    outcome, message, _ = check_repository(Case([load_source(tmp_path / "sample")], ()))

    assert (outcome, message.partition(" of ")[0]) == ("pass", "nothing is asked")
