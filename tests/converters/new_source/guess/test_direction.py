"""What is better, more or less of it: a guess that is wrong here turns every pair around."""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from support.guessed_tables import cycle, gap, look, no_error, texts

from nnd.converters.new_source.guess.questions import Answers
from nnd.schemas import SourceError

Columns = Mapping[str, Sequence[Any]]


def order(*labels: str) -> dict[str, Any]:
    return {"rule": "order", "better": [list(pair) for pair in itertools.pairwise(labels)]}


@pytest.mark.parametrize(
    ("name", "values", "rule"),
    [
        ("fluent", ("yes", "no"), no_error("yes")),
        ("Is it grounded?", ("yes", "no", "cannot tell"), no_error("yes")),
        ("offensive", ("yes", "no"), no_error("no")),
        ("contradiction", (True, False), no_error("false")),
        ("grammar_errors", ("yes", "no"), no_error("no")),  # `grammar` alone would be good news
        ("answerable", (0, 1), {"rule": "credit", "high": [1], "low": [0]}),
        ("repetitive", (0, 1), {"rule": "credit", "high": [0], "low": [1]}),
        ("coherent", ("yes", "partially", "no"), order("yes", "partially", "no")),
        ("hallucinated", ("yes", "partially", "no"), order("no", "partially", "yes")),
        ("toxicity", ("high", "low", "medium"), order("low", "medium", "high")),
        ("is it clear?", ("Agree", "Disagree", "Neutral"), order("Agree", "Neutral", "Disagree")),
        ("severity", ("major", "none", "minor"), order("none", "minor", "major")),
        # Of an error, `factual` is the kind.
        ("error_type", ("factual", "ok"), no_error("ok")),
        ("verdict", ("factual", "invented"), no_error("factual")),
    ],
)
def test_a_name_says_what_is_better(
    tmp_path: Any, name: str, values: tuple[Any, ...], rule: dict[str, Any]
) -> None:
    found = look(tmp_path, texts() | {name: cycle(*values)})

    assert dict(found.quality.rule) == rule


@pytest.mark.parametrize(
    ("columns", "flag"),
    [
        ({"label": cycle("yes", "no")}, "--no-error, one of: no, yes"),
        ({"verdict": cycle(True, False)}, "--no-error, one of: false, true"),
        ({"not_fluent": cycle("yes", "no")}, "--label, one of: not_fluent"),
        ({"error_free": cycle("yes", "no")}, "--no-error, one of: no, yes"),
        ({"error_type": cycle("factual", "late")}, "--no-error, one of: factual, late"),
        ({"q1": cycle("Agree", "Neutral", "Disagree")}, "--no-error, one of: Agree, Disagree, Neu"),
        ({"label": cycle(0, 1)}, "--high, one of: 0, 1"),
        # Nothing else being a number, what is worse the more there is of it must be named.
        ({"toxicity": cycle(1, 2, 3)}, "--score, one of: toxicity"),
        ({"n_errors": cycle(0, 1, 2)}, "--score, one of: n_errors"),
    ],
)
def test_a_name_that_does_not_say_it_is_asked(tmp_path: Any, columns: Columns, flag: str) -> None:
    with pytest.raises(SourceError, match=f"It cannot be guessed: say so with {flag}"):
        look(tmp_path, texts() | columns)


def test_the_answer_is_taken(tmp_path: Any) -> None:
    found = look(tmp_path, texts() | {"label": cycle(0, 1)}, Answers(high=(0,)))

    assert dict(found.quality.rule) == {"rule": "credit", "high": [0], "low": [1]}


def test_scores_of_which_less_is_better_are_left_aside(tmp_path: Any) -> None:
    columns = {"fluency": cycle(1, 2, 3, 4, 5), "redundancy": cycle(1, 3, 5)}

    found = look(tmp_path, texts() | columns)

    assert [measure.aspect for measure in found.measures] == ["fluency"]


@pytest.mark.parametrize("kind", ["score", "rating"])
def test_scores_of_which_less_is_better_are_not_taken_as_they_are(tmp_path: Any, kind: str) -> None:
    columns = texts() | {"errors": cycle(0, 1, 2, 3)}
    named = {kind: ("errors",)}

    with pytest.raises(SourceError, match=r"^errors: less of it is better, by its name, .*--high"):
        look(tmp_path, columns, Answers(**named))
    high = look(tmp_path, columns, Answers(**named, high=(0,))).quality
    assert dict(high.rule) == {"rule": "credit", "high": [0], "low": [1, 2, 3]}
    assert dict(look(tmp_path, columns, Answers(**named, minimum=2)).quality.rule) == gap(2)


@pytest.mark.parametrize(
    ("values", "flag"), [(("yes", "no"), "label"), ((0, 1), "score"), ((True, False), "label")]
)
def test_one_rule_does_not_read_two_directions(
    tmp_path: Any, values: tuple[Any, ...], flag: str
) -> None:
    columns = texts() | {"fluent": cycle(*values), "rude": cycle(*values)}
    named = {flag: ("fluent", "rude")}

    with pytest.raises(SourceError, match=r"^more of fluent is better, and less of rude"):
        look(tmp_path, columns, Answers(**named))


def test_labels_that_are_no_degrees_may_stand_under_any_names(tmp_path: Any) -> None:
    columns = texts() | {"fluent": cycle("ok", "late"), "rude": cycle("late", "ok", "ok")}

    assert dict(look(tmp_path, columns).quality.rule) == no_error("ok")


@pytest.mark.parametrize(
    "other",
    [
        {"comments": cycle("none", "ok")},
        {"attention check": cycle("yes", "no")},
        {"is_reference": cycle(True, False)},
        {"bert_score": cycle(0.5, 0.25, 0.75)},
    ],
)
def test_what_is_no_judgement_does_not_go_before_scores(tmp_path: Any, other: Columns) -> None:
    found = look(tmp_path, texts() | other | {"fluency": cycle(1, 2, 3, 4, 5)})

    assert [f"{each.kind}: {each.aspect}" for each in found.measures] == ["score: fluency"]
