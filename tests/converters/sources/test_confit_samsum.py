"""ConFiT's annotation of SAMSum on the real file: marks, and scores as another reading."""

import csv
import io
from pathlib import Path

import polars as pl
import pytest
from support.recounts.counted_again import converted

from nnd.converters.folder.conversion import Conversion
from nnd.converters.source.source import load_source

FILE = "samsum_annotation.csv"


@pytest.fixture(scope="module")
def confit(nnd_data: Path) -> Conversion:
    return converted("confit_samsum", nnd_data / "confit_samsum")


@pytest.fixture(scope="module")
def scored(nnd_data: Path) -> Conversion:
    return converted("confit_samsum", nnd_data / "confit_samsum", variant="gap")


@pytest.fixture(scope="module")
def rows(nnd_data: Path) -> list[dict[str, str]]:
    text = (nnd_data / "confit_samsum" / FILE).read_bytes().decode()
    return list(csv.DictReader(io.StringIO(text.replace("\r\n", "\n"), newline="")))


def test_the_kinds_of_error_are_the_columns_of_the_file(rows: list[dict[str, str]]) -> None:
    assert list(rows[0])[4:12] == list(load_source("confit_samsum").taxonomy)


def test_a_hundred_dialogues_though_line_ends_make_a_hundred_and_one(
    confit: Conversion, nnd_data: Path
) -> None:
    raw = (nnd_data / "confit_samsum" / FILE).read_bytes().decode()
    as_is = {row["Dialogue"] for row in csv.DictReader(io.StringIO(raw, newline=""))}

    assert (len(as_is), confit.manifest["counts"]["contexts"]) == (101, 100)
    # The ID tells them as well: six summaries each.
    numbers = confit.annotations.select(
        "context_id", dialogue=pl.col("candidate_id").cast(pl.Int64) // 6
    )
    assert numbers.unique().height == 100


def test_the_no_break_space_is_no_mark_and_is_reported(
    confit: Conversion, scored: Conversion
) -> None:
    assert confit.manifest["oddities"] == [
        f"{FILE}:1782, Missing Information: nothing but white space (U+00A0), read as blank"
    ]
    assert confit.annotations.filter(candidate_id="330")["label"].to_list() == ["No error"]
    assert scored.manifest["oddities"] == []  # marks are not read there


def test_the_score_of_a_summary_is_kept_beside_its_marks(
    confit: Conversion, rows: list[dict[str, str]]
) -> None:
    given = {row["ID"]: float(row["Score"]) if row["Score"] else None for row in rows}
    pairs = confit.pairs["high_id", "low_id", "margin"].rows()

    assert dict(confit.annotations["candidate_id", "score"].iter_rows()) == given
    assert list(given.values()).count(None) == 3
    for high_id, low_id, margin in pairs:
        high, low = given[high_id], given[low_id]
        assert margin == (None if high is None or low is None else high - low)
    # People marked no error, and yet gave less.
    assert min(margin for *_, margin in pairs if margin is not None) < 0
