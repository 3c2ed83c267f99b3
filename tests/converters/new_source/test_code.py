"""The convert.py that `new_source` writes where a table alone does not do."""

import csv
import io
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from support.places import ROOT

from nnd.converters.folder.conversion import Conversion, convert
from nnd.converters.new_source.guess.questions import Answers
from nnd.converters.new_source.scaffold.scaffolding import NewSource, new_source
from nnd.schemas import SourceError

SYSTEMS = ("pine", "oak", "elm")
Make = Callable[..., NewSource]


@pytest.fixture
def table(tmp_path: Path) -> Make:
    """`table(header, rows, no_error="ok")`: a source made from a csv file."""

    def make(header: str, rows: Sequence[Sequence[Any]], **answers: Any) -> NewSource:
        text = io.StringIO(newline="")
        csv.writer(text).writerows([header.split(","), *rows])
        return made_from(tmp_path / "a.csv", text.getvalue(), answers)

    return make


@pytest.fixture
def nested(tmp_path: Path) -> Make:
    """`nested(judgement)`: a source made from JSON whose outputs have what `judgement` says.

    It is called with the numbers of context and output, and gives fields of the output.
    """

    def make(judgement: Callable[[int, int], Mapping[str, Any]], **answers: Any) -> NewSource:
        objects = [
            {
                "id": number,
                "prompt": f"Tell me something about room {number}, please.",
                "outputs": [
                    {"model": system, "text": f"Room {number} is warm, says {system}."}
                    | dict(judgement(number, place))
                    for place, system in enumerate(SYSTEMS)
                ],
            }
            for number in range(4)
        ]
        lines = "".join(json.dumps(item) + "\n" for item in objects)
        return made_from(tmp_path / "a.jsonl", lines, answers)

    return make


def made_from(path: Path, text: str, answers: Mapping[str, Any]) -> NewSource:
    path.write_text(text, encoding="utf-8", newline="")
    return new_source("toy", path, path.parent / "toy", answers=Answers(**answers))


def converted(made: NewSource, *, fixture: bool = False) -> Conversion:
    origin = made.folder / "fixture" if fixture else made.folder.parent / f"a{suffix(made)}"
    return convert(made.folder, origin=origin)


def suffix(made: NewSource) -> str:
    return Path(made.guess.content.file).suffix


def by_category(made: NewSource, *, fixture: bool = False) -> dict[str, int]:
    return dict(converted(made, fixture=fixture).manifest["counts"]["by_error_category"])


def code(made: NewSource) -> str:
    return (made.folder / "convert.py").read_text("utf-8")


def rows(judgements: Mapping[tuple[int, str], Sequence[Any]]) -> list[list[Any]]:
    """A row per judgement: question, answer, model and what was judged."""
    return [
        [f"What is in room {number}, please?", f"A chair {number}, says {system}.", system, judged]
        for (number, system), each in judgements.items()
        for judged in each
    ]


# Tables whose rows must be brought together.


def test_ratings_of_several_annotators_in_rows_of_their_own(table: Make) -> None:
    found = {(0, "pine"): (90, 70, 80), (0, "oak"): (60, 62), (0, "elm"): (70, 74)}
    found |= {(1, "pine"): (0,), (1, "oak"): (5, 7), (1, "elm"): (100, 90)}

    made = table("question,answer,model,score", rows(found))
    annotations = converted(made).annotations

    # Means 80, 61, 72 and 0, 6, 95; 10 is the tenth of a scale from 0 to 100. Room 0: 80 and 72
    # beat 61; room 1: 95 beats both.
    assert by_category(made) == {"score": 4}
    assert sorted(annotations["score"]) == [0, 6, 61, 72, 80, 95]
    assert [70, 80, 90] in annotations["ratings"].to_list()


def test_labels_of_several_annotators_in_rows_of_their_own_are_put_to_the_vote(
    table: Make,
) -> None:
    found = {
        (0, "pine"): ("good", "good", "rude"),
        (0, "oak"): ("rude", "good", "rude"),
        (0, "elm"): ("good", "rude"),
    }
    lines = rows(found)
    lines = [[*row, f"judge {number % 3}"] for number, row in enumerate(lines)]

    made = table("question,answer,model,label,annotator", lines)

    # pine is good and oak is rude by two of three; one of two is no majority.
    assert by_category(made) == {"rude": 1}
    assert dict(converted(made).annotations.select("system", "label").rows()) == {
        "pine": "good",
        "oak": "rude",
        "elm": None,
    }


def test_marks_of_one_candidate_in_rows_of_their_own_are_all_kept(table: Make) -> None:
    found = {(0, "pine"): ("none",), (0, "oak"): ("rude", "late"), (0, "elm"): ("late", "late")}

    made = table("question,answer,model,error", rows(found))

    assert by_category(made) == {"late": 2, "rude": 1}


