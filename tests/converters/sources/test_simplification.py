"""Sentence simplification on the real files: a plain table, by two gaps."""

from pathlib import Path

import polars as pl
import pytest
from support.places import SOURCES

from nnd.converters.folder.conversion import Conversion, convert
from nnd.converters.quality import Gap, compare
from nnd.schemas import NNDError

FILE = "structural_simplicity.csv"
DA = "simplicity_DA.csv"


@pytest.fixture(scope="module")
def simplification(nnd_data: Path) -> Conversion:
    return convert("simplification", origin=nnd_data / "simplification")


@pytest.fixture(scope="module")
def direct(nnd_data: Path) -> Conversion:
    return convert("simplification", origin=nnd_data / "simplification", set_name="da")


def by_aspect(conversion: Conversion, minimum: float, tolerance: float = 1e-6) -> dict[str, int]:
    """Count the comparisons of a gap rule, those of two equal texts included."""
    found = compare(conversion.annotations, Gap(minimum, tolerance)).frame["aspect"]
    return dict(found.value_counts().sort("aspect").iter_rows())


def test_pairs(simplification: Conversion) -> None:
    counts = simplification.manifest["counts"]

    assert counts["by_aspect"] == {
        "grammaticality": 9625,
        "meaning": 11130,
        "simplicity": 6395,
        "structural_simplicity": 5807,
    }
    assert (counts["pairs"], counts["distinct_pairs"]) == (32957, 19487)
    assert (counts["contexts"], counts["systems"], counts["annotations"]) == (70, 25, 7000)


def test_pairs_before_equal_texts_are_dropped(simplification: Conversion) -> None:
    assert by_aspect(simplification, 1) == {
        "grammaticality": 9860,
        "meaning": 11177,
        "simplicity": 6432,
        "structural_simplicity": 5843,
    }
    # 9,860 + 11,177 + 6,432 + 5,843 = 33,312, less the 32,957 pairs.
    dropped = [(entry["reason"], entry["n"]) for entry in simplification.manifest["dropped"]]
    assert dropped == [("same_text", 355)]


def test_without_a_tolerance_stored_decimals_would_lose_pairs(simplification: Conversion) -> None:
    # 4.333333333 - 3.333333333 is 0.9999999999999996.
    exact = by_aspect(simplification, 1, tolerance=0)

    assert 9860 - exact["grammaticality"] == 325


def test_pairs_of_simplicity_da(direct: Conversion) -> None:
    counts = direct.manifest["counts"]

    assert counts["by_aspect"] == {"fluency": 287, "meaning": 335, "simplicity": 316}
    assert (counts["contexts"], counts["systems"], counts["annotations"]) == (302, 6, 1800)
    assert by_aspect(direct, 10) == {"fluency": 287, "meaning": 335, "simplicity": 318}


def test_what_simplicity_da_drops(direct: Conversion) -> None:
    dropped = [(entry["reason"], entry["n"]) for entry in direct.manifest["dropped"]]

    assert dropped == [("one_candidate", 105), ("same_text", 2)]


def test_a_file_tells_its_set(nnd_data: Path, direct: Conversion) -> None:
    found = convert("simplification", origin=nnd_data / "simplification" / DA)

    assert found.manifest["source"]["set"] == "da"
    assert found.pairs.equals(direct.pairs)


def test_both_files_are_the_declared_ones(simplification: Conversion, direct: Conversion) -> None:
    files = [simplification.manifest["files"], direct.manifest["files"]]

    assert [(file["name"], file["verified"]) for (file,) in files] == [(FILE, True), (DA, True)]


def test_byte_order_mark_and_crlf_leave_no_trace(simplification: Conversion) -> None:
    texts = simplification.annotations.select(
        pl.concat_str("context_id", "context", "candidate").str.contains("[\ufeff\r]").any()
    )

    assert texts.item() is False
    assert simplification.manifest["oddities"] == []


def test_simplicity_may_be_negative(simplification: Conversion) -> None:
    of_aspect = simplification.annotations.filter(aspect="simplicity")["score"]

    assert (of_aspect.min(), of_aspect.max()) == (-2.0, 2.0)


PINNED = [
    ("main", 0, "8e82f8a2701bdc3b", "1/DSS", "1/DSS^m", "One side of the armed", "simplicity"),
    ("main", 8, "d5f082f35ca9c86e", "1/DSS", "1/Moses", "One side of the", "structural_simplicity"),
    (
        "main",
        -1,
        "0c822d9326c03294",
        "9/SETrain2-Moses_LM",
        "9/SETrain1-Moses_LM",
        "Following the drummers are dancers, who",
        "meaning",
    ),
    ("da", 0, "ca5640fa45ecdc47", "10/ACCESS", "10/DMASS-DCSS", "The NASA Cassini", "meaning"),
    ("da", 8, "be593c1aabd8ae2f", "10/SBMT-SARI", "10/Dress-Ls", "The ship is made up", "meaning"),
    ("da", -1, "502ffc6ca5dcf55c", "99/Dress-Ls", "99/PBMT-R", "Aliteracy is the", "simplicity"),
]


@pytest.mark.parametrize("pinned", PINNED, ids=[f"{row[0]}{row[1]}" for row in PINNED])
def test_pinned_pair(
    simplification: Conversion, direct: Conversion, pinned: tuple[str, int, str, str, str, str, str]
) -> None:
    which, number, pair_id, high, low, start, aspect = pinned
    pair = {"main": simplification, "da": direct}[which].pairs.row(number, named=True)

    assert (pair["pair_id"], pair["high_id"], pair["low_id"]) == (pair_id, high, low)
    assert (pair["aspect"], pair["error_category"]) == (aspect, aspect)
    assert pair["candidate_high"].startswith(start)


@pytest.mark.parametrize(
    ("aspect", "best", "score"),
    # Means of the column over the 100 rows of a system.
    [("fluency", "Dress-Ls", 82.599), ("meaning", "ACCESS", 70.560)],
)
def test_human_scores(direct: Conversion, aspect: str, best: str, score: float) -> None:
    rows = direct.human_scores.filter(aspect=aspect).sort("score", descending=True)

    assert (rows["system"][0], round(rows["score"][0], 3), rows["n"][0]) == (best, score, 100)


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        (b",5,5,1.3", b",five,5,1.3", f'{FILE}:2, grammaticality: "five" is not a number; '),
        (b"DSS,Sem", b"DSS2,Sem", f'{FILE}:2: system: "DSS2" is not in source.yaml '),
        (b"orig_sent", b"original", f'{FILE}:1: there is no column "orig_sent", only "sent_id", '),
        (b"sys_type", b"sys_name", f'{FILE}:1: the header has "sys_name" twice; '),
        (b"\r\n2,DSS", b",\r\n2,DSS", f"{FILE}:2: 10 cells where the header has 9; "),
        (b"\r\n2,DSS", b"\r\n1,DSS", f'{FILE}:3: context_id: "1" stands for two different '),
    ],
    ids=["score", "system", "column", "twice", "ragged", "context"],
)
def test_a_wrong_file(tmp_path: Path, before: bytes, after: bytes, message: str) -> None:
    fixture = SOURCES / "simplification" / "fixture"
    raw = (fixture / FILE).read_bytes()
    (tmp_path / FILE).write_bytes(raw.replace(before, after, 1))

    with pytest.raises(NNDError) as caught:
        convert("simplification", origin=tmp_path)
    assert str(caught.value).startswith(message)
