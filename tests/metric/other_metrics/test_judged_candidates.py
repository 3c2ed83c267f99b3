"""What people said of single candidates, rule by rule, and reading it from a converted folder."""

import json
import math
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from support.judged_cases import pairs, write_judged
from support.refusals import refusal
from support.stored_folders import write_sealed, write_text

from nnd.metric.other_metrics.judged_candidates import (
    human_judgements,
    number_rules,
    read_judged,
)

NO_ERROR = {"rule": "no_error", "no_error": "fine"}
ORDER = {"rule": "order", "better": [["fine", "minor"], ["neutral", "minor"], ["minor", "major"]]}
SCHEMA: dict[str, pl.DataType | type[pl.DataType]] = {
    "split": pl.String,
    "candidate_id": pl.String,
    "aspect": pl.String,
    "label": pl.String,
    "score": pl.Float64,
    "ratings": pl.List(pl.Float64),
}


def judge(rule: dict[str, Any], column: str, values: list[Any]) -> float | None:
    """What the rule makes of one candidate with some annotations that differ in one column."""
    rows = [{"split": "s", "candidate_id": "c", "aspect": "a", column: value} for value in values]
    frame = pl.DataFrame(rows, SCHEMA)
    found: float | None = human_judgements(frame, number_rules(frame, rule))["human"].item()
    return found


def test_a_score_beside_labels_counts_and_its_absence_stays_one() -> None:
    rows = [("a", "fine", 7.0), ("b", "typo", 3.0), ("b", "omission", 3.0), ("c", "fine", None)]
    frame = pl.DataFrame(
        [
            {"split": "s", "candidate_id": name, "aspect": "a", "label": label, "score": score}
            for name, label, score in rows
        ],
        SCHEMA,
    )
    for rule in (NO_ERROR, ORDER):
        found = human_judgements(frame, number_rules(frame, rule))
        assert found.select("candidate_id", "human").rows() == [("a", 7), ("b", 3), ("c", None)]


@pytest.mark.parametrize(
    ("rule", "column", "values", "human"),
    [
        ({"rule": "gap"}, "score", [7.5], 7.5),
        ({"rule": "credit"}, "score", [0.5], 0.5),
        ({"rule": "gap"}, "score", [None], None),
        ({"rule": "majority"}, "ratings", [[5, 4, 3]], 4),
        ({"rule": "majority"}, "ratings", [[]], None),
        ({"rule": "majority", "at_least": 2}, "ratings", [[5]], None),
        ({"rule": "gap", "ratings": "median"}, "ratings", [[5, 1, 1]], 1),
        ({"rule": "gap", "ratings": "mean"}, "ratings", [[5, 1, 0]], 2),
        ({"rule": "credit", "ratings": "median"}, "ratings", [[0, 1]], 0.5),
        (NO_ERROR, "label", ["fine"], 1),
        (NO_ERROR, "label", ["typo"], 0),
        (NO_ERROR, "label", ["typo", "omission"], 0),
        (NO_ERROR, "label", ["fine", "typo"], 0),  # as in the human scores: "and nothing else"
        (NO_ERROR, "label", [None], None),
        (ORDER, "label", ["neutral"], 1),  # nothing is better than it
        (ORDER, "label", ["minor"], 0),
        (ORDER, "label", ["major", "fine"], 0),
    ],
)
def test_one_number_per_candidate(
    rule: dict[str, Any], column: str, values: list[Any], human: float | None
) -> None:
    assert judge(rule, column, values) == human


def test_standardised_ratings() -> None:
    # 1, 2 and 6 of one annotator: mean 3, s √7, so that z of the first is -2/√7.
    rows = [
        {
            "split": "s",
            "candidate_id": name,
            "aspect": "a",
            "ratings": [rating],
            "annotators": ["a1"],
        }
        for name, rating in (("c", 1.0), ("d", 2.0), ("e", 6.0))
    ]
    frame = pl.DataFrame(rows, SCHEMA | {"annotators": pl.List(pl.String)})
    rule = {"rule": "gap", "ratings": "mean", "standardise": "annotator"}

    assert human_judgements(frame, {"a": rule})["human"][0] == pytest.approx(-2 / 7**0.5)


