"""What the columns of an unknown file are taken for, and what cannot be guessed is asked."""

import functools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from support import guessed_tables
from support.guessed_tables import BIRDS, ROOMS, cycle, gap, no_error, texts

from nnd.converters.new_source.guess.content import read_content
from nnd.converters.new_source.guess.guessing import Guess, guess
from nnd.converters.new_source.guess.quality import sensible_minimum
from nnd.converters.new_source.guess.questions import Answers, Question
from nnd.converters.new_source.guess.words import plain_label, slug, words_of
from nnd.schemas import SourceError


@pytest.fixture
def look(tmp_path: Path) -> Any:
    """`look({"column": values, …}, Answers(…))`: the guess for a table of these columns."""
    return functools.partial(guessed_tables.look, tmp_path)


FIVE = {"fluency": [1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 1, 2]}


def roles(found: Guess) -> dict[str, str]:
    return {name: role for name, role in found.roles().items() if role != "not used"}


# Which column is what.


@pytest.mark.parametrize(
    ("context", "system", "candidate"),
    [
        ("source", "system", "target"),
        ("article", "model_name", "summary"),
        ("orig_sent", "sys_name", "simp_sent"),
        ("src", "System", "mt"),
        ("question", "model", "answer"),
        ("prompt", "modelId", "modelResponse"),
        ("dialogue", "generator", "generated summary"),
        ("context", "method", "question"),
        # The name says nothing, the values do: what repeats, and what differs.
        ("review", "who", "reply"),
        ("a", "bot", "b"),
    ],
)
def test_context_system_and_candidate(look: Any, context: str, system: str, candidate: str) -> None:
    found = look(texts(context=context, system=system, candidate=candidate) | FIVE)

    assert roles(found) == {
        context: "context",
        system: "system",
        candidate: "candidate",
        "fluency": "score: fluency",
    }
    assert all(found.why[name] for name in (context, system, candidate))


def test_keys_and_what_a_context_has_beside_its_text(look: Any) -> None:
    columns = {
        "doc_id": [number for number in range(4) for _ in range(3)],
        "row_id": list(range(12)),
        "domain": ["news"] * 6 + ["mail"] * 6,
        "split": ["dev"] * 3 + ["test"] * 9,
        "reference": [f"Go through {room} please." for room in ROOMS for _ in range(3)],
        "title": [room for room in ROOMS for _ in range(3)],
        "annotator_id": cycle(7, 8),
        "words": cycle(5, 6, 7, 8),
        "rouge": cycle(0.5, 0.25, 0.75, 1),
    }

    found = look(columns | texts() | FIVE)

    assert roles(found) == {
        "doc_id": "context id",
        "row_id": "candidate id",
        "domain": "category",
        "split": "split",
        "source": "context",
        "system": "system",
        "output": "candidate",
        "fluency": "score: fluency",
    }


def test_a_number_that_does_not_stand_for_one_context_is_no_key(look: Any) -> None:
    found = look({"doc_id": cycle(1, 2)} | texts() | FIVE)

    assert "doc_id" not in roles(found)


def test_a_context_of_several_parts(look: Any) -> None:
    parts = {"passage": [f"A long passage on {room}." for room in ROOMS for _ in range(3)]}

    found = look(parts | texts(context="question", candidate="answer") | FIVE)

    assert [column.name for column in found.context] == ["passage", "question"]


def test_what_a_list_in_json_holds_is_one_level(tmp_path: Path) -> None:
    objects = [
        {
            "meta": {"uid": f"u{number}", "text": f"Somebody asked the way to {room}."},
            "outputs": [
                {"by": {"model": bird}, "text": f"The {bird} points at {room}.", "errors": []}
                for bird in BIRDS
            ],
        }
        for number, room in enumerate(ROOMS)
    ]
    objects[0]["outputs"][0]["errors"] = [{"type": "rude", "at": 3}]
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"version": 1, "data": objects}), encoding="utf-8")

    found = guess(read_content({path.name: path}))

    assert roles(found) == {
        "data.meta.uid": "context id",
        "data.meta.text": "context",
        "data.outputs.by.model": "system",
        "data.outputs.text": "candidate",
        "data.outputs.errors.type": "tags: errors",
    }


def test_objects_under_keys(tmp_path: Path) -> None:
    objects = {
        f"id{number}": {
            "source": f"Somebody asked the way to {room}.",
            "outputs": {
                bird: {"text": f"The {bird} points at {room}.", "score": place + number % 2}
                for place, bird in enumerate(BIRDS)
            },
        }
        for number, room in enumerate(ROOMS)
    }
    path = tmp_path / "a.json"
    path.write_text(json.dumps(objects), encoding="utf-8")

    assert roles(guess(read_content({path.name: path}))) == {
        "*": "context id",
        "source": "context",
        "outputs.*": "system",
        "outputs.text": "candidate",
        "outputs.score": "score: score",
    }


