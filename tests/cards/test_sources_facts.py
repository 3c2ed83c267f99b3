"""What every built-in source tells of itself for its card, and the Hub's words for it."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from support.recounts.built_in_sources import SOURCES

from nnd.cards.bibtex import faults_of
from nnd.cards.vocabulary import (
    ANNOTATORS,
    LICENCES,
    SOURCE_DATASET,
    TASK_CATEGORIES,
    hub_languages,
    hub_licence,
    size_category,
)
from nnd.converters.source.source import Source
from nnd.schemas import load_schema

NEEDED = (
    "task_categories",
    "source_datasets",
    "texts",
    "annotators",
    "annotation_process",
    "limitations",
    "personal_information",
)


def readings(source: Source) -> Iterator[Source]:
    """The source, its sets, and every variant of them."""
    for each in (source, *(source.choose("set", name) for name in source.facts.get("sets", {}))):
        yield each
        for name in each.facts.get("variants", {}):
            yield each.choose("variant", name)


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.name)
def test_a_source_states_what_a_card_needs(source: Source) -> None:
    for reading in readings(source):
        facts = reading.facts
        assert [name for name in NEEDED if not facts.get(name)] == []
        assert set(facts["task_categories"]) <= TASK_CATEGORIES
        assert set(facts["annotators"]) <= ANNOTATORS
        assert all(SOURCE_DATASET.fullmatch(name) for name in facts["source_datasets"])
        assert list(faults_of(facts["citation"])) == []
        assert (hub_licence(facts["licence"]) == "unknown") == (facts["licence"] == "unknown")
        assert hub_licence(facts["licence"]) != "other"


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.name)
def test_the_citation_is_not_older_than_the_texts(source: Source) -> None:
    """A card dates the systems by the latest work that is cited."""
    for reading in readings(source):
        cited = re.findall(r"year\s*=\s*\{(\d{4})\}", reading.facts["citation"])
        assert max(re.findall(r"\b20\d\d\b", reading.facts["texts"]), default="") <= max(cited)


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.name)
def test_a_published_count_that_differs_says_why(source: Source) -> None:
    for reading in readings(source):
        expected: dict[str, Any] = reading.facts["expected"] or {}
        for entry in reading.facts.get("published_counts", ()) if expected else ():
            where = entry.get("where", {})
            if set(where) <= {"error_category", "aspect"} and len(where) < 2:
                ours = expected["by_error_category"].get(*where.values(), 0) if where else None
                ours = expected["pairs"] if ours is None else ours
                assert ours == entry["published"] or "why" in entry


def test_the_schema_knows_the_hubs_annotators() -> None:
    stated = load_schema("source")["properties"]["annotators"]["items"]["enum"]

    assert set(stated) == ANNOTATORS - {"no-annotation"}


@pytest.mark.parametrize(
    ("rows", "name"),
    [(0, "n<1K"), (999, "n<1K"), (1000, "1K<n<10K"), (32_957, "10K<n<100K"), (10**6, "1M<n<10M")],
)
def test_sizes(rows: int, name: str) -> None:
    assert size_category(rows) == name


@pytest.mark.parametrize(
    ("spdx", "hub"),
    [
        ("BSD-3-Clause", "bsd-3-clause"),
        ("CC-BY-NC-SA-4.0", "cc-by-nc-sa-4.0"),
        ("GPL-3.0-or-later", "gpl-3.0"),
        ("ODbL-1.0", "odbl"),
        ("unknown", "unknown"),
        ("LicenseRef-Ours", "other"),
        ("CC-BY-ND-3.0", "other"),
    ],
)
def test_licences(spdx: str, hub: str) -> None:
    assert hub_licence(spdx) == hub
    assert hub in LICENCES


def test_languages() -> None:
    assert hub_languages(["de", "de-CH", "zh-Hant", "EN"]) == ["de", "zh", "en"]
