"""Marked spans of candidates: an optional column of annotations, in no id."""

import hashlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from support.refusals import refusal

from nnd.converters import Annotation, Span
from nnd.converters.folder.conversion import convert
from nnd.converters.folder.validation import validate
from nnd.converters.pairs import annotation_frame, normalise_texts
from nnd.converters.source import load_source
from nnd.schemas import check_frame

SAMPLE = load_source("sample")
SOURCE = replace(SAMPLE, facts={**SAMPLE.facts, "systems": {"*": None}, "instruction": "none"})
(ASPECT, *_) = SOURCE.facts["aspects"]
(ERROR, *_) = SOURCE.taxonomy


def annotation(**fields: Any) -> Annotation:
    given = {
        "where": "a.jsonl:1",
        "context_id": "1",
        "context": "Otters swim.",
        "inputs": {"article": "Otters swim."},
        "candidate_id": "1/heron",
        "candidate": "Otters fly  well.",
        "aspect": ASPECT,
        "system": "heron",
        "label": ERROR,
    }
    return Annotation(**given | fields)


@pytest.mark.parametrize(
    ("span", "text", "fits"),
    [
        (Span(7, 10), None, True),
        (Span(7, 10), "fly", True),
        (Span(7, 10), "sink", False),
        (Span(0, 17), None, True),
        (Span(0, 18), None, False),
        (Span(7, 7), None, False),
        (Span(-1, 3), None, False),
        (Span(None, None), None, True),  # an omission
        (Span(None, 3), None, False),
    ],
)
def test_what_fits(span: Span, text: str | None, *, fits: bool) -> None:
    # "Otters fly  well." has 17 characters; `fly` is at 7 to 9.
    assert span.fits("Otters fly  well.", text) is fits


def test_spans_are_stored_as_they_are() -> None:
    spans = [Span(7, 10, ERROR, "major"), Span(None, None, ERROR, "minor", derived=True)]
    rows = [annotation(spans=spans), annotation(candidate_id="1/carp", system="carp")]

    frame = annotation_frame(SOURCE, rows)

    assert list(check_frame("annotation", frame)) == []
    assert dict(frame.select("system", "spans").iter_rows()) == {
        "heron": [
            {"start": 7, "end": 10, "label": ERROR, "severity": "major", "derived": False},
            {"start": None, "end": None, "label": ERROR, "severity": "minor", "derived": True},
        ],
        "carp": None,
    }


def test_without_spans_there_is_no_such_column() -> None:
    assert "spans" not in annotation_frame(SOURCE, [annotation()]).columns


def test_a_span_outside_its_candidate_is_refused() -> None:
    with refusal("row.wrong-shape", "a.jsonl:1: spans"):
        annotation_frame(SOURCE, [annotation(spans=[Span(7, 18)])])


def test_texts_that_change_lose_their_spans() -> None:
    frame = annotation_frame(SOURCE, [annotation(spans=[Span(12, 16)])])

    assert "spans" not in normalise_texts(frame, ["whitespace"]).columns  # two spaces become one
    assert "spans" in normalise_texts(frame, ["nfc"]).columns


JUDGED = Callable[[bool], Path]


@pytest.fixture
def with_spans(tmp_path: Path) -> JUDGED:
    """`with_spans(True)`: the sample, in which each candidate has a span of its first letter."""

    def make(has_spans: bool) -> Path:  # noqa: FBT001
        folder = tmp_path / f"source-{has_spans}" / "sample"
        folder.mkdir(parents=True)
        for name in ("source.yaml", "sample.jsonl", "convert.py"):
            (folder / name).write_bytes((SAMPLE.folder / name).read_bytes())
        if has_spans:
            code = (folder / "convert.py").read_text(encoding="utf-8")
            code = code.replace("def annotations(", "def read(")
            (folder / "convert.py").write_text(code + ADDED)
        return folder

    return make


ADDED = """

from nnd.converters import Span


def annotations(files):
    for row in read(files):
        yield row._replace(spans=[Span(0, 1, row.label)])
"""


def test_spans_change_no_id_and_no_other_file(with_spans: JUDGED, tmp_path: Path) -> None:
    folders = {has: tmp_path / f"out-{has}" for has in (False, True)}
    for has, out in folders.items():
        convert(with_spans(has), out=out)
    without, with_them = (pl.read_parquet(out / "annotations.parquet") for out in folders.values())

    assert with_them["spans"].null_count() == 0
    assert with_them.drop("spans").equals(without)
    for name in ("pairs.parquet", "human_scores.parquet"):
        digests = {hashlib.sha256((out / name).read_bytes()).digest() for out in folders.values()}
        assert len(digests) == 1
    assert [str(finding) for finding in validate(folders[True]).findings] == []