# What was judged, and the rule.


@pytest.mark.parametrize(
    ("columns", "measures", "rule"),
    [
        # Several scores are several aspects; a point on a scale from 1 to 5.
        (
            FIVE | {"adequacy": cycle(1, 3, 5, 2, 4)},
            ["score: fluency", "score: adequacy"],
            gap(1),
        ),
        # A tenth of a scale from 0 to 100.
        (
            {"score": cycle(0, 50, 100, 20, 77)},
            ["score: score"],
            gap(10),
        ),
        (
            {"correctness": cycle(0, 1)},
            ["score: correctness"],
            {"rule": "credit", "high": [1], "low": [0]},
        ),
        (
            {"hallucination": cycle(0, 1)},
            ["score: hallucination"],
            {"rule": "credit", "high": [0], "low": [1]},
        ),
        # One column per annotator: ratings of one aspect each.
        (
            {
                f"{name}_{n}": cycle(1, 5, 4, 2, n)
                for name in ("fluency", "meaning")
                for n in (1, 2, 3)
            },
            ["ratings: fluency", "ratings: meaning"],
            {"rule": "majority", "top": 5},
        ),
        (
            {"rater1_tone": cycle(1, 2, 3), "rater2_tone": cycle(3, 2)},
            ["ratings: tone"],
            {"rule": "majority", "top": 3},
        ),
        # Wide ratings are averaged.
        (
            {"score_1": cycle(0, 50, 100), "score_2": cycle(10, 90)},
            ["ratings: score"],
            gap(10),
        ),
        # Numbered questions are aspects, not annotators.
        (
            {"Q1": cycle(1, 5), "Q2": cycle(2, 4)},
            ["score: q1", "score: q2"],
            gap(1),
        ),
        ({"fluency": [[5, 4], [1, 2]] * 6}, ["ratings: fluency"], {"rule": "majority", "top": 5}),
        # Labels, of which one says that nothing is wrong.
        (
            {"verdict": cycle("ok", "rude")},
            ["label: verdict"],
            no_error("ok"),
        ),
        (
            {"error_type": cycle("No error", "omission", "other")},
            ["label: error_type"],
            no_error("No error"),
        ),
        ({"error": cycle("yes", "no")}, ["label: error"], no_error("no")),
        (
            {"fluent": cycle("yes", "no")},
            ["label: fluent"],
            no_error("yes"),
        ),
        (
            {"correct": cycle(True, False)},
            ["label: correct"],
            no_error("true"),
        ),
        (
            {"has_error": cycle(True, False)},
            ["label: has_error"],
            no_error("false"),
        ),
        # No label at all in a column of errors is no error.
        (
            {"errors": cycle("", "omission")},
            ["label: errors"],
            no_error("No error"),
        ),
        (
            {"tags": cycle([], ["rude"], ["rude", "late"])},
            ["tags: tags"],
            no_error("No error"),
        ),
        (
            {"tags": cycle(["fine"], ["rude"])},
            ["tags: tags"],
            no_error("fine"),
        ),
        (
            {"Omission": cycle("x", ""), "Addition": cycle("", "", "X")},
            ["marks: errors"],
            no_error("No error"),
        ),
        # A scale of labels.
        (
            {"grade": cycle("poor", "good", "fair")},
            ["label: grade"],
            {"rule": "order", "better": [["good", "fair"], ["fair", "poor"]]},
        ),
        # Labels of several annotators, under one aspect.
        (
            {"label_1": cycle("good", "bad"), "label_2": cycle("bad", "good", "good")},
            ["votes: label"],
            no_error("good"),
        ),
        # Labels of errors go before scores.
        (
            {"score": cycle(1, 2, 3), "error": cycle("none", "omission")},
            ["label: error"],
            no_error("none"),
        ),
    ],
)
def test_measures_and_rule(
    look: Any, columns: dict[str, Any], measures: list[str], rule: dict[str, Any]
) -> None:
    blank = {
        name: [None if value == "" else value for value in values]
        for name, values in columns.items()
    }

    found = look(texts() | blank)

    assert [f"{each.kind}: {each.aspect}" for each in found.measures] == measures
    assert dict(found.quality.rule) == rule
    assert found.quality.why


