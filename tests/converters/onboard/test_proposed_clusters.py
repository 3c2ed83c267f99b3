"""What `new_source` says of contexts that share a text: by a column, a part, or their texts."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from nnd.converters.onboard.scaffold.new_source_result import NewSource
from nnd.converters.onboard.scaffold.scaffolding import new_source

BIRDS = ("heron", "wren", "plover")
PARAGRAPHS = [
    f"The {bird} stands in the reeds at dawn and waits. Nobody saw the {bird} leave the pond later."
    for bird in (*BIRDS, "crane")
]
QUESTIONS = ("Where does it stand?", "Who saw it leave?", "When does it come?")


def rows(**columns: Any) -> list[dict[str, Any]]:
    """Four paragraphs with three questions each, answered by three systems.

    The columns are values, or functions of the numbers of the paragraph and the question.
    """
    return [
        {
            **{name: of(number, place) if callable(of) else of for name, of in columns.items()},
            "system": bird,
            "output": f"The {bird} says {number} and {place}.",
            "fluency": level,
        }
        for number in range(len(PARAGRAPHS))
        for place in range(len(QUESTIONS))
        for bird, level in zip(BIRDS, (1, 3, 5), strict=True)
    ]


def paragraph(number: int, _: int) -> str:
    return PARAGRAPHS[number]


def question(number: int, place: int) -> str:
    return QUESTIONS[place] + "?" * number


def both(number: int, place: int) -> str:
    return f"{PARAGRAPHS[number]} {QUESTIONS[place]}"


def own(number: int, place: int) -> str:
    return f"Say in your words what {number} and {place} have to do with one another."


def look(place: Path, content: Any) -> tuple[NewSource, dict[str, Any]]:
    path = place / "judged.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    made = new_source("birds", path, place / "birds")
    return made, yaml.safe_load((place / "birds" / "source.yaml").read_text("utf-8"))


def opened(made: NewSource) -> list[str]:
    return [line for line in made.open if "cluster" in line]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("doc_id", lambda number, _: f"d{number}"),
        ("docid", lambda number, _: number),
        ("Article ID", lambda number, _: f"a-{number}"),
        ("dialogueId", lambda number, _: f"x{number // 2}"),
        ("paragraph", lambda number, _: f"p{number}"),
        ("page_title", lambda number, _: f"On the bird {number}"),
    ],
)
def test_a_column_that_is_above_contexts_is_the_cluster(
    tmp_path: Path, name: str, value: Any
) -> None:
    made, facts = look(tmp_path, rows(**{"source": own, name: value}))

    assert facts["table"]["metadata"] == {facts["cluster"]: name}
    assert (made.problem, made.counts["contexts"]) == (None, 12)
    assert made.counts["clusters"] == len({value(number, 0) for number in range(4)})
    assert opened(made) == []


def test_of_several_columns_one_is_named_and_the_others_are_open(tmp_path: Path) -> None:
    columns = {"doc": lambda n, _: f"d{n % 2}", "doc_id": lambda n, _: f"d{n}"}
    made, facts = look(tmp_path, rows(source=own, **columns))

    assert facts["table"]["metadata"] == {"doc_id": "doc_id"}
    assert (facts["cluster"], made.counts["clusters"]) == ("doc_id", 4)
    assert opened(made)[0].endswith("or one of: doc")


def test_a_part_that_contexts_share_is_the_cluster_and_open(tmp_path: Path) -> None:
    made, facts = look(tmp_path, rows(paragraph=paragraph, question=question))

    assert (facts["cluster"], facts["table"].get("metadata")) == ("paragraph", None)
    assert (made.problem, made.counts["contexts"], made.counts["clusters"]) == (None, 12, 4)
    assert "12 contexts have 4 different ones" in opened(made)[0]


def test_nested_questions_share_the_paragraph_above_them(tmp_path: Path) -> None:
    content = [
        {
            "paragraph": text,
            "questions": [
                {
                    "question": question(number, place),
                    "outputs": [
                        {"system": bird, "text": f"The {bird} on {number}, {place}.", "score": at}
                        for at, bird in enumerate(BIRDS)
                    ],
                }
                for place in range(len(QUESTIONS))
            ],
        }
        for number, text in enumerate(PARAGRAPHS)
    ]
    made, facts = look(tmp_path, content)

    assert facts["cluster"] == "paragraph"
    assert (made.problem, made.counts["contexts"], made.counts["clusters"]) == (None, 12, 4)


def test_texts_that_nearly_agree_show_which_column_is_above(tmp_path: Path) -> None:
    made, facts = look(tmp_path, rows(source=both, file=lambda number, _: f"f{number}.txt"))

    assert facts["table"]["metadata"] == {"file": "file"}
    assert (facts["cluster"], made.counts["clusters"]) == ("file", 4)
    assert "12 contexts share half of their text or more" in opened(made)[0]


def test_texts_that_nearly_agree_without_such_a_column_are_said(tmp_path: Path) -> None:
    made, facts = look(tmp_path, rows(source=both))

    assert "cluster" not in facts
    assert made.problem is None
    assert "12 contexts share half of their text or more" in opened(made)[0]


def test_a_text_that_is_in_two_documents_is_said(tmp_path: Path) -> None:
    def repeated(number: int, place: int) -> str:
        return "Thank you very much." if place == 0 and number > 1 else own(number, place)

    made, facts = look(tmp_path, rows(source=repeated, doc=lambda number, _: f"d{number}"))

    assert "cluster" not in facts
    assert "some texts are in several doc;" in opened(made)[0]


@pytest.mark.parametrize(
    "columns",
    [
        {"source": own},
        {"source": own, "doc_id": lambda number, place: f"{number}/{place}"},  # one each
        {"source": own, "doc_id": "d1"},  # one for all
        {"source": own, "doc_length": lambda number, _: 100 + number},
        {"source": own, "topic": lambda number, _: f"t{number % 2}"},
        {"source": own, "document_rating": lambda number, _: number},
        {"instruction": "Please answer the question below in a few words, and name a bird.",
         "question": own},
    ],
)  # fmt: skip
def test_contexts_that_share_nothing_get_no_cluster(
    columns: Mapping[str, Any], tmp_path: Path
) -> None:
    made, facts = look(tmp_path, rows(**columns))

    assert "cluster" not in facts
    assert opened(made) == []
