"""What columns are taken for, what is asked, and which option answers it."""

import json
from pathlib import Path
from typing import Any

import pytest
from support.guessed_tables import BIRDS, ROOMS, cycle, gap, look as look_at, no_error, texts

from nnd.converters.onboard.contents.level_columns import words_of
from nnd.converters.onboard.contents.reading_files import read_content
from nnd.converters.onboard.guess.guessing import UNUSED, Guess, guess
from nnd.converters.onboard.guess.name_words import slug
from nnd.converters.onboard.guess.questions import Answers, Question
from nnd.converters.onboard.guess.rule_guess import sensible_minimum
from nnd.converters.onboard.guess.unread_parts import not_read
from nnd.schemas import SourceError


@pytest.fixture
def look(tmp_path: Path) -> Any:
    """`look({"column": values, …}, score=("x",))`: the guess for a table of these columns."""
    return lambda columns, **answers: look_at(tmp_path, columns, Answers(**answers))


@pytest.fixture
def read(tmp_path: Path) -> Any:
    """`read(objects, score=("x",))`: the guess for nested JSON."""

    def run(value: Any, **answers: Any) -> Guess:
        path = tmp_path / "a.json"
        path.write_text(json.dumps(value), encoding="utf-8")
        said = Answers(**answers)
        return guess(read_content({"a.json": path}, None, said.each), said)

    return run


def roles(found: Guess) -> dict[str, str]:
    return {name: role for name, role in found.roles().items() if role != UNUSED}


def left(found: Guess) -> str:
    return " ".join(not_read(found))


# Names say what is what, or it is asked.


@pytest.mark.parametrize(
    ("context", "system", "candidate"),
    [
        ("source", "system", "output"),
        ("orig_sent", "sys_name", "simp_sent"),
        ("Dialogue", "Model Name", "Generated Summary"),
        ("articleText", "modelId", "decodedText"),
    ],
)
def test_names_say_what_is_what(look: Any, context: str, system: str, candidate: str) -> None:
    columns = texts(context=context, system=system, candidate=candidate)
    found = look({**columns, "score": cycle(1, 2, 3)})

    assert roles(found) == {
        context: "context",
        system: "system",
        candidate: "candidate",
        "score": "score: score",
    }


@pytest.mark.parametrize(
    ("names", "option"),
    [
        ({"candidate": "lorem"}, "--candidate, one of: source, lorem"),
        ({"context": "lorem"}, "--context, one of: lorem"),
        ({"system": "lorem"}, "--system, one of: lorem, none"),
    ],
)
def test_what_no_name_says_is_asked(look: Any, names: dict[str, str], option: str) -> None:
    with pytest.raises(SourceError) as caught:
        look({**texts(**names), "score": cycle(1, 2, 3)})

    assert f"Say so with {option} (" in str(caught.value)


def test_a_question_has_samples_and_its_answer_is_taken(tmp_path: Path) -> None:
    asked: list[Question] = []

    def ask(question: Question) -> list[str]:
        asked.append(question)
        return ["source"]

    columns = {**texts(candidate="lorem"), "score": cycle(1, 2, 3)}
    with pytest.raises(SourceError, match="--candidate"):
        look_at(tmp_path, columns)
    path = tmp_path / "judged.jsonl"
    found = guess(read_content({path.name: path}), Answers(context=("lorem",)), ask)

    assert found.candidate.name == "source"
    assert asked[0].samples[0].startswith('"Somebody asked the way to the blue room."')


def test_an_answer_that_is_not_a_choice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "judged.jsonl"
    with pytest.raises(SourceError, match="--candidate"):
        look_at(tmp_path, {**texts(candidate="lorem"), "score": cycle(1, 2)})

    with pytest.raises(SourceError, match="--candidate: must be one of: source, lorem"):
        guess(read_content({path.name: path}), None, lambda _: ["score"])


