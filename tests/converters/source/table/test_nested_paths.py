"""Nested JSON in a `table:` section: columns are paths, and one of them says what a row is."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.table_files import refused

from nnd.converters.folder.conversion import convert

ShapedSource = Callable[..., Path]

LABELS: dict[str, Any] = {
    "quality": {"rule": "no_error", "no_error": "none"},
    "taxonomy": {
        name: {"name": name, "group": None, "description": name} for name in ("rude", "wrong")
    },
}
GAP: dict[str, Any] = {"quality": {"rule": "gap", "minimum": 1}, "taxonomy": {}}
REPLIES = [
    {
        "ticket": 1,
        "ask": {"text": "How?"},
        "outputs": [
            {"bot": "alder", "reply": "So.", "errors": []},
            {"bot": "birch", "reply": "No.", "errors": [{"type": "rude"}, {"type": "wrong"}]},
        ],
    },
    {"ticket": 2, "ask": {"text": "Who?"}, "outputs": None},
]
LIST = {
    "unfold": "outputs[]",
    "columns": {"candidate": "outputs[].reply", "system": "outputs[].bot", "context_id": "ticket"},
    "inputs": {"question": "ask.text"},
    "labels": {"answer": {"column": "outputs[].errors[].type", "empty": "none"}},
}


def raw(value: Any) -> bytes:
    return json.dumps(value).encode()


def lines(*objects: Any) -> bytes:
    return b"".join(raw(value) + b"\n" for value in objects)


def pairs_of(folder: Path) -> list[tuple[str, ...]]:
    found = convert(folder).pairs
    columns = ("context", "candidate_high", "candidate_low", "error_category")
    return sorted(found.select(columns).rows())


@pytest.mark.parametrize("name", ["r.json", "r.jsonl"])
def test_the_items_of_a_list_are_rows(shaped_source: ShapedSource, name: str) -> None:
    content = raw(REPLIES) if name == "r.json" else lines(*REPLIES)

    found = pairs_of(shaped_source({name: content}, LIST, **LABELS))

    assert found == [("How?", "So.", "No.", "rude"), ("How?", "So.", "No.", "wrong")]


def test_two_levels_of_keys_are_questions_and_systems(shaped_source: ShapedSource) -> None:
    content = {
        "q1": {
            "text": "How?",
            "answers": {"alder": {"a": "So.", "n": 5}, "fir": {"a": "No.", "n": 1}},
        },
        "q2": {
            "text": "Who?",
            "answers": {"alder": {"a": "Me.", "n": 1}, "fir": {"a": "I.", "n": 3}},
        },
    }
    table = {
        "unfold": "*.answers.*",
        "columns": {"context_id": "_key", "system": "_key2", "candidate": "*.answers.*.a"},
        "inputs": {"question": "*.text"},
        "scores": {"answer": "*.answers.*.n"},
    }

    found = convert(shaped_source({"a.json": raw(content)}, table, **GAP)).pairs

    assert sorted(found.select("context", "low_id", "candidate_low").rows()) == [
        ("How?", "q1/fir", "No."),
        ("Who?", "q2/alder", "Me."),
    ]


def test_lists_of_ratings_may_differ_in_length(shaped_source: ShapedSource) -> None:
    rows = [
        {"q": "How?", "a": "So.", "by": "alder", "marks": [{"n": 5}, {"n": 5}, {"n": None}]},
        {"q": "How?", "a": "No.", "by": "fir", "marks": [{"n": 1}, {"n": 5}, {"n": 1}, {}]},
    ]
    table = {
        "columns": {"candidate": "a", "system": "by"},
        "inputs": {"question": "q"},
        "ratings": {"answer": ["marks[].n"]},
    }
    rule = {"quality": {"rule": "majority", "top": 5}, "taxonomy": {}}

    conversion = convert(shaped_source({"a.jsonl": lines(*rows)}, table, **rule))

    assert conversion.pairs.select("candidate_high", "candidate_low").rows() == [("So.", "No.")]
    assert conversion.annotations["ratings"].to_list() == [[5.0, 5.0], [1.0, 5.0, 1.0]]


def test_choices_have_the_number_of_the_right_one(shaped_source: ShapedSource) -> None:
    rows = [{"q": "How?", "choices": ["So.", "No."], "answer": 0}]
    rows += [{"q": "Who?", "choices": ["You.", "She.", "Me."], "answer": 2}]
    table = {
        "unfold": "choices[]",
        "compute": {
            "good": "CASE WHEN CAST(_key AS INT) = CAST(answer AS INT) + 1 THEN 1 ELSE 0 END"
        },
        "columns": {"candidate": "choices[]"},
        "inputs": {"question": "q"},
        "scores": {"answer": "good"},
    }
    rule = {"quality": {"rule": "credit", "high": [1], "low": [0]}, "taxonomy": {}}

    found = pairs_of(shaped_source({"a.jsonl": lines(*rows)}, table, **rule))

    assert [row[:3] for row in found] == [
        ("How?", "So.", "No."),
        ("Who?", "Me.", "She."),
        ("Who?", "Me.", "You."),
    ]


def test_an_object_keyed_by_id_is_joined_and_file_names_are_split(
    shaped_source: ShapedSource,
) -> None:
    files = {
        "judged.jsonl": lines(*({"id": f"{b}-1", "n": n} for b, n in (("fir", 5), ("elm", 1)))),
        "out/fir.json": raw({"1": {"text": "So."}}),
        "out/elm.json": raw({"1": {"text": "No."}}),
        "asked.json": raw({"1": "How?"}),
    }
    table = {
        "files": ["judged.jsonl"],
        "extract": {"id": r"(?P<by>\w+)-(?P<item>\d+)"},
        "join": [
            {
                "file": ["out/fir.json", "out/elm.json"],
                "unfold": "*",
                "extract": {"_file": r"out/(?P<writer>\w+)\.json"},
                "on": {"by": "writer", "item": "_key"},
                "columns": {"reply": "*.text"},
            },
            {"file": "asked.json", "unfold": "*", "on": {"item": "_key"}, "columns": {"q": "*"}},
        ],
        "columns": {"candidate": "reply", "system": "by", "context_id": "item"},
        "inputs": {"question": "q"},
        "scores": {"answer": "n"},
    }

    found = pairs_of(shaped_source(files, table, **GAP))

    assert [row[:3] for row in found] == [("How?", "So.", "No.")]


def test_verdicts_in_a_column_per_annotator_are_votes(shaped_source: ShapedSource) -> None:
    header = {"q": "How?", "one": "So.", "two": "No."}
    rows = [{**header, "ann": "A", "bob": "B", "cyd": "A"}, {**header, "q": "Who?", "ann": "A"}]
    rows[1] |= {"bob": "B", "cyd": "tie"}
    table = {
        "wide": {"systems": ["ann", "bob", "cyd"], "columns": {"verdict": "{system}"}},
        "inputs": {"question": "q"},
        "pairs": {
            "first": "one",
            "second": "two",
            "better": "verdict",
            "values": {"first": "A", "second": "B", "tie": "tie"},
            "annotator": "_system",
        },
    }
    rule = LABELS | {"quality": {"rule": "no_error", "no_error": "better"}}
    rule["taxonomy"] = {"worse": {"name": "Worse", "group": None, "description": "Worse."}}

    found = pairs_of(shaped_source({"a.jsonl": lines(*rows)}, table, **rule))

    assert found == [("How?", "So.", "No.", "worse")]


def test_an_object_as_a_context_is_its_json(shaped_source: ShapedSource) -> None:
    rows = [{**row, "ask": {"at": "noon"}} for row in REPLIES]
    table = LIST | {"inputs": {"data": "ask"}}

    found = pairs_of(shaped_source({"r.json": raw(rows)}, table, **LABELS))

    assert {row[0] for row in found} == {'{"at": "noon"}'}


def test_pairs_may_have_no_context(shaped_source: ShapedSource) -> None:
    rows = [{"good": "A cat.", "bad": "Cat a."}, {"good": "It rains.", "bad": "It rain."}]
    table = {"context": "none", "pairs": {"high": "good", "low": "bad"}}
    rule = LABELS | {"quality": {"rule": "no_error", "no_error": "better"}}
    rule["taxonomy"] = {"worse": {"name": "Worse", "group": None, "description": "Worse."}}

    conversion = convert(shaped_source({"a.jsonl": lines(*rows)}, table, **rule))

    assert sorted(conversion.pairs["candidate_high"]) == ["A cat.", "It rains."]
    assert conversion.pairs["context"].to_list() == ["", ""]
    assert conversion.manifest["counts"]["contexts"] == 2


@pytest.mark.parametrize(
    ("changed", "code", "where"),
    [
        ({"unfold": "outputs.*"}, "row.wrong-shape", "r.json[0], outputs"),
        ({"unfold": "ask[]"}, "row.wrong-shape", "r.json[0], ask"),
        (
            {"labels": {"answer": "outputs[].faults[].type"}},
            "row.wrong-shape",
            "r.json[1]",
        ),
        ({"extract": {"ticket": "("}}, "expression.invalid", "extract: ticket"),
        (
            {"extract": {"outputs[].bot": "(?P<x>[0-9]+)"}},
            "expression.invalid",
            "r.json[0][1], outputs[].bot",
        ),
        ({"context": "none"}, "source.definition", "source.yaml: table: context"),
        ({"inputs": None, "context": None}, "source.definition", "source.yaml: table: context"),
        (
            {"inputs": None, "context": "none", "columns": {"candidate": "outputs[].reply"}},
            "source.definition",
            "source.yaml: table: context: none",
        ),
    ],
)
def test_what_does_not_fit_the_file_is_refused(
    shaped_source: ShapedSource, changed: dict[str, Any], code: str, where: str
) -> None:
    table = {key: value for key, value in (LIST | changed).items() if value is not None}

    refused(shaped_source({"r.json": raw(REPLIES)}, table, **LABELS), code, where)
