"""Errors marked in texts: a row per span, or a list of spans per candidate."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.recounts.counted_again import converted
from support.table_files import csv_of, refused

from nnd.converters.folder.conversion import Conversion, convert
from nnd.converters.source import load_source

ShapedSource = Callable[..., Path]

NONE = {"rule": "no_error", "no_error": "good"}
GAP = {"rule": "gap", "minimum": 0.1, "tolerance": 1e-9}
SPANS: dict[str, Any] = {
    "category": "category",
    "no_error": "good",
    "severity": "severity",
    "weights": {"Major": 5, "Minor": {"rude": 0.1, "*": 1}},
    "annotator": "rater",
    "tags": ["<v>", "</v>"],
}
TABLE: dict[str, Any] = {
    "columns": {"context_id": "n", "candidate": "target", "system": "by"},
    "inputs": {"source": "source"},
    "spans": SPANS,
}
HEADER = ["n", "by", "rater", "source", "target", "category", "severity"]


def row(by: str, target: str, category: str, severity: str, **other: str) -> list[str]:
    cells = {"n": "1", "rater": "r1", "source": "Quelle"} | other
    cells |= {"by": by, "target": target, "category": category, "severity": severity}
    return [cells[name] for name in HEADER]


ROWS = [
    row("heron", "A <v>spring</v>", "wrong", "Major"),
    row("heron", "A spring", "wrong", "Minor", source="<v>Quelle</v>"),
    row("heron", "A <v>spring", "rude", "Minor", rater="r2"),
    row("wren", "A source", "good", "", rater="r2"),
]


def source_of(shaped: ShapedSource, *rows: list[str], **facts: Any) -> Path:
    return shaped({"toy.csv": csv_of(HEADER, *rows)}, facts.pop("table", TABLE), **facts)


def test_spans_become_labels_and_a_score(shaped_source: ShapedSource) -> None:
    found = convert(source_of(shaped_source, *ROWS, quality=NONE))

    # heron: (5 + 1) of r1 and 0.1 of r2, over two raters: 3.05.
    assert found.annotations.select("candidate", "context", "label", "score").rows() == [
        ("A spring", "Quelle", "rude", -3.05),
        ("A spring", "Quelle", "wrong", -3.05),
        ("A source", "Quelle", "good", 0.0),
    ]
    assert found.pairs["margin"].to_list() == [3.05, 3.05]


def test_without_categories_the_score_alone_is_read(shaped_source: ShapedSource) -> None:
    spans = {name: SPANS[name] for name in ("severity", "weights", "annotator", "tags")}
    rows = [row("wren", "A source", "", "Minor", rater="r2") if r is ROWS[3] else r for r in ROWS]

    found = convert(source_of(shaped_source, *rows, quality=GAP, table=TABLE | {"spans": spans}))

    # heron: (5 + 1 + 1) / 2; without a category * counts.
    assert found.annotations.select("system", "label", "score").rows() == [
        ("heron", None, -3.5),
        ("wren", None, -1.0),
    ]


def test_within_a_group_candidates_have_scores_of_their_own(shaped_source: ShapedSource) -> None:
    columns = TABLE["columns"] | {"group": "rater"}

    annotations = convert(
        source_of(shaped_source, *ROWS, quality=NONE, table=TABLE | {"columns": columns})
    ).annotations

    assert sorted(annotations.select("group", "system", "label", "score").rows()) == [
        ("r1", "heron", "wrong", -6.0),
        ("r2", "heron", "rude", -0.1),
        ("r2", "wren", "good", 0.0),
    ]


def test_several_texts_of_one_key_are_each_one_of_its_own(shaped_source: ShapedSource) -> None:
    rows = [*ROWS, row("wren", "A  source", "rude", "Minor"), row("wren", "The well", "good", "")]

    found = convert(source_of(shaped_source, *rows, quality=NONE))

    ids = found.annotations.select("candidate_id", "candidate").unique().sort("candidate_id")
    assert ids.rows() == [
        ("1/heron", "A spring"),
        ("1/wren", "A source"),
        ("1/wren#2", "The well"),
    ]
    assert found.manifest["oddities"] == [
        "toy.csv: candidates with several texts, each read as one of its own: 1"
    ]


def test_several_texts_of_a_context_are_each_one_of_its_own(shaped_source: ShapedSource) -> None:
    rows = [*ROWS, *(row(by, by, "good", "", source="Quellen") for by in ("heron", "wren"))]

    annotations = convert(source_of(shaped_source, *rows, quality=NONE)).annotations

    ids = annotations.select("context_id", "context", "candidate_id").unique()
    assert sorted(ids.rows()) == [
        ("1", "Quelle", "1/heron"),
        ("1", "Quelle", "1/wren"),
        ("1#2", "Quellen", "1#2/heron"),
        ("1#2", "Quellen", "1#2/wren"),
    ]


def test_a_candidate_may_have_a_list_of_spans(shaped_source: ShapedSource) -> None:
    outputs = [
        ("A", []),
        ("B", [{"type": "wrong", "points": 2}, {"type": ["wrong", "rude"], "points": 0.5}]),
    ]
    lines = [{"n": 1, "source": "S", "by": by, "target": by, "marks": m} for by, m in outputs]
    raw = "".join(json.dumps(line) + "\n" for line in lines).encode()
    spans = {"list": "marks", "category": "type", "weight": "points", "no_error": "good"}

    found = convert(shaped_source({"toy.jsonl": raw}, TABLE | {"spans": spans}))

    # The second span has two categories, and counts under each.
    assert found.annotations.select("candidate", "label", "score").rows() == [
        ("A", "good", 0.0),
        ("B", "rude", -3.0),
        ("B", "wrong", -3.0),
    ]


@pytest.mark.parametrize(
    ("marks", "code", "where"),
    [
        (["wrong"], "row.wrong-shape", "toy.jsonl:1, marks[0]"),
        ([{"type": "wrong"}], "row.wrong-shape", "toy.jsonl:1, marks[0]"),
        ("wrong", "row.wrong-shape", "toy.jsonl:1, marks[0]"),
        (None, "row.wrong-shape", "toy.jsonl:1"),
        ([{"type": "rude", "points": -1}], "cell.out-of-range", "toy.jsonl:1, marks[0], points"),
        ([{"type": "rude", "points": "x"}], "cell.not-a-number", "toy.jsonl:1, marks[0], points"),
    ],
)
def test_spans_that_are_none(
    shaped_source: ShapedSource, marks: object, code: str, where: str
) -> None:
    raw = json.dumps({"n": 1, "source": "S", "by": "A", "target": "A", "marks": marks}).encode()
    spans = {"list": "marks", "category": "type", "weight": "points", "no_error": "good"}

    refused(shaped_source({"toy.jsonl": raw}, TABLE | {"spans": spans}), code, where)


def test_a_severity_without_a_weight(shaped_source: ShapedSource) -> None:
    refused(
        source_of(shaped_source, row("heron", "A", "rude", "Huge")),
        "cell.unknown-value",
        "toy.csv:2, severity",
    )


@pytest.mark.parametrize("weights", [{"Major": -5}, {"Major": {"*": 5, "rude": -1}}])
def test_a_weight_below_0(shaped_source: ShapedSource, weights: dict[str, Any]) -> None:
    table = TABLE | {"spans": SPANS | {"weights": weights}}
    folder = source_of(shaped_source, *ROWS, table=table)

    refused(folder, "source.definition", "source.yaml: table/spans/weights/Major")


# Raw MQM, through a table section alone.

MQM: dict[str, Any] = {
    "compute": {
        "segment": "CONCAT(doc, '/', doc_id, '/', seg_id)",
        "category": "REPLACE(category, '/-', '')",
        "language": "'en'",
    },
    "columns": {"context_id": "segment", "candidate": "target", "system": "system"},
    "inputs": {"source": "source"},
    "metadata": {"document": "doc", "context_language": "language"},
    "spans": {
        "category": "category",
        "no_error": "No-error",
        "tags": ["<v>", "</v>"],
        "annotator": "rater",
    },
}
READINGS = [None, "severity", "severity_order"]


def mqm_source(place: Path, set_name: str, variant: str | None) -> Path:
    """The built-in source with a table section in the place of its convert.py."""
    source = load_source("wmt_mqm").choose("set", set_name)
    source = source if variant is None else source.choose("variant", variant)
    facts = {k: v for k, v in source.facts.items() if k not in ("set", "variant", "variants")}
    facts.pop("sets")
    category = {} if variant is None else {"category": "severity"}
    table = MQM | {"spans": MQM["spans"] | category}
    place.mkdir()
    (place / "source.yaml").write_text(yaml.safe_dump(facts | {"table": table}), encoding="utf-8")
    return place


def same(found: Conversion, built_in: Conversion) -> bool:
    """Whether they are the same, but for the places of marks, which a table does not keep."""
    frames = ("pairs", "human_scores")
    without_spans = built_in.annotations.drop("spans")
    return found.annotations.equals(without_spans) and all(
        getattr(found, name).equals(getattr(built_in, name)) for name in frames
    )


@pytest.mark.sampled(2)
@pytest.mark.parametrize("variant", READINGS)
@pytest.mark.parametrize("set_name", ["ted/ende", pytest.param("ted/zhen", marks=pytest.mark.full)])
def test_raw_mqm_needs_no_python(
    nnd_data: Path, tmp_path: Path, set_name: str, variant: str | None
) -> None:
    origin = nnd_data / "wmt_mqm" / set_name
    folder = mqm_source(tmp_path / "wmt_mqm", set_name, variant)

    found = convert(folder, origin=origin)

    built_in = converted("wmt_mqm", nnd_data / "wmt_mqm", set_name=set_name, variant=variant)
    assert found.pairs.height > 16_000
    assert same(found, built_in)


def test_places_of_spans_are_kept(shaped_source: ShapedSource) -> None:
    def mark(start: int | None, end: int | None, kind: str) -> dict[str, Any]:
        return {"type": kind, "start": start, "end": end}

    marks = [
        mark(2, 8, "wrong"),
        mark(None, None, "wrong"),
        mark(0, 1, "rude"),
        mark(5, 99, "rude"),
    ]
    rows = [
        {"n": 1, "source": "Quelle", "target": "A spring", "by": "heron", "marks": marks},
        {"n": 1, "source": "Quelle", "target": "A source", "by": "wren", "marks": []},
    ]
    raw = "".join(json.dumps(row) + "\n" for row in rows).encode()
    spans = {
        "list": "marks",
        "category": "type",
        "no_error": "good",
        "start": "start",
        "end": "end",
    }

    found = convert(shaped_source({"toy.jsonl": raw}, TABLE | {"spans": spans}, quality=NONE))

    kept = {
        label: [(span["start"], span["end"], span["label"]) for span in spans]
        for label, spans in found.annotations.select("label", "spans").iter_rows()
    }
    assert kept == {
        "wrong": [(2, 8, "wrong"), (None, None, "wrong")],
        "rude": [(0, 1, "rude")],
        "good": [],
    }
    assert "spans left out, which do not fit the text: 1" in str(found)
