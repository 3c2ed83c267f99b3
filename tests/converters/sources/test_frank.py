"""FRANK: labels of summaries from those of sentences, and the file with one number for each."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import polars as pl
import pytest
from support.recounts.counted_again import converted
from support.refusals import refusal

from nnd.converters.folder.conversion import Conversion, convert
from nnd.converters.pairs.pairing import make_pairs
from nnd.schemas import NoError
from nnd.schemas.reading.archives import read_members

SENTENCES = "human_annotations_sentence.json"
SAMPLE_LABELS = ["NoE", "EntE", "NoE", "EntE", "NoE", "NoE", "RelE", "NoE", "GramE", "EntE"]
CNNDM, OTHER_CNNDM, XSUM = "0a" * 20, "0b" * 20, "12345678"

Sentences = list[dict[str, list[str]]]
Read = Callable[..., Conversion]


def sentence(*labels: str) -> dict[str, list[str]]:
    """One sentence by three annotators; `+` joins the labels of one."""
    return {f"annotator_{number}": given.split("+") for number, given in enumerate(labels)}


def row(system: str, *sentences: dict[str, list[str]], **fields: Any) -> dict[str, Any]:
    """A row of the sentence file as its authors publish it."""
    return {
        "hash": CNNDM,
        "model_name": system,
        "article": "An article.",
        "summary": f"What {system} wrote.",
        "split": "test",
        "summary_sentences_annotations": list(sentences),
    } | fields


CLEAN = row("bart", sentence("NoE", "NoE", "NoE"))
WRONG = row("bus", sentence("EntE", "EntE", "NoE"))


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """`read(rows, **files)`: what the source makes of a sentence file, with others beside it."""

    def convert_rows(rows: object, **others: object) -> Conversion:
        (tmp_path / SENTENCES).write_text(json.dumps(rows), encoding="utf-8")
        for name, content in others.items():
            text = content if isinstance(content, str) else json.dumps(content)
            suffix = ".txt" if isinstance(content, str) else ".json"
            (tmp_path / (name + suffix)).write_text(text, encoding="utf-8")
        return convert("frank", origin=tmp_path, accept_changed="a test")

    return convert_rows


@pytest.fixture(scope="module")
def factuality(nnd_data: Path) -> Conversion:
    """By `Factuality`: leave it as it is."""
    return converted("frank", nnd_data / "frank", set_name="factuality")


@pytest.fixture(scope="module")
def typed(nnd_data: Path) -> Conversion:
    """By the columns of errors: leave it as it is."""
    return converted("frank", nnd_data / "frank", set_name="typed")


def label_of(conversion: Conversion, system: str) -> str | None:
    """The label of the summary of `system`."""
    label: str | None = conversion.annotations.filter(system=system)["label"].item()
    return label


@pytest.mark.parametrize(
    ("sentences", "expected"),
    [
        # Two labels NoE make a sentence clean, whatever the third is.
        ([sentence("NoE", "OutE", "NoE"), sentence("EntE", "NoE", "NoE")], "NoE"),
        # One label NoE does not; its one error counts, and so do those of clean sentences.
        ([sentence("NoE", "CircE", "RelE"), sentence("RelE", "NoE", "NoE")], "RelE"),
        # One of three sentences is enough. GramE stands once, LinkE twice.
        (
            [
                sentence("NoE", "NoE", "NoE"),
                sentence("GramE", "LinkE", "LinkE"),
                sentence("NoE", "NoE", "NoE"),
            ],
            "LinkE",
        ),
        # Once each: sentence by sentence EntE would come first; annotator by annotator OutE does.
        ([sentence("NoE", "EntE", "NoE"), sentence("OutE", "NoE", "CircE")], "OutE"),
        # An annotator may see several errors in a sentence: RelE twice, EntE and CorefE once.
        ([sentence("EntE+RelE", "RelE", "CorefE")], "RelE"),
        # Errors outside of the typology are counted, and do not become a label.
        ([sentence("OtherE", "OtherE", "EntE")], None),
        ([sentence("OtherE", "EntE", "EntE")], "EntE"),
        # A single annotator: not two NoE, and no error either.
        ([sentence("NoE")], None),
        ([], None),
    ],
)
def test_the_label_of_a_summary(read: Read, sentences: Sentences, expected: str | None) -> None:
    assert label_of(read([row("pgn", *sentences), CLEAN, WRONG]), "pgn") == expected


def sample_row(line: str) -> dict[str, Any]:
    """A line of FineSurE's sample as a row of the sentence file.

    The sample has the labels of an annotator in one list and a mark (0 clean, 1 not) by sentence;
    where there are more labels than sentences, the first sentence that is not clean has the rest.
    """
    given = json.loads(line)
    sentences: Sentences = [{} for _ in given["sentences"]]
    for annotator, marks in given["raw_annotations"].items():
        labels = list(marks["factuality_types"])
        spare = len(labels) - len(sentences)
        for place, mark in enumerate(marks["factuality_labels"]):
            n, spare = (1 + spare, 0) if mark else (1, spare)
            sentences[place][annotator], labels = labels[:n], labels[n:]
            assert ("NoE" in sentences[place][annotator]) == (mark == 0)
    return {
        "hash": given["doc_id"],
        "model_name": given["model"],
        "article": given["transcript"],
        "summary": " ".join(given["sentences"]),
        "split": given["split"],
        "summary_sentences_annotations": sentences,
    }


@pytest.fixture
def sample(nnd_data: Path) -> list[dict[str, Any]]:
    """The ten summaries whose labels by annotator are known, as rows of the sentence file."""
    text = (nnd_data / "frank" / "frank-data-sample-10.json").read_text(encoding="utf-8")
    return [sample_row(line) for line in text.splitlines()]


def test_the_labels_of_the_sample(read: Read, sample: list[dict[str, Any]]) -> None:
    found = read(sample).annotations
    labels = dict(found.select("candidate_id", "label").iter_rows())

    assert [labels[f"{given['hash']}/{given['model_name']}"] for given in sample] == SAMPLE_LABELS


def test_the_pairs_of_the_sample(read: Read, sample: list[dict[str, Any]]) -> None:
    # Rows 1-3 are one article: one clean, two EntE. Rows 4-8 are another: three clean, one RelE,
    # one GramE. Rows 0 and 9 stand alone.
    conversion = read(sample)
    counts = conversion.manifest["counts"]

    assert counts["by_error_category"] == {"EntE": 2, "GramE": 3, "RelE": 3}
    assert counts["by_error_group"] == {"content verifiability": 3, "semantic frame": 5}
    assert counts["by_split"] == {"valid": 8}
    assert [file["verified"] for file in conversion.manifest["files"]] == [False]


def test_other_errors_make_no_pair_and_are_reported(read: Read) -> None:
    other = row("pgn", sentence("OtherE", "OtherE", "OtherE"))
    manifest = read([CLEAN, WRONG, other]).manifest

    assert manifest["counts"]["pairs"] == 1
    assert [(entry["reason"], entry["n"]) for entry in manifest["dropped"]] == [("unlabelled", 1)]
    assert manifest["oddities"] == [
        (
            f"{SENTENCES}: summaries of cnndm kept without a label, as theirs is OtherE, not of "
            "the typology: 1"
        )
    ]


def test_texts_are_looked_up_where_the_rows_have_none(read: Read) -> None:
    bare = [
        {key: value for key, value in given.items() if key not in {"article", "summary"}}
        for given in (CLEAN, WRONG, row("pgn", sentence("EntE", "EntE", "EntE")))
    ]
    texts = [
        {"hash": CNNDM, "model_name": name, "article": "Long.", "summary": f"By {name}."}
        for name in ("bart", "bus")
    ]
    conversion = read(bare, **{"benchmark_data.v2": texts})

    assert conversion.pairs.select("context", "candidate_high", "candidate_low").rows() == [
        ("Long.", "By bart.", "By bus.")
    ]
    assert conversion.manifest["oddities"] == [
        f"{SENTENCES}: summaries of cnndm left out, as neither file has their texts: 1"
    ]


def test_without_any_text_the_file_of_texts_is_asked_for(read: Read) -> None:
    bare = {key: value for key, value in CLEAN.items() if key != "article"}

    with refusal("file.not-found", "test_without_any_text_the_file0"):
        read([bare, WRONG])


def test_the_data_set_is_told_by_the_hash(read: Read) -> None:
    xsum = [given | {"hash": XSUM} for given in (CLEAN, WRONG)]

    assert read([CLEAN, WRONG, *xsum]).manifest["counts"]["by_category"] == {"bbc": 1, "cnndm": 1}


def test_splits_are_looked_up_where_the_rows_have_none(read: Read) -> None:
    rows = [
        {key: value for key, value in given.items() if key != "split"} | {"hash": name}
        for name in (CNNDM, OTHER_CNNDM, XSUM)
        for given in (CLEAN, WRONG)
    ]
    conversion = read(rows, test_split=f"{CNNDM}\n", validation_split=f"{XSUM}\n{'0c' * 20}")

    assert sorted(conversion.pairs.select("split", "context_id").rows()) == [
        ("test", CNNDM),
        ("test", OTHER_CNNDM),
        ("valid", XSUM),
    ]
    assert conversion.manifest["oddities"] == [
        f"{SENTENCES}: summaries of cnndm that state no split and count as test: 2"
    ]


KIND, MARKS = "file.another-kind", "summary_sentences_annotations[0]"


@pytest.mark.parametrize(
    ("rows", "code", "where"),
    [
        (
            [CLEAN, row("bus", sentence("EntE", "OutE2", "NoE"))],
            *("cell.unknown-value", f"{SENTENCES}[1], {MARKS}, annotator_1"),
        ),
        (
            [CLEAN, row("bus", {"annotator_0": "NoE"})],  # type: ignore[dict-item]
            *(KIND, f"{SENTENCES}[1], {MARKS}, annotator_0"),
        ),
        ([CLEAN, WRONG | {"hash": None}], KIND, f"{SENTENCES}[1], hash"),
        ([CLEAN, CLEAN], "row.twice", f"{SENTENCES}[1]"),
        (
            [CLEAN, row("gpt9", sentence("EntE", "EntE", "NoE"))],
            *("row.wrong-shape", f"{SENTENCES}[1]: system"),
        ),
        (
            [CLEAN, {"hash": CNNDM, "model_name": "bus", "article": "", "summary": ""}],
            *(KIND, f"{SENTENCES}[1]"),
        ),
        ([CLEAN, []], KIND, f"{SENTENCES}[1]"),
        ("no list", KIND, SENTENCES),
        ([], KIND, "frank"),
    ],
)
def test_a_wrong_file_is_refused(read: Read, rows: object, code: str, where: str) -> None:
    with refusal(code, where):
        read(rows)


def test_without_the_sentence_file_the_sets_are_named(nnd_data: Path) -> None:
    folder = nnd_data / "frank"
    for origin in (folder, folder / "human_annotations.json"):
        with refusal("source.several-files", str(origin)) as caught:
            convert("frank", origin=origin)
        assert "--set typed or --set factuality" in caught.value.remedy


def test_without_any_file_the_sets_are_named(tmp_path: Path) -> None:
    with refusal("file.not-found", str(tmp_path)) as caught:
        convert("frank", origin=tmp_path)

    assert "--set typed or --set factuality" in caught.value.remedy


def test_xsum_is_left_out(factuality: Conversion) -> None:
    # 2,246 summaries less 1,250 of CNN/DM are the 996 of XSum, whose texts are not here.
    assert factuality.manifest["counts"]["by_category"] == {"cnndm": 1168}
    assert factuality.manifest["oddities"] == [
        "human_annotations.json: summaries of bbc left out, as neither file has their texts: 996"
    ]


def test_types_of_errors(typed: Conversion) -> None:
    # Issue 16; the 694 pairs with a type make 824 rows.
    test = typed.pairs.filter(split="test")
    distinct = pl.struct("context_id", "high_id", "low_id")
    with_type = test.filter(pl.col("error_category") != "untyped")
    groups = with_type.group_by("error_group").agg(distinct.n_unique())

    assert test.select(distinct.n_unique()).item() == 832
    assert with_type.select(distinct.n_unique()).item() == 694
    assert dict(test["error_category"].value_counts().iter_rows()) == {
        "EntE": 312,
        "CorefE": 159,
        "untyped": 138,
        "GramE": 109,
        "RelE": 77,
        "OutE": 70,
        "CircE": 56,
        "LinkE": 41,
    }
    assert dict(groups.iter_rows()) == {
        "semantic frame": 422,
        "discourse": 200,
        "content verifiability": 174,
    }


def test_both_sets_have_the_same_pairs(factuality: Conversion, typed: Conversion) -> None:
    keys = ("split", "context_id", "high_id", "low_id", "margin")
    found = typed.pairs.select(keys).unique(maintain_order=True)

    assert found.equals(factuality.pairs.select(keys))


def test_a_margin_is_the_difference_of_factuality(factuality: Conversion, nnd_data: Path) -> None:
    text = (nnd_data / "frank" / "human_annotations.json").read_text(encoding="utf-8")
    scores = {f"{row['hash']}/{row['model_name']}": row["Factuality"] for row in json.loads(text)}
    rows = factuality.pairs.select("high_id", "low_id", "margin").rows()

    assert [margin for *_, margin in rows] == pytest.approx(
        [scores[high] - scores[low] for high, low, _ in rows]
    )


def read_rows(path: Path) -> Iterator[dict[str, str]]:
    """Yield the rows of all sheets of an xlsx whose strings stand in the cells, by the header."""
    ns = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
    for name, raw in read_members(path).items():
        if name.startswith("xl/worksheets/"):
            rows = ET.fromstring(raw).iter(f"{ns}row")  # noqa: S314 - our own file
            cells = [["".join(cell.itertext()) for cell in row.iter(f"{ns}c")] for row in rows]
            yield from (dict(zip(cells[0], row, strict=True)) for row in cells[1:])


@pytest.fixture(scope="module")
def aggrefact(nnd_data: Path, factuality: Conversion) -> pl.DataFrame:
    """The CNN/DM summaries with the labels of AggreFact too, which follow the sentences.

    AggreFact lists the summaries with an error alone, some of them on several sheets, and calls
    the systems by other names: they are found by article and text.
    """
    wrong = {
        (row["id"], row["summ"])
        for name in ("test", "val")
        for row in read_rows(nnd_data / "frank" / f"AggreFact-Unified-{name}.xlsx")
        if row["dataset"] == "frank" and row["label"] == "0"
    }
    marks = pl.DataFrame(sorted(wrong), ["context_id", "candidate"], orient="row")
    joined = factuality.annotations.join(
        marks.with_columns(by_sentences=pl.lit("error")),
        on=["context_id", "candidate"],
        how="left",
        maintain_order="left",
    )
    return joined.with_columns(pl.col("by_sentences").fill_null("none"))


def test_pairs_by_the_labels_of_aggrefact(aggrefact: pl.DataFrame) -> None:
    pairs = make_pairs(aggrefact.with_columns(label="by_sentences"), NoError("none"), {}).frame

    assert dict(pairs["split"].value_counts().iter_rows()) == {"test": 848, "valid": 338}


def test_error_free_summaries_by_the_labels_of_aggrefact(aggrefact: pl.DataFrame) -> None:
    # ../shared/facts/sources.md, "Human quality per model": of 175 summaries each.
    test = aggrefact.filter(split="test", by_sentences="none")

    assert dict(test["system"].value_counts().iter_rows()) == {
        "bart": 144,
        "bert_sum": 124,
        "bus": 64,
        "pgn": 125,
        "s2s": 36,
    }


def test_both_rules_differ_on_thirty_test_summaries(aggrefact: pl.DataFrame) -> None:
    test = aggrefact.filter(split="test")
    found = test.group_by("by_sentences", "label").len()

    # 26 + 356 = 382 with an error by sentences; 4 + 356 = 360 by Factuality.
    assert sorted(found.iter_rows()) == [
        ("error", "no_error", 26),
        ("error", "not_factual", 356),
        ("none", "no_error", 489),
        ("none", "not_factual", 4),
    ]


def test_a_file_may_be_named_itself(factuality: Conversion, nnd_data: Path) -> None:
    file = nnd_data / "frank" / "human_annotations.json"
    named = convert("frank", origin=file, set_name="factuality")

    assert named.pairs.equals(factuality.pairs)
