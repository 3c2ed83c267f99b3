"""Where errors are marked, rebuilt from the raw files without the converters."""

import csv
import io
import json
import re
import tarfile
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
from support.recounts.counted_again import converted

Marked = tuple[str | None, str | None]
"""The marked words, and their severity or category."""


def stored(annotations: pl.DataFrame, field: str) -> Counter[Marked]:
    """Return the words that stored spans mark, each with a field; words None without a place."""
    found = Counter[Marked]()
    for text, spans in annotations.select("candidate", "spans").iter_rows():
        for span in spans:
            start, end = span["start"], span["end"]
            found[(text[start or 0 : end or 0].rstrip() or None), span[field]] += 1
    return found


def tsv_rows(text: str) -> list[list[str]]:
    return [line.split("\t") for line in text.split("\n")[1:] if line]


def marked_words(target: str) -> str | None:
    found = re.fullmatch(r"[^<]*<v>(.+)</v>[^<]*", target, re.DOTALL)
    return None if found is None else found[1]


def test_wmt_mqm(nnd_data: Path) -> None:
    folder = nnd_data / "wmt_mqm" / "ted" / "ende"
    rows = tsv_rows((folder / "mqm_ted_ende.tsv").read_text(encoding="utf-8"))
    expected = Counter(
        ((marked_words(row[6]) or "").rstrip() or None, row[8].strip())
        for row in rows
        if row[7].strip() != "No-error"
    )
    found = converted("wmt_mqm", nnd_data / "wmt_mqm", set_name="ted/ende")
    assert stored(found.annotations, "severity") == expected
    assert sum(n for (words, _), n in expected.items() if words is not None) == 4_016


def test_wmt23_mqm_sxs(nnd_data: Path) -> None:
    folder = nnd_data / "wmt23_mqm_sxs" / "generalMT2023" / "ende"
    (path,) = folder.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        (member,) = (one for one in archive.getmembers() if one.isfile())
        opened = archive.extractfile(member)
        assert opened is not None
        rows = tsv_rows(opened.read().decode("utf-8"))
    expected = Counter(
        ((marked_words(row[6]) or "").rstrip() or None, row[8])
        for row in rows
        if row[8] not in ("No-error", "HOTW-test")
    )
    found = converted("wmt23_mqm_sxs", nnd_data / "wmt23_mqm_sxs", set_name="ende")
    # A blank behind a translation is not part of it: one rater marked nothing else.
    missing = expected - stored(found.annotations, "severity")
    assert [*missing.elements()] == [(None, "Minor")]


def test_ragtruth(nnd_data: Path) -> None:
    folder = nnd_data / "ragtruth_faithjudge"
    expected = Counter[Marked]()
    for path in folder.glob("*.jsonl"):
        for line in path.read_text(encoding="utf-8").splitlines():
            for response in json.loads(line)["responses"]:
                expected.update(
                    (span["text"].rstrip(), span["label_type"]) for span in response["labels"]
                )
    found = converted("ragtruth", folder, set_name="faithjudge")
    assert stored(found.annotations, "label") == expected
    assert expected.total() == 846 + 656 + 210 + 19  # as the facts on RAGTruth count them


def test_wmt24_esa(nnd_data: Path) -> None:
    folder = nnd_data / "wmt24_esa"
    texts: dict[str, list[str]] = {
        path.stem: path.read_text(encoding="utf-8").split("\n")
        for path in (folder / "txt" / "system-outputs" / "en-cs").glob("*.txt")
    } | {"refA": (folder / "txt/references/en-cs.refA.txt").read_text(encoding="utf-8").split("\n")}
    expected, behind = Counter[Marked](), 0
    for path in (folder / "humeval").glob("*.csv"):
        for row in csv.reader(io.StringIO(path.read_text(encoding="utf-8"))):
            if row[3:6] != ["TGT", "eng", "ces"] or "#" in row[7] or "tutorial" in row[7]:
                continue
            text = texts[row[1].removeprefix("en-cs.")][int(row[2])]
            for span in json.loads(row[9]):
                missing = span["start_i"] == "missing"
                words = (
                    None if missing else text[span["start_i"] : span["end_i"] + 1].rstrip() or None
                )
                if not missing and span["end_i"] >= len(text):
                    behind += 1
                else:
                    expected[words, span["severity"]] += 1
    found = converted("wmt24_esa", folder)
    assert stored(found.annotations, "severity") == expected
    assert behind == 4


def test_edited_texts_have_the_words_that_differ(nnd_data: Path) -> None:
    found = converted("bump", nnd_data / "bump").annotations
    worse = found.filter(pl.col("label") != "better")
    given = worse["spans"].drop_nulls()
    assert found.filter(label="better")["spans"].list.len().unique().to_list() == [0]
    assert given.explode().struct.field("derived").all()
    # Most edits are of a few words of three or four sentences.
    assert len(given) / worse.height > 0.9


def edited(better: str, worse: str) -> Any:
    from nnd.converters.source.table.pair_rows import _edited_words  # noqa: PLC0415

    spans = _edited_words(worse, better, "wrong")
    return None if spans is None else [span[:2] for span in spans]


def test_which_words_differ() -> None:
    assert edited("The dog runs far.", "The cat runs far.") == [(4, 7)]
    assert edited("The dog runs.", "The big grey dog runs.") == [(4, 12)]
    assert edited("The big dog runs.", "The dog runs.") == [(None, None)]  # nothing to mark
    assert edited("a b c d", "a x y d") == [(2, 5)]  # half of the words
    assert edited("a b c d", "a x y z") is None  # more than half