def test_labels_in_columns_of_several_annotators_are_put_to_the_vote(table: Make) -> None:
    lines = [
        [f"What is in room {n}, please?", f"A chair {n}, says {system}.", system, *labels]
        for n in range(2)
        for system, labels in zip(
            SYSTEMS,
            [("good", "good", "bad"), ("bad", "", "bad"), ("bad", "good", "")],
            strict=True,
        )
    ]

    made = table("question,answer,model,label_1,label_2,label_3", lines)

    # pine is good, oak is bad, of elm nothing is known: a pair per room.
    assert by_category(made) == {"bad": 2}
    assert set(converted(made).annotations["aspect"]) == {"label"}


def test_several_labels_in_a_cell_and_none_where_nothing_is_wrong(table: Make) -> None:
    found = {(0, "pine"): ("",), (0, "oak"): ("late; rude",), (0, "elm"): ("rude",)}
    found |= {(1, "pine"): ("late",), (1, "oak"): ("",), (1, "elm"): ("",)}

    made = table("question,answer,model,errors", rows(found))

    # Room 0: pine beats late, rude and rude; room 1: oak and elm beat late.
    assert by_category(made) == {"late": 3, "rude": 2}


def test_several_texts_of_a_system_for_one_context_get_keys(table: Make) -> None:
    lines = [
        [f"What is in room {n}, please?", f"A chair {n}, says {system} {k}.", system, (n + k) % 2]
        for n in range(2)
        for system in SYSTEMS[:2]
        for k in range(2)
    ]

    made = table("question,answer,model,correct", lines)

    # Four texts for each room, two of them correct.
    assert by_category(made) == {"correct": 8}
    assert converted(made).annotations["candidate_id"].n_unique() == 8


def test_the_order_of_the_rows_does_not_matter(table: Make, tmp_path: Path) -> None:
    found = {(n, system): (n, 9 - n, 5) for n in range(3) for system in SYSTEMS}
    lines = [[*row[:3], row[3] + len(row[2])] for row in rows(found)]
    made = table("question,answer,model,score", lines)
    straight = converted(made)

    header, *body = (tmp_path / "a.csv").read_text("utf-8").splitlines(keepends=True)
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "a.csv").write_text(header + "".join(reversed(body)), encoding="utf-8")
    turned = convert(made.folder, origin=tmp_path / "b", accept_changed="rows turned round")

    assert turned.annotations.equals(straight.annotations)
    assert turned.pairs.equals(straight.pairs)


# Nested JSON.


@pytest.mark.parametrize(
    ("judgement", "expected"),
    [
        # Each of four contexts has a candidate without an error, one with a and one with a and b.
        (lambda n, k: {"errors": [[], ["a"], ["a", "b"]][(n + k) % 3]}, {"a": 8, "b": 4}),
        (lambda n, k: {"error": ["none", "a", "b"][(n + k) % 3]}, {"a": 4, "b": 4}),
        (
            lambda n, k: {"errors": [{"kind": tag} for tag in ["", "a", "ab"][(n + k) % 3]]},
            {"a": 8, "b": 4},
        ),
        (
            lambda n, k: {"errors": {"a": (n + k) % 3 > 0, "b": (n + k) % 3 > 1}},
            {"a": 8, "b": 4},
        ),
        # The same error twice is one.
        (lambda n, k: {"errors": [[], ["a", "a"], ["b"]][(n + k) % 3]}, {"a": 4, "b": 4}),
        # True where nothing is wrong.
        (lambda n, k: {"correct": (n + k) % 3 == 0}, {"false": 8}),
        # Scores 1 to 3: three pairs for each of four contexts.
        (lambda _, k: {"ratings": {"tone": k + 1, "truth": 3 - k}}, {"tone": 12, "truth": 12}),
        (lambda _, k: {"score": str(k + 1)}, {"score": 12}),
        # Ratings of three: all 5 for the first, so it beats two others.
        (lambda _, k: {"tone": [5 - k] * 3}, {"tone": 8}),
        (
            lambda _, k: {"judgements": [{"judge": j, "tone": 5 - k} for j in "xyz"]},
            {"tone": 8},
        ),
        (lambda _, k: {"tone_1": 5 - k, "tone_2": 5 - k}, {"tone": 8}),
        # Wide ratings are averaged: 100, 50 and 0, all 10 apart.
        (lambda _, k: {"score": [100 - 50 * k] * 2}, {"score": 12}),
        # Labels of three annotators, two of which agree.
        (
            lambda _, k: {
                "annotations": [
                    {"annotator": j, "label": ["good", "bad"][k > 0 or j == "x"]} for j in "xyz"
                ]
            },
            {"bad": 8},
        ),
    ],
)
def test_what_an_output_may_say_of_itself(
    nested: Make, judgement: Callable[[int, int], Mapping[str, Any]], expected: dict[str, int]
) -> None:
    made = nested(judgement)

    assert by_category(made) == expected
    assert by_category(made, fixture=True).keys() == expected.keys()
    assert len(code(made).splitlines()) < 40


