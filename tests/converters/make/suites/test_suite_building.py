"""Suites from definitions: what is built, the same bytes each time, and bad input in one line."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from support.refusals import refusal
from support.stored_folders import in_row, read_manifest, rewrite, store, write_manifest

import nnd
from nnd.converters.folder import validate
from nnd.converters.make import read_definition
from nnd.converters.make.suites.definition import built_in_definitions
from nnd.metric.data import load_pairs
from nnd.schemas import NNDError

Define = Callable[..., Path]

PERTURBED = {"op": "punctuation", "note": "Final marks only."}
SLICE = {"by": "error_category", "value": "wrong_fact"}
SAMPLE = {"sample": 3, "name": "three"}
WHERE = {"where": "error_category = 'disfluent' AND length > 0", "name": "slice-odd"}


def files_in(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def refused(definition: object, data: Path, out: Path, code: str, where: str = "") -> NNDError:
    """The error of building, after checking its code and place; nothing is written."""
    with refusal(code, where) as caught:
        nnd.suite(str(definition), out=out, data=data)
    assert not out.exists()
    return caught.value


def test_sets_are_in_the_order_of_the_definition(
    define: Define, sample: Path, tmp_path: Path
) -> None:
    found = nnd.suite(define(PERTURBED, SLICE, WHERE, SAMPLE), out=tmp_path / "suite", data=sample)
    pairs = pl.read_parquet(sample / "pairs.parquet")

    sets = read_manifest(tmp_path / "suite")["sets"]
    assert [*found.sets] == sets
    assert [(each["name"], each["kind"], each["note"]) for each in sets] == [
        ("punctuation", "perturbation", "Final marks only."),
        ("slice-wrong_fact", "slice", None),
        ("slice-odd", "slice", None),
        ("three", "shift", None),
    ]
    assert sets[3]["contexts"] == 3
    for name, category in (("slice-wrong_fact", "wrong_fact"), ("slice-odd", "disfluent")):
        stored = pl.read_parquet(tmp_path / "suite" / "sets" / f"{name}.parquet")
        assert stored.equals(pairs.filter(pl.col("error_category") == category))
    assert sets[1]["parameters"] == {"by": "error_category", "value": "wrong_fact"}
    assert validate(tmp_path / "suite").ok


def test_the_same_definition_gives_the_same_bytes(
    define: Define, sample: Path, tmp_path: Path
) -> None:
    built = []
    for _ in range(2):
        nnd.suite(define(PERTURBED, SLICE), out=tmp_path / "suite", data=sample)
        built.append(files_in(tmp_path / "suite"))
    assert built[0] == built[1]


@pytest.fixture
def by_hand(define: Define, sample: Path) -> Path:
    """A set of five pairs, of which the first two share a context."""
    pairs = pl.read_parquet(sample / "pairs.parquet")
    first = pairs.filter(pl.col("context_id") == pairs["context_id"][0]).head(2)
    others = pairs.filter(pl.col("context_id") != pairs["context_id"][0]).head(3)
    lines: list[dict[str, Any]] = [
        {
            "parent_id": row["pair_id"],
            "context": f"Not {row['context']}",
            "inputs": {part["key"]: f"Not {part['value']}" for part in row["inputs"]},
        }
        for row in first.iter_rows(named=True)
    ]
    lines += [
        {"parent_id": row["pair_id"], "candidate_low": f"{row['candidate_low']} Not."}
        for row in others.iter_rows(named=True)
    ]
    definition = define({"file": "negation.jsonl", "note": "Five negations."}, PERTURBED)
    text = "".join(f"{json.dumps(line)}\n" for line in lines)
    definition.with_name("negation.jsonl").write_text(text, encoding="utf-8")
    return definition


def test_g11_five_lines_written_by_hand_are_a_set(
    by_hand: Path, sample: Path, tmp_path: Path
) -> None:
    nnd.suite(by_hand, out=tmp_path / "suite", data=sample)
    children = pl.read_parquet(tmp_path / "suite" / "sets" / "negation.parquet")
    parents = pl.read_parquet(sample / "pairs.parquet")
    both = children.join(parents, left_on="parent_id", right_on="pair_id", suffix="_p")

    assert children.height == 5
    assert both["context_id"].to_list()[:2] == [f"{both['context_id_p'][0]}~negation.1"] * 2
    assert both["low_id"].to_list()[2:] == [f"{name}~negation.1" for name in both["low_id_p"][2:]]
    assert both["high_id"].to_list() == both["high_id_p"].to_list()
    assert both["cluster"].to_list() == both["context_id_p"].to_list()
    assert children["origin"].unique().to_list() == ["synthetic:by_hand"]
    assert validate(tmp_path / "suite").ok
    assert [each.name for each in load_pairs(tmp_path / "suite").sets] == [
        "negation",
        "punctuation",
    ]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ({"parent_id": "0"}, "suite.hand-made"),
        ({"context": "x"}, "file.another-kind"),
        ({"parent_id": "PAIR"}, "suite.hand-made"),
        ({"parent_id": "PAIR", "context": "x"}, "suite.hand-made"),
        ({"parent_id": "PAIR", "candidate": "x"}, "key.unknown"),
    ],
)
def test_a_wrong_line_is_named(
    define: Define, sample: Path, tmp_path: Path, line: dict[str, str], code: str
) -> None:
    pair = pl.read_parquet(sample / "pairs.parquet")["pair_id"][0]
    definition = define({"file": "mine.jsonl"})
    text = json.dumps(line).replace("PAIR", pair)
    definition.with_name("mine.jsonl").write_text(f"\n{text}\n", encoding="utf-8")

    where = f"{definition}: set 1: mine.jsonl:2"
    refused(definition, sample, tmp_path / "suite", code, where)


@pytest.mark.parametrize(
    ("entry", "code", "where"),
    [
        ({"op": "typo=0.05"}, "option.unknown-value", "set 1"),
        ({"by": "error_category", "value": "rude"}, "slice.empty", "set 1"),
        ({"by": "mood", "value": "x"}, "name.unknown", 'set 1: --by "mood"'),
        ({"by": "shape"}, "option.needs-another", "set 1"),
        ({"where": "length >", "name": "x"}, "expression.invalid", 'set 1: --where "length >"'),
        ({"where": "length > 0"}, "option.needs-another", "set 1"),
        ({"where": "length < 0", "name": "none"}, "slice.empty", "set 1"),
        ({"op": "punctuation", "value": "x"}, "key.unknown", "set 1"),
        ({"op": "punctuation", "by": "shape"}, "suite.definition", "set 1"),
        ({"name": "empty"}, "suite.definition", "set 1"),
        ({"keywords": ["zebrafish"]}, "slice.empty", "set 1"),
        ({"sample": 3, "on": "both"}, "key.unknown", "set 1"),
        ({"op": "punctuation", "sed": 1}, "suite.definition", "sets/0"),
        ({"file": "nowhere.jsonl"}, "file.not-found", "nowhere.jsonl"),
        ({"op": "punctuation", "name": "pairs"}, "suite.set-name", ""),
    ],
)
def test_a_wrong_set_is_one_clear_error(
    *, define: Define, sample: Path, tmp_path: Path, entry: dict[str, Any], code: str, where: str
) -> None:
    refused(define(entry), sample, tmp_path / "suite", code, where)


def test_a_wrong_definition_is_one_clear_error(
    define: Define, sample: Path, tmp_path: Path
) -> None:
    out, other = tmp_path / "suite", tmp_path / "other.yaml"
    refused("quiz_design", sample, out, "suite.definition", "quiz_design.yaml")
    error = refused("quiz_desing", sample, out, "name.unknown", "quiz_desing")
    assert '"quiz_design"' in error.what
    refused(define(), sample, out, "suite.definition", "sets")
    for text, code in (("- a", "suite.definition"), ("{", "file.not-yaml")):
        other.write_text(text, encoding="utf-8")
        refused(other, sample, out, code, "other.yaml")


def test_two_sets_of_one_name_are_refused(define: Define, sample: Path, tmp_path: Path) -> None:
    error = refused(define(PERTURBED, PERTURBED), sample, tmp_path / "suite", "name.twice")
    assert '"punctuation"' in error.what


def test_a_suite_of_a_suite_is_refused(define: Define, sample: Path, tmp_path: Path) -> None:
    nnd.suite(define(PERTURBED), out=tmp_path / "suite", data=sample)
    again = tmp_path / "again"
    refused(define(SLICE), tmp_path / "suite", again, "data.is-a-suite", "suite")


@pytest.mark.parametrize("name", built_in_definitions())
def test_a_built_in_definition_is_of_six_sets_of_its_source(name: str) -> None:
    definition = read_definition(name)
    assert definition.source == name
    assert len(definition.sets) >= 6


def test_the_built_in_definitions_are_these() -> None:
    assert built_in_definitions() == ["quiz_design", "summeval", "wmt_mqm"]


# Validation


@pytest.fixture
def suite(define: Define, sample: Path, tmp_path: Path) -> Path:
    nnd.suite(define(PERTURBED, SLICE), out=tmp_path / "suite", data=sample)
    return tmp_path / "suite"


def problems(suite: Path) -> list[str]:
    return [str(finding) for finding in validate(suite)]


@pytest.mark.parametrize(
    ("name", "column", "value", "said"),
    [
        *(
            ("punctuation", column, value, f'{column}: "{value}" is not the value of its parent')
            for column, value in (("candidate_high", "x"), ("aspect", "tone"), ("cluster", "c9"))
        ),
        (
            "punctuation",
            "parent_id",
            "0" * 16,
            f"parent_id: {'0' * 16} is not one of the human pai",
        ),
        ("punctuation", "pair_id", "0" * 16, f"pair_id: {'0' * 16} is not the id of these texts"),
        ("slice-wrong_fact", "category", "x", "is not one of the human pairs and names no parent"),
    ],
)
def test_a_changed_set_is_found(suite: Path, name: str, column: str, value: str, said: str) -> None:
    rewrite(suite, f"sets/{name}.parquet", in_row(1, value, column))
    found = [problem for problem in problems(suite) if said in problem]
    assert len(found) == 1
    assert found[0].startswith(f"sets/{name}.parquet: row 1")


def test_counts_are_those_of_the_manifest(suite: Path) -> None:
    path = "sets/punctuation.parquet"
    store(suite, path, pl.read_parquet(suite / path).tail(-1))
    (pairs, parents) = problems(suite)
    assert "pairs in the manifest" in pairs
    assert "parents in the manifest" in parents


def test_a_set_that_is_not_listed_and_one_without_a_file_are_found(suite: Path) -> None:
    manifest = read_manifest(suite)
    manifest["sets"][1]["name"] = "other"
    write_manifest(suite, manifest)
    assert problems(suite) == [
        "manifest.json: sets: other has no file (build the suite again)",
        "manifest.json: sets: slice-wrong_fact has no entry in `sets` (build the suite again)",
    ]


def test_a_parent_that_was_changed_is_found(suite: Path) -> None:
    pairs = pl.read_parquet(suite / "pairs.parquet")
    pairs.with_columns(in_row(0, "Changed.", "candidate_high")).write_parquet(
        suite / "pairs.parquet"
    )
    assert any('candidate_high: "Changed."' in problem for problem in problems(suite))
    with refusal("contract.broken", "pairs.parquet"):
        load_pairs(suite)


def test_a_missing_parent_is_found(suite: Path) -> None:
    store(suite, "pairs.parquet", pl.read_parquet(suite / "pairs.parquet").tail(-1))
    assert any("is not one of the human pairs" in problem for problem in problems(suite))
