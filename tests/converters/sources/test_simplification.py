"""Sentence simplification on the real files: stored decimals, two sets, single ratings."""

import csv
from collections import defaultdict
from pathlib import Path
from statistics import fmean, stdev

import polars as pl
import pytest
import yaml
from support.recounts.counted_again import converted

from nnd.converters.folder.conversion import Conversion, convert
from nnd.converters.pairs import compare
from nnd.converters.source.source import load_source
from nnd.schemas import Gap

DA = "simplicity_DA.csv"


@pytest.fixture(scope="module")
def simplification(nnd_data: Path) -> Conversion:
    return converted("simplification", nnd_data / "simplification")


@pytest.fixture(scope="module")
def direct(nnd_data: Path) -> Conversion:
    return converted("simplification", nnd_data / "simplification", set_name="da")


def test_without_a_tolerance_stored_decimals_would_lose_pairs(simplification: Conversion) -> None:
    # 4.333333333 - 3.333333333 is 0.9999999999999996.
    rows = simplification.annotations.filter(aspect="grammaticality")
    found, exact = (compare(rows, Gap(1, tolerance)).frame for tolerance in (1e-6, 0))

    assert found.height - exact.height == 325


def test_a_file_tells_its_set(nnd_data: Path, direct: Conversion) -> None:
    found = convert("simplification", origin=nnd_data / "simplification" / DA)

    assert found.manifest["source"]["set"] == "da"
    assert found.pairs.equals(direct.pairs)


def test_byte_order_mark_and_crlf_leave_no_trace(simplification: Conversion) -> None:
    texts = simplification.annotations.select(
        pl.concat_str("context_id", "context", "candidate").str.contains("[\ufeff\r]").any()
    )

    assert texts.item() is False
    assert simplification.manifest["oddities"] == []


@pytest.fixture(scope="module")
def ratings(nnd_data: Path) -> list[dict[str, str]]:
    """The single ratings of simplicity, of which the set `da` has the means."""
    path = nnd_data / "simplification" / "ratings_per_annotator" / "simplicity_DA_ratings.csv"
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def rated(nnd_data: Path, place: Path, **options: object) -> Conversion:
    """The single ratings, converted by a table section alone."""
    name = "simplicity_DA_ratings.csv"
    facts = {**load_source("simplification").choose("set", "da").facts, "expected": None}
    for field in ("set", "sets", "variants"):
        facts.pop(field, None)
    columns = {"context_id": "sent_id", "system": "sys_name", "candidate": "simp_sent"}
    facts |= {
        "files": [{"name": name, "url": None, "sha256": None, "bytes": None}],
        "aspects": {"simplicity": "Is it simpler?"},
        "quality": {"rule": "gap", "minimum": 10, "ratings": "mean", **options},
        "table": {
            "columns": columns | {"annotator": "rater_id"},
            "inputs": {"sentence": "orig_sent"},
            "scores": {"simplicity": "simplicity"},
        },
    }
    (place / "source.yaml").write_text(yaml.safe_dump(facts), encoding="utf-8")
    return convert(place, origin=nnd_data / "simplification" / "ratings_per_annotator" / name)


def test_single_ratings_make_the_pairs_of_their_means(
    nnd_data: Path, direct: Conversion, tmp_path: Path
) -> None:
    found = rated(nnd_data, tmp_path)
    columns = ("context_id", "system_high", "system_low")

    means = direct.pairs.filter(aspect="simplicity")
    assert set(found.pairs[columns].rows()) == set(means[columns].rows())
    assert found.pairs.height == means.height == 316
    annotators = found.annotations["annotators"]
    assert (annotators.list.len().unique().to_list(), annotators.explode().n_unique()) == ([15], 67)


def test_z_scores_counted_by_other_means(
    nnd_data: Path, ratings: list[dict[str, str]], tmp_path: Path
) -> None:
    by_rater, by_text = defaultdict(list), defaultdict(list)
    for row in ratings:
        by_rater[row["rater_id"]].append(float(row["simplicity"]))
    for row in ratings:
        given = by_rater[row["rater_id"]]
        if len(set(given)) > 1:
            z = (float(row["simplicity"]) - fmean(given)) / stdev(given)
            text = " ".join(row["simp_sent"].split())
            by_text[row["sent_id"], row["sys_name"], text].append(z)
    expected = {
        (context, high, low)
        for (context, high, one), better in by_text.items()
        for (other_context, low, other), worse in by_text.items()
        if context == other_context and one != other and fmean(better) - fmean(worse) >= 0.5
    }

    found = rated(nnd_data, tmp_path, minimum=0.5, standardise="annotator").pairs

    assert len(expected) == 266
    assert set(found["context_id", "system_high", "system_low"].rows()) == expected