def test_truth_values_under_one_name_are_the_errors_that_there_are(look: Any) -> None:
    errors = [{"rude": number % 2 == 1, "late": number % 3 == 2} for number in range(12)]

    found = look(texts() | {"errors": errors})

    assert [f"{each.kind}: {each.aspect}" for each in found.measures] == ["flags: errors"]
    assert set(found.quality.errors) == {"rude", "late"}
    assert found.quality.blank == "No error"


def test_several_labels_in_a_cell_are_cut_where_that_makes_them_meet_again(look: Any) -> None:
    cut = look(texts() | {"errors": cycle("late;rude", "rude", "late", "none")})
    whole = look(texts() | {"errors": cycle("late, but kind", "rude", "none")})

    assert cut.quality.separator == ";"
    assert set(cut.quality.errors) == {"late", "rude"}
    assert whole.quality.separator is None
    assert set(whole.quality.errors) == {"late, but kind", "rude"}


@pytest.mark.parametrize(
    ("width", "minimum"),
    # From 1 to 3, 1 to 5 and 0 to 10 a point; a tenth of 0-1, 0-25 and 0-100.
    [(2, 1), (4, 1), (10, 1), (1, 0.1), (25, 2), (100, 10), (11, 1), (0.5, 0.05)],
)
def test_the_smallest_difference_that_counts(width: float, minimum: float) -> None:
    assert sensible_minimum(width) == minimum


# What the user says is not guessed.


def test_flags_decide(look: Any) -> None:
    columns = texts(context="notes", system="x", candidate="y") | {
        "p": cycle(1, 2, 3),
        "q": cycle(5, 6),
    }
    answers = Answers(context=("notes",), system="x", candidate="y", score=("q",), minimum=0.5)

    found = look(columns, answers)

    assert roles(found) == {
        "notes": "context",
        "x": "system",
        "y": "candidate",
        "q": "score: q",
    }
    assert dict(found.quality.rule) == gap(0.5)
    assert {found.why[name] for name in ("notes", "x", "y", "q")} == {"it was named"}


def test_ratings_that_are_named_are_one_aspect_whatever_they_are_called(look: Any) -> None:
    columns = texts() | {"tone_ann": cycle(1, 5), "tone_bob": cycle(2, 4)}

    found = look(columns, Answers(rating=("tone_ann", "tone_bob")))

    assert [(each.aspect, len(each.columns)) for each in found.measures] == [("tone", 2)]


@pytest.mark.parametrize(
    ("answers", "rule"),
    [
        (Answers(no_error="b"), no_error("b")),
        (Answers(order=("c", "a")), {"rule": "order", "better": [["c", "a"]]}),
    ],
)
def test_parameters_of_labels(look: Any, answers: Answers, rule: dict[str, Any]) -> None:
    found = look(texts() | {"label": cycle("a", "b", "c")}, answers)

    assert dict(found.quality.rule) == rule


@pytest.mark.parametrize(
    ("answers", "rule"),
    [
        (Answers(high=(4, 5)), {"rule": "credit", "high": [4, 5], "low": [1, 2, 3]}),
        (Answers(minimum=2), gap(2)),
    ],
)
def test_parameters_of_numbers(look: Any, answers: Answers, rule: dict[str, Any]) -> None:
    assert dict(look(texts() | FIVE, answers).quality.rule) == rule


@pytest.mark.parametrize(
    ("columns", "answers", "words"),
    [
        (FIVE, Answers(system="nobody"), '--system: there is no column "nobody"; the columns are '),
        (FIVE, Answers(score=("output",)), "output: holds something other than numbers, e.g. "),
        (
            FIVE,
            Answers(no_error="ok"),
            "--no-error and --order are about labels, and there are num",
        ),
        (FIVE, Answers(top=5), "--top is about ratings of several annotators; there is one score"),
        (FIVE, Answers(high=(9,)), "--high: 9 must be some of the scores, which are 1, 2, 3, 4, 5"),
        (
            {"label": cycle("a", "b")},
            Answers(no_error="z"),
            '--no-error: no candidate is labelled "z", nor is there one without a label; the',
        ),
        ({"label": cycle("a", "b")}, Answers(order=("a", "z")), '--order: there is no label "z"'),
        ({"label": cycle("a", "b")}, Answers(order=("a",)), "--order: one label is not an order"),
        (
            {"label": cycle("a", "b")},
            Answers(minimum=1),
            "--minimum, --top and --high are about num",
        ),
        (
            {"fluency": cycle(1, 2, 3, 4, 5, "n/a", 1, 2, 3, 4)},
            None,
            'fluency: holds numbers, and "n/a"',
        ),
        (
            {"shape": ["a"] * 12},
            Answers(label=("shape",), no_error="a"),
            'every label is "a", so that no candidate has an error; name other columns with',
        ),
    ],
)
def test_what_does_not_fit_is_refused(
    look: Any, columns: dict[str, Any], answers: Answers | None, words: str
) -> None:
    with pytest.raises(SourceError) as caught:
        look(texts() | columns, answers)

    assert str(caught.value).startswith(words)