def test_keys_and_splits(look: Any) -> None:
    columns = {**texts(), "score": cycle(1, 2, 3), "id": list(range(12))}
    columns |= {"doc_id": [room for room in range(4) for _ in BIRDS], "split": ["test"] * 12}

    assert "keys: id (12 values); --context-id, --candidate-id or --group reads them" in left(
        look(columns)
    )
    assert roles(look(columns, candidate_id="id")).items() >= {
        ("id", "candidate id"),
        ("doc_id", "context id"),
        ("split", "split"),
    }


def test_several_texts_of_a_system_want_a_key(look: Any) -> None:
    columns = {**texts(), "score": cycle(1, 2, 3), "source": ["The same."] * 12}

    with pytest.raises(SourceError, match=r"a system wrote several texts .* --system none"):
        look(columns)
    assert look(columns, system="none").system is None


# Judgements.


@pytest.mark.parametrize(
    ("columns", "aspects", "rule"),
    [
        ({"fluency": cycle(1, 3, 5)}, ["fluency"], gap(1)),
        ({"score": cycle(0, 50, 100)}, ["score"], gap(10)),
        ({"coverage (1-5)": cycle(1, 3, 5)}, ["coverage"], gap(1)),
        ({"ratings": cycle([5, 4], [1, 2])}, ["ratings"], {"rule": "majority", "top": 5}),
        ({"correct": cycle(0, 1)}, ["correct"], {"rule": "credit", "high": [1], "low": [0]}),
        ({"hallucination": cycle("yes", "no")}, ["hallucination"], no_error("no")),
        ({"faithful": cycle("yes", "no")}, ["faithful"], no_error("yes")),
        ({"error": cycle("omission", "none")}, ["error"], no_error("none")),
        ({"error_type": cycle("omission", None)}, ["error_type"], no_error("No error")),
        ({"errors": cycle([], ["omission"])}, ["errors"], no_error("No error")),
    ],
)
def test_measures_and_rule(
    look: Any, columns: dict[str, list[Any]], aspects: list[str], rule: dict[str, Any]
) -> None:
    found = look({**texts(), **columns})

    assert [measure.aspect for measure in found.measures] == aspects
    assert found.quality.rule == rule


@pytest.mark.parametrize("width", [(4, 1), (10, 1), (2, 1), (1, 0.1), (100, 10), (3000, 300)])
def test_the_smallest_difference_that_counts(width: tuple[float, float]) -> None:
    assert sensible_minimum(width[0]) == width[1]


@pytest.mark.parametrize(
    "name",
    ["inconsistency", "unfaithful", "dissimilarity", "nonsense", "contradiction", "position",
     "time", "place", "toxicity", "no_fluency"],
)  # fmt: skip
def test_scores_with_a_doubtful_direction_are_asked(look: Any, name: str) -> None:
    columns = {**texts(), name: cycle(1, 3, 5)}
    with pytest.raises(SourceError, match=f"with --higher {name} or --lower {name}"):
        look(columns, score=(name,))

    assert look(columns, score=(name,), higher=(name,)).quality.lower == frozenset()
    assert look(columns, score=(name,), lower=(name,)).quality.lower == {name}


def test_a_score_of_a_name_that_says_nothing_is_higher_the_better(look: Any) -> None:
    columns = {**texts(), "lorem": cycle(1, 3, 5)}

    assert look(columns, score=("lorem",)).quality.rule == gap(1)
    with pytest.raises(SourceError, match="Which columns say how good a candidate is"):
        look(columns)


@pytest.mark.parametrize("column", ["inconsistent", "lorem", "not_fluent"])
def test_yes_and_no_of_a_doubtful_name_are_asked(look: Any, column: str) -> None:
    columns = {**texts(), column: cycle("yes", "no")}

    with pytest.raises(SourceError, match="--no-error, one of: no, yes"):
        look(columns, label=(column,))
    assert look(columns, label=(column,), no_error="no").quality.rule == no_error("no")


