"""ConFiT's annotation of SAMSum on the real file: marks, and scores as another reading."""

import csv
import hashlib
import io
from pathlib import Path

import polars as pl
import pytest
from support.places import SOURCES

from nnd.converters.folder.conversion import Conversion, convert
from nnd.schemas import NNDError

FILE = "samsum_annotation.csv"

# In the order of the file's columns.
BY_CATEGORY = {
    "Missing Information": 231,
    "Redundant Information": 28,
    "Circumstance": 100,
    "Wrong Reference": 117,
    "Negation": 12,
    "Object": 11,
    "Tense": 8,
    "Modality": 17,
}


@pytest.fixture(scope="module")
def confit(nnd_data: Path) -> Conversion:
    return convert("confit_samsum", origin=nnd_data / "confit_samsum")


@pytest.fixture(scope="module")
def scored(nnd_data: Path) -> Conversion:
    return convert("confit_samsum", origin=nnd_data / "confit_samsum", variant="gap")


@pytest.fixture(scope="module")
def rows(nnd_data: Path) -> list[dict[str, str]]:
    text = (nnd_data / "confit_samsum" / FILE).read_bytes().decode()
    return list(csv.DictReader(io.StringIO(text.replace("\r\n", "\n"), newline="")))


def test_pairs(confit: Conversion) -> None:
    counts = confit.manifest["counts"]

    assert counts["by_error_category"] == BY_CATEGORY
    assert (counts["pairs"], counts["distinct_pairs"]) == (524, 418)
    # 668 marks, and 156 summaries without one.
    assert (counts["annotations"], counts["candidates"], counts["systems"]) == (824, 600, 6)
    assert confit.manifest["dropped"] == []


def test_every_pair_and_no_other(confit: Conversion, rows: list[dict[str, str]]) -> None:
    marks = {
        row["ID"]: [name for name in BY_CATEGORY if row[name] not in {"", "\u00a0"}] for row in rows
    }
    expected = [
        (good["ID"], bad["ID"], name)
        for good in rows
        for bad in rows
        for name in marks[bad["ID"]]
        if good["Dialogue"] == bad["Dialogue"] and not marks[good["ID"]]
    ]

    found = confit.pairs.select("high_id", "low_id", "error_category").rows()
    assert sorted(found) == sorted(expected)


def test_the_columns_are_those_of_the_file(rows: list[dict[str, str]]) -> None:
    assert list(rows[0])[4:12] == list(BY_CATEGORY)


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


def test_a_dialogue_is_known_by_its_text(confit: Conversion) -> None:
    first = confit.annotations.row(0, named=True)
    text = first["context"].encode()

    assert first["context_id"] == hashlib.sha256(b"%d:%b" % (len(text), text)).hexdigest()[:16]
    assert first["inputs"] == [{"key": "dialogue", "value": first["context"]}]


def test_the_no_break_space_is_no_mark_and_is_reported(confit: Conversion) -> None:
    assert confit.manifest["oddities"] == [
        f"{FILE}:1782, Missing Information: nothing but white space (U+00A0), read as blank"
    ]
    assert confit.annotations.filter(candidate_id="330")["label"].to_list() == ["No error"]


def test_pairs_by_score(scored: Conversion) -> None:
    assert scored.manifest["counts"]["by_error_category"] == {"quality": 1117}
    # 1,119 before two pairs of equal texts go.
    dropped = [(entry["reason"], entry["n"]) for entry in scored.manifest["dropped"]]
    assert dropped == [("unlabelled", 3), ("same_text", 2)]
    assert scored.manifest["oddities"] == []


@pytest.mark.parametrize(("minimum", "pairs"), [(1, 1119), (2, 757), (3, 485)])
def test_pairs_by_a_gap(scored: Conversion, minimum: int, pairs: int) -> None:
    scores = scored.annotations.select("context_id", "candidate_id", "score")
    both = scores.join(scores, on="context_id", suffix="_low")

    assert both.filter(pl.col("score") - pl.col("score_low") >= minimum).height == pairs


def test_human_scores_are_in_the_order_of_the_paper(scored: Conversion) -> None:
    best_first = scored.human_scores.sort("score", descending=True)

    found = [
        (system, round(score, 2), n)
        for system, score, n in best_first.select("system", "score", "n").iter_rows()
    ]
    assert found == [
        ("BART-Cons", 7.25, 100),
        ("T5-Cons", 6.92, 100),
        ("Pegasus-Cons", 6.77, 100),
        ("Pegasus-Baseline", 6.26, 100),
        ("BART-Baseline", 5.54, 100),
        ("T5-Baseline", 5.42, 97),  # three of its summaries have no score
    ]


def test_human_scores_by_marks(confit: Conversion) -> None:
    overall = confit.human_scores.filter(category="overall")

    assert dict(overall.select("system", "score").iter_rows()) == {
        "BART-Baseline": 0.20,
        "BART-Cons": 0.35,
        "Pegasus-Baseline": 0.24,
        "Pegasus-Cons": 0.30,
        "T5-Baseline": 0.16,
        "T5-Cons": 0.31,
    }


PINNED = [
    (0, "bbe243b757be7488", "135", "132", "Adam and Karen are worried", "Missing Information"),
    (8, "4e5295591bc587d8", "137", "134", "Karen and Adam are worried", "Missing Information"),
    (-1, "a70f4a189f4bb052", "327", "329", "Derek will help Craig with", "Wrong Reference"),
]


@pytest.mark.parametrize("pinned", PINNED, ids=["first", "ninth", "last"])
def test_pinned_pair(confit: Conversion, pinned: tuple[int, str, str, str, str, str]) -> None:
    number, pair_id, high, low, start, category = pinned
    pair = confit.pairs.row(number, named=True)

    assert (pair["pair_id"], pair["high_id"], pair["low_id"]) == (pair_id, high, low)
    assert (pair["aspect"], pair["error_category"]) == ("faithfulness", category)
    assert pair["candidate_high"].startswith(start)


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        (",,,x,,,,,4.0", ",,,y,,,,,4.0", f'{FILE}:10, Wrong Reference: "y" is neither blank nor '),
        ("Tense,", "Times,", f'{FILE}:1: there is no column "Tense", only "ID", "Dialogue", '),
        ("T5-Cons", "T6-Cons", f'{FILE}:10: system: "T6-Cons" is not in source.yaml '),
        ("4.0,T5-Cons", "4.0", f"{FILE}:10: 13 cells where the header has 14; "),
        ("\n7,", "\n0,", f'{FILE}:7: candidate_id: "0" stands for two different things '),
    ],
    ids=["mark", "column", "system", "ragged", "id"],
)
def test_a_wrong_file(tmp_path: Path, before: str, after: str, message: str) -> None:
    fixture = SOURCES / "confit_samsum" / "fixture"
    raw = (fixture / FILE).read_bytes()
    (tmp_path / FILE).write_bytes(raw.replace(before.encode(), after.encode(), 1))

    with pytest.raises(NNDError) as caught:
        convert("confit_samsum", origin=tmp_path)
    assert str(caught.value).startswith(message)


def test_a_score_that_is_no_number(tmp_path: Path) -> None:
    fixture = SOURCES / "confit_samsum" / "fixture"
    raw = (fixture / FILE).read_bytes()
    (tmp_path / FILE).write_bytes(raw.replace(b"2.0,Peg", b"two,Peg"))

    with pytest.raises(NNDError, match=rf'^{FILE}:7, Score: "two" is not a number; '):
        convert("confit_samsum", origin=tmp_path, variant="gap")