# What cannot be guessed is asked.


def only_asked(name: str, chosen: Sequence[str]) -> tuple[Any, list[Question]]:
    asked: list[Question] = []

    def ask(question: Question) -> Sequence[str]:
        asked.append(question)
        assert question.name == name
        return chosen

    return ask, asked


def numbered(text: str, *, repeated: int = 1) -> list[str]:
    return [f"{text} {number // repeated}." for number in range(12)]


@pytest.mark.parametrize(
    ("columns", "name", "chosen", "role"),
    [
        # Two systems with equal shares might as well be two labels.
        (
            {
                "source": numbered("Something long to be read", repeated=2),
                "output": numbered("A reply that is long"),
                "zz": cycle("p", "q"),
                **FIVE,
            },
            "system",
            ("zz",),
            "system",
        ),
        (
            texts(candidate="one") | {"two": numbered("Another text that is long enough")} | FIVE,
            "candidate",
            ("two",),
            "candidate",
        ),
    ],
)
def test_a_question_has_choices_and_one_is_taken(
    tmp_path: Path, columns: dict[str, Any], name: str, chosen: tuple[str, ...], role: str
) -> None:
    path = tmp_path / "a.jsonl"
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    ask, asked = only_asked(name, chosen)

    found = guess(read_content({path.name: path}), None, ask)

    assert found.roles()[chosen[0]] == role
    assert len(asked) == 1
    assert len(asked[0].samples) == len(asked[0].choices)
    with pytest.raises(SourceError, match=f"It cannot be guessed: say so with --{name}, one of: "):
        guess(read_content({path.name: path}))


def test_the_label_without_an_error_is_asked_for(look: Any, tmp_path: Path) -> None:
    columns = texts() | {"label": cycle("alpha", "beta", "gamma")}

    with pytest.raises(SourceError) as caught:
        look(columns)

    assert str(caught.value) == (
        "Which label says that nothing is wrong with a candidate? It cannot be guessed: say so "
        "with --no-error, one of: alpha, beta, gamma (it beats every other label; or give the "
        "labels from best to worst with --order)"
    )
    ask, asked = only_asked("no_error", ["beta"])
    found = guess(read_content({"judged.jsonl": tmp_path / "judged.jsonl"}), None, ask)
    assert found.quality.rule["no_error"] == "beta"
    assert asked[0].choices == ("alpha", "beta", "gamma")


def test_an_answer_that_is_no_choice_is_refused(look: Any, tmp_path: Path) -> None:
    with pytest.raises(SourceError):
        look(texts() | {"label": cycle("alpha", "beta")})
    ask, _ = only_asked("no_error", ["delta"])

    with pytest.raises(SourceError, match="--no-error: must be one of: alpha, beta"):
        guess(read_content({"judged.jsonl": tmp_path / "judged.jsonl"}), None, ask)


def test_a_row_per_aspect_is_told_from_a_row_per_annotator(look: Any) -> None:
    doubled = {name: [v for v in values for _ in range(2)] for name, values in texts().items()}
    score = {"score": [1, 2, 3] * 8}

    annotators = look(doubled | {"rater": ["p", "q"] * 12} | score)
    assert annotators.is_repeated
    with pytest.raises(SourceError, match="criterion seems to name what was judged in each row"):
        look(doubled | {"criterion": ["tone", "truth"] * 12} | score)


# Words.


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("docId_2", ["doc", "id", "2"]),
        ("Reference Summary", ["reference", "summary"]),
        ("HTMLText", ["html", "text"]),
        ("sys-name", ["sys", "name"]),
        ("rater1", ["rater", "1"]),
        ("流畅", ["流畅"]),
        ("", []),
    ],
)
def test_words_of_a_name(name: str, words: list[str]) -> None:
    assert words_of(name) == words


@pytest.mark.parametrize(
    ("label", "plain"),
    [("No-error", "no error"), ("no_error", "no error"), ("NoError", "no error"), ("NONE", "none")],
)
def test_plain_labels(label: str, plain: str) -> None:
    assert plain_label(label) == plain


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Orig Sent.", "orig_sent"),
        ("流畅", "p"),
        ("2nd", "p_2nd"),
        ("_x_", "x"),
        ("", "p"),
    ],
)
def test_slugs_are_names_of_inputs(name: str, expected: str) -> None:
    assert slug(name, "p") == expected