@pytest.mark.parametrize(
    "names", [("fluency_1", "fluency_2"), ("rater1_fluency", "rater2_fluency")]
)
def test_columns_that_differ_by_a_number_are_asked(look: Any, names: tuple[str, str]) -> None:
    one, two = names
    columns = {**texts(), one: cycle(1, 2, 5), two: cycle(2, 2, 5)}
    with pytest.raises(SourceError, match=f"--rating {one} --rating {two}, or --score"):
        look(columns)

    rated = look(columns, rating=names)
    assert [measure.aspect for measure in rated.measures] == ["fluency"]
    assert rated.quality.rule == {"rule": "majority", "top": 5}
    scored = look(columns, score=names)
    assert [measure.aspect for measure in scored.measures] == list(names)


def test_marks_of_errors_are_named(look: Any) -> None:
    columns = {**texts(), "Omission": cycle("x", None), "Typo": cycle(None, None, "x")}
    with pytest.raises(SourceError, match="--mark columns with marks of errors"):
        look(columns)

    found = look(columns, mark=("Omission", "Typo"))
    assert [measure.aspect for measure in found.measures] == ["errors"]
    assert found.quality.rule == no_error("No error")


def test_several_labels_in_a_cell_are_asked(look: Any) -> None:
    columns = {**texts(), "error": cycle("omission; typo", "typo", "omission", "none")}
    with pytest.raises(SourceError, match="--separator ';' or --separator none"):
        look(columns)

    assert set(look(columns, separator=";").quality.labels) == {"omission", "typo", "none"}
    assert "omission; typo" in look(columns, separator="none").quality.labels


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        ({"score": ("output",)}, "output: holds something other than numbers, e.g. 'The heron"),
        ({"score": ("lorem",)}, '--score: unknown column "lorem"; the columns are '),
        ({"high": (7.0,)}, "--high: 7 must be some of the scores, which are 1, 3, 5, and not all"),
        ({"top": 5.0}, "--top is about ratings of several annotators; there is one score"),
        ({"no_error": "ok"}, "--no-error and --order are about labels, and there are numbers only"),
        ({"label": ("score",), "no_error": "9"}, '--no-error: no candidate is labelled "9"'),
        ({"label": ("score",), "order": ("9",)}, '--order: there is no label "9"; the labels are'),
        ({"label": ("score",), "top": 5.0}, "--minimum, --top and --high are about numbers, and "),
    ],
)
def test_what_does_not_fit_is_refused(look: Any, answers: dict[str, Any], words: str) -> None:
    columns = {**texts(), "score": cycle(1, 3, 5)}
    columns["output"] = [f"{text} " + "Very long. " * 30 for text in columns["output"]]

    with pytest.raises(SourceError) as caught:
        look(columns, **answers)

    assert str(caught.value).startswith(words)


# Other shapes.


def pairs(**columns: list[Any]) -> dict[str, list[Any]]:
    one, other = (
        [f"{bird} {side} {room}." for room in ROOMS for bird in BIRDS] for side in ("in", "near")
    )
    inputs = [f"Who is near {room}, {bird}?" for room in ROOMS for bird in BIRDS]
    return {"input": inputs, "output_a": one, "output_b": other, **columns}


def test_two_texts_in_a_row_are_asked_for_and_compared(look: Any) -> None:
    columns = pairs(winner=cycle("A", "B", "tie"), error_type=cycle("x", "y"))
    with pytest.raises(SourceError, match="--candidate, one of: output_a, output_b"):
        look(columns)
    both = ("output_a", "output_b")
    with pytest.raises(SourceError, match="--better, one of: output_a, output_b, winner, error"):
        look(columns, candidate=both)

    said = ("A=output_a", "B=output_b")
    voted = look(columns, candidate=both, better="winner", verdict=said).pair
    assert voted is not None
    assert voted.values == {"A": "first", "B": "second", "tie": "tie"}
    fixed = look(columns, candidate=both, better="output_b", error="error_type")
    assert [column.name for column in fixed.candidates] == ["output_b", "output_a"]
    assert fixed.error is not None
    assert fixed.error.name == "error_type"


