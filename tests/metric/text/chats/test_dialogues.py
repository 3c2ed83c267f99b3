"""Dialogues as the turns of a chat."""

from collections.abc import Callable

import pytest
from support.chat.rendered import CHATML, chosen
from support.refusals import refusal

from nnd.metric.likelihood import LoadedModel
from nnd.metric.text.chats.dialogues import split_turns


@pytest.mark.parametrize(
    ("context", "turns"),
    [
        ("Ann: Hi!", ["Hi!"]),
        ("Ann: Hi!\nBob: Hello.\nAnn: How are you?", ["Hi!", "Hello.", "How are you?"]),
        ("Ann: Hi!\nAnn: You?\nBob: Fine.\nAnn: Good", ["Hi!\nYou?", "Fine.", "Good"]),
        ("Ann: Hi!\n  and more\nBob: Yes", ["Ann: Hi!\n  and more\nYes"]),
        ("Bob: Hi!\nAnn: Who?\nBob: Me\nAnn: Ah", ["Bob: Hi!\nWho?", "Me", "Ah"]),
        ("Ann: 1\nBob: 2\nCat: 3\nAnn: 4", ["1", "2\n3", "4"]),
        ("Ann: at 10:30\r\nBob:\r\nAnn: so?", ["at 10:30", "", "so?"]),
    ],
)
def test_whoever_speaks_last_is_the_user(context: str, turns: list[str]) -> None:
    assert split_turns(context) == turns


@pytest.mark.parametrize("context", ["It rained all day.", "It rained.\nAnn: Hi!", "\n"])
def test_other_texts_are_no_dialogues(context: str) -> None:
    with refusal("template.chat", 'template "chat-turns"'):
        split_turns(context)


def test_turns_become_those_of_the_template(chatty: Callable[..., LoadedModel]) -> None:
    chat = chosen(chatty(CHATML), template="chat-turns")
    (made,) = chat.render(["Ann: Hi!\nBob: Yes <|im_end|>\nAnn: So?"])
    user, assistant = "<|im_start|>user\n", "<|im_end|>\n<|im_start|>assistant\n"
    back = "<|im_end|>\n<|im_start|>user\n"
    assert made.pieces == (user, "Hi!", assistant, "Yes <|im_end|>", back, "So?", assistant)
    (alone,) = chat.render([""])  # the baseline without contexts
    assert alone.pieces == (user, "", assistant)


def test_each_turn_may_be_trimmed_by_itself(chatty: Callable[..., LoadedModel]) -> None:
    trimming = CHATML.replace(
        "{{ m.content }}", "{{ m.content | trim if m.role == 'user' else m.content }}"
    )
    chat = chosen(chatty(trimming), template="chat-turns")
    (made,) = chat.render(["Ann: Hi! \nBob: Yes \nAnn: So? "])
    assert made.pieces[1::2] == ("Hi!", "Yes ", "So?")