def test_each_aspect_has_the_judgements_of_its_rule(tmp_path: Path) -> None:
    folder = write_judged(tmp_path)
    rows = pl.read_parquet(folder / "annotations.parquet")
    marked = rows.with_columns(aspect=pl.lit("style"), label=pl.lit("fine"), score=None)
    pl.concat([rows, marked]).write_parquet(folder / "annotations.parquet")
    manifest = json.loads((folder / "manifest.json").read_text())
    quality = {"default": manifest["source"]["quality"], "aspects": {"style": NO_ERROR}}
    write_sealed(folder / "manifest.json", {"source": {"quality": quality}})

    judged = read_judged(folder)

    assert set(judged.human.filter(aspect="style")["human"]) == {1.0}
    assert judged.human.filter(aspect="quality").equals(
        read_judged(write_judged(tmp_path / "b")).human
    )
    assert judged.definition == (
        'quality: the candidate\'s score; style: 1 if "fine" is the only label of the candidate, '
        "0 otherwise"
    )


@pytest.mark.parametrize("score", [math.nan, math.inf])
def test_a_judgement_that_is_no_number(score: float) -> None:
    with refusal("cell.not-finite", "candidate c, a"):
        judge({"rule": "gap"}, "score", [score])


def test_a_rule_of_another_version() -> None:
    with refusal("data.convert-again"):
        judge({"rule": "vote"}, "score", [1])


def test_candidates_in_pairs_only_are_there_too(tmp_path: Path) -> None:
    folder = write_judged(tmp_path)
    made = pairs().with_columns(low_id=pl.lit("1/x"), candidate_low=pl.lit("made up"))
    made.write_parquet(folder / "pairs.parquet")
    judged = read_judged(folder)
    assert judged.candidates["candidate_id"].to_list() == [
        *("1/a", "1/b", "1/c", "2/a", "2/b", "2/d"),
        "1/x",
    ]
    last = judged.candidates.row(-1, named=True)
    assert (last["candidate"], last["system"]) == ("made up", None)


def test_references_stand_among_the_parts(tmp_path: Path) -> None:
    folder = write_judged(tmp_path)
    rows = pl.read_parquet(folder / "annotations.parquet")
    part = pl.struct(key=pl.lit("reference"), value=pl.lit("the cat"))
    rows.with_columns(pl.concat_list("inputs", part)).write_parquet(folder / "annotations.parquet")
    first = read_judged(folder).texts()[0]
    assert (first.candidate, first.references) == ("the cat sat", ("the cat",))


def test_one_aspect(tmp_path: Path) -> None:
    folder = write_judged(tmp_path)
    rows = pl.read_parquet(folder / "annotations.parquet")
    other = rows.with_columns(aspect=pl.lit("style"), score=pl.lit(1.0))
    pl.concat([rows, other]).write_parquet(folder / "annotations.parquet")
    judged = read_judged(folder, aspect="style")
    assert (judged.human["aspect"].unique().to_list(), judged.pairs.pairs.height) == (["style"], 0)
    assert judged.candidates.height == 6  # each once
    with refusal("name.unknown"):
        read_judged(folder, aspect="fluency")


@pytest.mark.parametrize(
    ("name", "text", "code"),
    [
        ("pairs.parquet", None, "data.not-converted"),
        ("annotations.parquet", None, "data.convert-again"),
        ("manifest.json", None, "data.convert-again"),
        ("manifest.json", "", "contract.broken"),
        ("manifest.json", "{", "contract.broken"),
        ("manifest.json", "[]", "contract.broken"),
        ("manifest.json", '{"source": {}}', "data.convert-again"),
        ("manifest.json", '{"source": null}', "data.convert-again"),
    ],
)
def test_a_folder_without_a_file_or_a_rule(
    name: str, text: str | None, code: str, tmp_path: Path
) -> None:
    folder = write_judged(tmp_path)
    (folder / name).unlink()
    if text is not None:
        write_text(folder / name, text)
    with refusal(code, str(folder if text is None else folder / name)) as caught:
        read_judged(folder)
    assert name in str(caught.value)


def test_annotations_of_another_version(tmp_path: Path) -> None:
    folder = write_judged(tmp_path / "old")
    shutil.copy(folder / "pairs.parquet", folder / "annotations.parquet")
    with refusal("data.convert-again", "annotations.parquet"):
        read_judged(folder)