def test_verdicts_that_say_nothing_are_asked(look: Any) -> None:
    columns = pairs(verdict=cycle(0, 1))
    said: dict[str, Any] = {"candidate": ("output_a", "output_b"), "better": "verdict"}
    with pytest.raises(SourceError, match="--verdict 0=COLUMN --verdict 1=COLUMN, where COLUMN is"):
        look(columns, **said)

    pair = look(columns, **said, verdict=("0=output_b", "1=output_a")).pair
    assert pair is not None
    assert pair.values == {"0": "second", "1": "first"}


def test_a_text_per_system_is_split(look: Any) -> None:
    columns = pairs(a_fluency=cycle(1, 5), b_fluency=cycle(4, 2))
    scores = ("a_fluency", "b_fluency")
    found = look(columns, candidate=("output_a", "output_b"), score=scores)

    assert found.wide is not None
    assert found.wide.section() == {
        "systems": ["a", "b"],
        "columns": {"candidate": "output_{system}", "fluency": "{system}_fluency"},
    }
    assert roles(found)["fluency"] == "score: fluency"


def test_a_row_per_aspect(look: Any) -> None:
    twice = {name: [cell for cell in cells for _ in range(2)] for name, cells in texts().items()}
    columns = {**twice, "dimension": ["Fluency", "Faithful?"] * 12, "rating": [1, 5, 3, 2] * 6}
    found = look(columns)

    assert roles(found).items() >= {("dimension", "aspect"), ("rating", "judged")}
    assert [measure.aspect for measure in found.measures] == ["fluency", "faithful"]


def test_tags_are_taken_out_of_texts_that_have_them(look: Any) -> None:
    columns = {**texts(), "category": cycle("typo", "none"), "severity": cycle("minor", "none")}
    columns["output"] = [text.replace("points", "<v>points</v>") for text in columns["output"]]
    found = look(columns, label=("category",), no_error="none")

    assert (found.is_spans, found.tags) == (True, ("<v>", "</v>"))
    assert roles(found)["category"] == "label: category"


def test_rows_of_several_annotators(look: Any) -> None:
    twice = {name: [cell for cell in cells for _ in range(2)] for name, cells in texts().items()}
    columns = {**twice, "score": [1, 2, 5, 4] * 6}

    assert roles(look({**columns, "rater": ["r1", "r2"] * 12}))["rater"] == "annotator"
    with pytest.raises(SourceError, match="says who judged"):
        look(columns)
    found = look({**columns, "who": ["r1", "r2"] * 12}, annotator="who")
    assert found.quality.rule == {"rule": "majority", "top": 5}


# Nothing is unread in silence.


def test_what_is_not_read_is_named_with_the_option_that_reads_it(look: Any) -> None:
    columns = {**texts(), "fluency": cycle(1, 3, 5), "dullness": cycle(5, 3, 1)}
    columns |= {"length": cycle(17, 23), "tone": cycle("warm", "cold")}
    columns |= {"draft": [f"A draft of a long text number {n} by somebody." for n in range(12)]}
    told = left(look(columns))

    assert "on the scale of what was chosen: dullness (12 values); if they are aspects" in told
    assert "numbers: length (12 values); judgements go by --score" in told
    assert "few values: tone (12 values); labels go by --label" in told
    assert "texts: draft (12 values); --context or --candidate reads them" in told


def test_scores_beside_labels_are_named(look: Any) -> None:
    told = left(look({**texts(), "error": cycle("typo", "none"), "score": cycle(1, 5)}))

    assert "numbers: score (12 values); judgements go by --score or --rating" in told


def outputs(*systems: str) -> dict[str, Any]:
    return {
        "question": "What is there in the long hall?",
        **{
            name: {"output": f"{name} says a chair.", "fluency": n}
            for n, name in enumerate(systems)
        },
    }


