"""The results of a real model in the guide are those of its runs, on the data of today."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.places import ROOT
from support.real_results import NUMBERS, PAGE, READINGS, with_tables

from nnd import convert
from nnd.metric.data import load_pairs

SMALL = {
    "quiz_design": None,
    "challenge300": None,
    "confit_samsum": None,
    "goyal_gpt3_news": None,
    "llmbar": None,
    "frank": "typed",
}
"""Sources that are converted in seconds → their set."""


KEPT: dict[str, Any] = json.loads(NUMBERS.read_text(encoding="utf-8"))


def test_the_page_shows_the_kept_numbers() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == with_tables(page, KEPT)
    assert all(f"| `{data}` |" in page for data in KEPT)


def test_the_recipe_reads_all_data_of_the_page_in_three_ways() -> None:
    recipes = [ROOT / f"cards/guide/results-smollm2{part}.yaml" for part in ("", "-parts")]
    for recipe in recipes:
        entries = yaml.load(recipe.read_text(encoding="utf-8"), yaml.CSafeLoader)
        assert len(entries) == len(READINGS)
        assert len({str(entry["data"]) for entry in entries}) == 1
    listed = {
        Path(data).name
        for recipe in recipes
        for data in yaml.load(recipe.read_text(encoding="utf-8"), yaml.CSafeLoader)[0]["data"]
    }
    assert KEPT.keys() <= listed


@pytest.mark.parametrize("name", sorted(SMALL.keys() & KEPT.keys()))
def test_numbers_are_of_the_present_pairs_and_words(
    name: str, nnd_data: Path, tmp_path: Path
) -> None:
    convert(name, origin=nnd_data / name, set_name=SMALL[name], out=tmp_path / name)
    pairs = load_pairs(tmp_path / name)
    words = None if pairs.instruction is None else pairs.instruction.digests[0]
    readings = KEPT[name]["readings"]
    assert {reading["instruction"] for reading in readings.values()} == {words, None}
    for reading in readings.values():
        data = re.search(r"\|data:([^|]+)@(\w{6})", reading["signature"])
        assert data is not None
        assert data.groups() == (name, pairs.version[:6])