def test_what_is_null_was_not_judged_where_others_have_an_empty_list(nested: Make) -> None:
    made = nested(lambda _, k: {"errors": [[], None, ["a"]][k]})

    assert by_category(made) == {"a": 4}
    dropped = {each["reason"]: each["n"] for each in converted(made).manifest["dropped"]}
    assert dropped == {"unlabelled": 4}


def test_what_is_not_there_has_no_error_where_none_is_an_empty_list(nested: Make) -> None:
    judgement = lambda _, k: {"errors": ["a"]} if k else {}  # noqa: E731
    with pytest.raises(SourceError, match="Which label says that nothing is wrong"):
        nested(judgement)

    assert by_category(nested(judgement, no_error="fine")) == {"a": 8}


def test_scores_that_are_null_or_not_there_are_no_scores(nested: Make) -> None:
    made = nested(lambda n, k: {"marks": {"tone": 3 - k} | ({} if n else {"truth": 1 + k})})

    assert by_category(made) == {"tone": 12, "truth": 3}


def test_a_text_that_is_null_is_an_empty_candidate(nested: Make) -> None:
    made = nested(lambda n, k: {"score": 3 - k} | ({} if n or k < 2 else {"text": None}))

    assert "empty_candidates: keep" in (made.folder / "source.yaml").read_text("utf-8")
    assert converted(made).manifest["counts"]["empty_candidates"] == 1


def test_a_context_without_a_key_gets_one_from_its_text(nested: Make, tmp_path: Path) -> None:
    nested(lambda _, k: {"score": k})
    lines = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text("utf-8").splitlines()]
    for line in lines:
        del line["id"]
    path = tmp_path / "b.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")

    made = new_source("toy2", path, tmp_path / "toy2")

    ids = convert(made.folder, origin=path).annotations["context_id"].unique()
    assert len(ids) == 4
    assert all(re.fullmatch("[0-9a-f]{16}", name) for name in ids)


@pytest.mark.parametrize(
    "key",
    [
        'say "hi"',
        "new\nline",
        "tab\t",
        "back\\slash",
        "nul\0",
        "sep\u2028",
        "{braces}",
        "流畅",
        "a.b",
        "'",
    ],
)
def test_names_of_fields_cannot_break_out_of_the_code(tmp_path: Path, key: str) -> None:
    objects = [
        {
            f"prompt {key}": f"Tell me something about room {number}, please.",
            f"outputs {key}": [
                {
                    f"model {key}": system,
                    f"text {key}": f"Room {number} is warm, says {system}.",
                    f"errors {key}": [key] if place else [],
                }
                for place, system in enumerate(SYSTEMS)
            ],
        }
        for number in range(4)
    ]
    path = tmp_path / "a.json"
    path.write_text(json.dumps(objects), encoding="utf-8")

    made = new_source("toy", path, tmp_path / "toy")

    assert by_category(made) == {key: 8}
    assert by_category(made, fixture=True) == {key: 6}


@pytest.mark.parametrize("name", ["class", "system", "record", "files", "1st", "流畅"])
def test_lists_may_be_called_like_words_of_python(tmp_path: Path, name: str) -> None:
    objects = [
        {
            "prompt": f"Tell me something about room {number}, please.",
            f"{name}s": [
                {"model": system, "text": f"Room {number}, says {system}.", "score": place}
                for place, system in enumerate(SYSTEMS)
            ],
        }
        for number in range(4)
    ]
    path = tmp_path / "a.json"
    path.write_text(json.dumps(objects), encoding="utf-8")

    assert by_category(new_source("toy", path, tmp_path / "toy")) == {"score": 12}


HOUSE = ROOT / "pyproject.toml"
A_ROW_EACH = {(n, s): (n + k, 5) for n in range(3) for k, s in enumerate(SYSTEMS)}
TAGS = {(n, s): (["", "late;rude", "rude"][k],) for n in range(3) for k, s in enumerate(SYSTEMS)}


@pytest.mark.parametrize("kind", ["lists", "ratings", "rows", "tags"])
def test_the_code_is_as_the_house_formats_and_lints_it(
    nested: Make, table: Make, tmp_path: Path, kind: str
) -> None:
    match kind:
        case "lists":
            nested(lambda _, k: {"errors": [{"kind": "a"}] if k else []})
        case "ratings":
            nested(lambda _, k: {"judges": [{"tone": 5 - k, "truth": k} for _ in "xyz"]})
        case "rows":
            table("question,answer,model,score", rows(A_ROW_EACH))
        case _:
            table("question,answer,model,errors", rows(TAGS))
    place = tmp_path / "converters" / "sources" / "toy"
    place.mkdir(parents=True)
    shutil.copy(tmp_path / "toy" / "convert.py", place)

    for job in (["format", "--check"], ["check", "--ignore", "INP001"]):
        command = [sys.executable, "-m", "ruff", *job, "--config", HOUSE, place / "convert.py"]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stdout