def test_objects_under_keys_are_asked_for_and_read_as_rows(read: Any) -> None:
    nested = [
        {"question": f"What is in room {n}?", "outputs": outputs("oak", "elm")} for n in range(3)
    ]
    for record in nested:
        del record["outputs"]["question"]
    with pytest.raises(SourceError, match="use --each outputs"):
        read(nested)

    assert roles(read(nested, each=("outputs",))) == {
        "question": "context",
        "outputs.*": "system",
        "outputs.output": "candidate",
        "outputs.fluency": "score: fluency",
    }


def test_train_and_test_are_read_with_each(read: Any) -> None:
    items = [
        {
            "question": f"What is in room {n // 2}?",
            "model": m,
            "output": f"A {m} in {n}.",
            "score": n,
        }
        for n, m in enumerate(("oak", "elm") * 2)
    ]
    files = {"train": items[:2], "test": items[2:]}
    with pytest.raises(SourceError, match=r"use --each \."):
        read(files)

    assert roles(read(files, each=(".",)))["output"] == "candidate"


def test_digit_keys_are_lists(read: Any) -> None:
    asked = {str(n): {"output": f"A chair, {n}.", "model": f"m{n}", "score": n} for n in range(3)}
    found = read([{"question": f"What is in room {n}?", "questions": asked} for n in range(3)])

    assert roles(found)["questions.output"] == "candidate"
    assert found.candidate.rows == 9


@pytest.mark.parametrize("names", [("human_outputs", "model_outputs"), ("turn_1", "turn_2")])
def test_a_list_beside_the_candidates_is_asked_for_and_named(
    read: Any, names: tuple[str, str]
) -> None:
    record = {"question": "What is in the hall?"} | {
        name: [{"output": f"{name} {n}", "model": m, "score": n} for n, m in enumerate(BIRDS)]
        for name in names
    }
    one, other = names
    with pytest.raises(SourceError, match=f"--candidate, one of: {one}.output, {other}.output"):
        read([record, {**record, "question": "Who?"}])

    both = [record, {**record, "question": "Who?"}]
    told = left(read(both, candidate=(f"{one}.output",), candidate_id="none"))
    assert f"fields are those of something that is read: {other}.* (3 fields, 18 values)" in told


def test_ratings_keyed_by_worker(read: Any) -> None:
    rows = [
        {
            "question": f"What is in room {n // 2}?",
            "model": BIRDS[n % 2],
            "output": f"A chair {n}.",
            "judged": {"w1": {"fluency": n}, "w2": {"fluency": 3 - n}},
        }
        for n in range(4)
    ]
    found = read(rows, each=("judged",))
    assert roles(found)["judged.fluency"] == "ratings: fluency"

    told = left(read(rows, score=("judged.w1.fluency",)))
    assert "those of something that is read: judged.w2.fluency (4 values)" in told
    assert "--each judged reads each of them" in told


def test_files_of_one_shape_are_read_together(tmp_path: Path) -> None:
    for name, more in (("a.jsonl", {}), ("b.jsonl", {"extra": 1})):
        rows = [
            {"source": "Where is it?", "model": m, "output": f"{m}, {name}", "score": n, **more}
            for n, m in enumerate(BIRDS)
        ]
        (tmp_path / name).write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    paths = {name: tmp_path / name for name in ("a.jsonl", "b.jsonl")}
    content = read_content(paths)

    assert [len(records) for records in content.records] == [3, 3]
    assert content.notes == ('column "extra" is not read: a.jsonl does not have it',)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("docId_2", ["doc", "id", "2"]),
        ("URLText", ["url", "text"]),
        ("Modell-Größe", ["modell", "größe"]),
    ],
)
def test_words_of_a_name(name: str, words: list[str]) -> None:
    assert words_of(name) == words


@pytest.mark.parametrize(
    ("name", "expected"), [("Model Name", "model_name"), ("流畅", "part"), ("1st", "part_1st")]
)
def test_slugs_are_names_of_inputs(name: str, expected: str) -> None:
    assert slug(name, "part") == expected
