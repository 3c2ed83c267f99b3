"""What a model is asked, on the card and in its metadata."""

from pathlib import Path
from typing import Any

import pytest
from support.card_folders import change_manifest, make_folder, row, section
from support.refusals import refusal
from support.stored_folders import read_manifest

from nnd.cards.asked import ASKED
from nnd.cards.content import read_content
from nnd.cards.dataset import data_card
from nnd.cards.front_matter import configs
from nnd.cards.lint.card_linter import check_card

WORDED = {
    "instruction": "Answer as a bird.\n\nQuestion: {question}",
    "instruction_from": "Invented by `otters`.",
    "instruction_variants": ["{question}\n\nSing the answer.", "What would a bird say?\n{context}"],
}
KEYED = {
    "instruction": {"song": "Sing.\n\n{question}", "cry": "Cry.\n\n{question}"},
    "instruction_from": "Invented.",
}
SHOWN = r"""
A chat model is asked in these words; names in braces stand for parts of the context. Invented by \
`otters`. `manifest.json` has 2 paraphrases as well.

| contexts | words |
| --- | --- |
| all | Answer as a bird. Question: \{question\} |

For example (a long request is cut):

> Answer as a bird.
>
> Question: Who sings?
""".replace("\\\n", "").strip()
NOTHING = "The source does not say what people asked the systems. Models read the context alone."
REQUESTED = "The contexts are the requests themselves. They are questions."


def rows(question: str = "Who sings?", **fields: Any) -> list[dict[str, Any]]:
    common = {"inputs": {"question": question}, "context": question, **fields}
    return [row("a", "heron", "good", **common), row("b", "wren", "wrong", **common)]


def asked(place: Path, *given: Any, **facts: Any) -> str:
    folder = make_folder(place, *given, **facts)
    card = data_card(folder, "org/birds")
    assert list(check_card(card, folder)) == []
    return section(card, ASKED).strip()


def test_the_words_their_origin_and_a_request(tmp_path: Path) -> None:
    assert asked(tmp_path, rows(), **WORDED) == SHOWN


def test_words_for_contexts_that_the_data_lacks_are_not_shown(tmp_path: Path) -> None:
    shown = asked(tmp_path, rows(category="cry"), **KEYED)

    assert "`cry`" in shown
    assert "song" not in shown
    assert shown.endswith("> Cry.\n>\n> Who sings?")


def test_a_long_request_shows_both_ends(tmp_path: Path) -> None:
    *_, quoted = asked(tmp_path, rows("a " * 600 + "end?"), **WORDED).split("\n\n")

    assert quoted.startswith("> Answer as a bird.\n>\n> Question: a a ")
    assert " a …\n>\n> … a " in quoted
    assert quoted.endswith(" a end?")
    assert len(quoted) < 1000


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ({}, NOTHING),
        ({"instruction": "none", "instruction_from": "They are questions."}, REQUESTED),
    ],
)
def test_without_words_the_card_says_why(facts: dict[str, str], said: str, tmp_path: Path) -> None:
    assert asked(tmp_path, **facts) == said
    (pairs, *_) = configs(read_content(tmp_path / "birds-nnd"))
    assert "description" not in pairs


def test_the_default_configuration_describes_it(tmp_path: Path) -> None:
    one = make_folder(tmp_path / "one", rows(), **WORDED)
    two = [*rows(category="cry"), *rows(category="song", context_id="c2")]
    two = [each | {"candidate_id": str(number)} for number, each in enumerate(two)]
    several = make_folder(tmp_path / "several", two, **KEYED)

    assert configs(read_content(one))[0]["description"] == WORDED["instruction"]
    assert configs(read_content(several))[0]["description"] == (
        "cry:\nCry.\n\n{question}\n\nsong:\nSing.\n\n{question}"
    )


@pytest.mark.parametrize(
    ("old", "new", "place", "message"),
    [
        ("> Question: Who sings?", "> Question: Who flies?", ASKED, "the request does not follow"),
        ("asked in these words", "asked otherwise", ASKED, "a sentence that follows from the data"),
        ("| all | Answer as a bird.", "| all | Answer.", ASKED, "the row"),
        ("description: 'Answer", "description: 'Reply", "metadata/configs", "the description of"),
    ],
)
def test_a_card_that_says_otherwise_has_a_problem(
    old: str, new: str, place: str, message: str, tmp_path: Path
) -> None:
    folder = make_folder(tmp_path, rows(), **WORDED)
    card = data_card(folder, "org/birds")
    assert old in card

    (problem,) = check_card(card.replace(old, new), folder)

    assert problem.path == place
    assert problem.message.startswith(message)


def test_an_instruction_that_cannot_be_read_is_one_error(tmp_path: Path) -> None:
    folder = make_folder(tmp_path, rows(), **WORDED)
    source = read_manifest(folder)["source"] | {"instruction": "{question"}
    change_manifest(folder, source=source)

    with refusal("template.placeholder", 'manifest.json: template "{question"'):
        data_card(folder, "org/birds")
