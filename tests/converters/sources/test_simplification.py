"""Sentence simplification on the real files: stored decimals, two sets, and wrong tables."""

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


def test_without_a_tolerance_stored_decimals_would_lose_pairs(simplification: Conversion) -> None:
    # 4.333333333 - 3.333333333 is 0.9999999999999996.
    found, exact = (
        compare(simplification.annotations, Gap(1, tolerance)).frame.filter(aspect="grammaticality")
        for tolerance in (1e-6, 0)
    )

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
