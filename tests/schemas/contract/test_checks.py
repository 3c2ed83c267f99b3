"""Checks yield problems with row, path, message and remedy."""

import math
from typing import Any

import polars as pl
import pytest

from nnd.schemas import Problem, check_frame, check_rows, polars_schema

SCORE: dict[str, Any] = {
    "source": "toy",
    "system": "mixqg",
    "model_id": None,
    "aspect": "question",
    "category": "overall",
    "score": 0.5,
    "n": 2,
    "definition": "mean",
}


def score_frame(**columns: Any) -> pl.DataFrame:
    return pl.DataFrame([SCORE | columns], polars_schema("human_score"))


def test_good_rows_have_no_problem() -> None:
    assert list(check_rows("human_score", [SCORE, SCORE | {"score": 1}])) == []


def test_a_problem_says_row_path_message_and_remedy() -> None:
    rows = [SCORE, SCORE | {"score": "high"}]

    assert list(check_rows("human_score", rows)) == [
        Problem(
            row=1,
            path="score",
            message="'high' is not of type 'number'",
            remedy="Higher is better, for example 0.684",
        )
    ]


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, True, 10**400])
def test_what_json_has_no_number_for_is_none(value: float) -> None:
    (problem,) = check_rows("human_score", [SCORE | {"score": value}])

    assert problem.path == "score"


@pytest.mark.parametrize("value", [2.0, True, "2", None])
def test_a_count_is_a_whole_number(value: object) -> None:
    (problem,) = check_rows("human_score", [SCORE | {"n": value}])

    assert (problem.path, problem.message) == ("n", f"{value!r} is not of type 'integer'")


def test_a_missing_field_is_named_with_its_meaning() -> None:
    row = {name: value for name, value in SCORE.items() if name != "system"}

    (problem,) = check_rows("human_score", [row])

    assert problem.message == "'system' is a required property"
    assert (
        problem.remedy
        == 'Name of the system in the source; no white space at its ends, for example "mixqg"'
    )


def test_two_missing_fields_are_two_problems() -> None:
    row = {name: value for name, value in SCORE.items() if name not in ("system", "n")}

    messages = [problem.message for problem in check_rows("human_score", [row])]

    assert messages == ["'system' is a required property", "'n' is a required property"]


def test_an_unknown_field_is_answered_with_the_known_ones() -> None:
    (problem,) = check_rows("human_score", [SCORE | {"scores": 1}])

    assert "'scores' was unexpected" in problem.message
    assert problem.remedy == "known: " + ", ".join(SCORE)


def test_a_name_that_breaks_the_pattern_is_quoted() -> None:
    (problem,) = check_rows("human_score", [SCORE | {"source": "Quiz Design"}])

    assert problem.path == "source"
    assert problem.message.startswith("'Quiz Design' does not match")
    assert problem.remedy.endswith('for example "quiz_design"')


def test_a_path_leads_into_the_row() -> None:
    row = {"inputs": {"question": 3}}

    paths = [problem.path for problem in check_rows("annotation", [row]) if problem.path]

    assert paths == ["inputs/question"]


def test_problems_come_in_the_order_of_the_rows() -> None:
    rows = [SCORE | {"n": 0}, SCORE, SCORE | {"score": None, "system": ""}]

    found = [(problem.row, problem.path) for problem in check_rows("human_score", rows)]

    assert found == [(0, "n"), (2, "system"), (2, "score")]


def test_half_a_surrogate_pair_is_no_text() -> None:
    # json.loads('"\\ud800"') gives it, and no file can hold it in UTF-8.
    (problem,) = check_rows("human_score", [SCORE | {"definition": "mean \ud800"}])

    assert problem.path == "definition"
    assert problem.message == "'mean \\ud800' has half a surrogate pair, which is not a character"


def test_a_long_value_does_not_hide_what_is_wrong_with_it() -> None:
    (problem,) = check_rows("human_score", [SCORE | {"score": "x" * 5000}])

    assert problem.message.endswith("… is not of type 'number'")
    assert len(problem.message) < 100


def test_what_is_no_object_at_all_is_a_problem_of_the_whole() -> None:
    rows: Any = [None, ["a"]]

    found = [(problem.row, problem.path) for problem in check_rows("human_score", rows)]

    assert found == [(0, ""), (1, "")]


def test_the_text_of_a_problem_is_one_line() -> None:
    problem = Problem(row=3, path="a\nb", message="is \x1b[2J wrong", remedy="mend it")

    assert str(problem) == "row 3, a\\nb: is \\x1b[2J wrong (mend it)"


def test_the_text_of_a_problem_without_a_place_starts_with_the_message() -> None:
    assert str(Problem(row=None, path="", message="is wrong", remedy="mend")) == "is wrong (mend)"


def test_a_good_frame_has_no_problem() -> None:
    assert list(check_frame("human_score", score_frame())) == []


def test_a_missing_column_is_named_with_its_dtype() -> None:
    problems = list(check_frame("human_score", score_frame().drop("n")))

    assert problems == [Problem(None, "n", "column is missing", "add it as Int64")]


def test_a_column_of_another_dtype_is_named_with_both() -> None:
    frame = score_frame().with_columns(pl.col("n").cast(pl.Float64))

    assert list(check_frame("human_score", frame)) == [
        Problem(None, "n", "column is Float64", "store it as Int64")
    ]


def test_a_column_too_many_is_named() -> None:
    frame = score_frame().with_columns(note=pl.lit("x"))

    assert list(check_frame("human_score", frame)) == [
        Problem(None, "note", "column is not in the contract", "leave it out")
    ]


def test_rows_are_checked_when_the_columns_are_right() -> None:
    frame = pl.concat([score_frame(), score_frame(score=math.nan)])

    found = [(problem.row, problem.path) for problem in check_frame("human_score", frame)]

    assert found == [(1, "score")]


def test_rows_wait_until_the_columns_are_right() -> None:
    frame = score_frame(score=math.nan).drop("n")

    assert [problem.path for problem in check_frame("human_score", frame)] == ["n"]


@pytest.mark.parametrize(
    ("quality", "path", "words"),
    [
        ({"rule": "gapp"}, "quality/rule", "'gapp' is not one of"),
        ({"rule": "gap"}, "quality", "'minimum' is a required property"),
        ({"rule": "gap", "minimum": 0}, "quality/minimum", "0 is less than or equal to"),
        ({"rule": "gap", "minimum": 1, "top": 5}, "quality", "'top' was unexpected"),
        ({"rule": "credit", "high": [1], "low": []}, "quality/low", "[] should be non-empty"),
        ({"rule": "order", "better": [["a"]]}, "quality/better/0", "['a'] is too short"),
        ({"minimum": 1}, "quality", "'rule' is a required property"),
        ("gap", "quality", "'gap' is not of type 'object'"),
    ],
)
def test_a_wrong_rule_is_explained_by_its_own_parameters(
    quality: object, path: str, words: str
) -> None:
    problem = next(p for p in check_rows("source", [{"quality": quality}]) if p.path)

    assert problem.path == path
    assert words in problem.message
