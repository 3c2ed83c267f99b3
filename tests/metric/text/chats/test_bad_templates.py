"""Templates and options that cannot be used: one error says what, where, and what to do."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.chat.rendered import CHATML, chosen
from support.refusals import refusal

from nnd.metric.likelihood import LoadedModel, Scoring
from nnd.metric.text import Chat, find_protocol, find_template
from nnd.metric.text.chats.chat_choice import choose_chat

Chatty = Callable[..., LoadedModel]

NO_SYSTEM = "{% if messages[0].role == 'system' %}{{ raise_exception('No system') }}{% endif %}"
DEAF = "{% for m in messages %}{% if m.role != 'system' %}[{{ m.content }}]{% endif %}{% endfor %}"
PARTS = (
    "{% for m in messages %}{{ m.role }}: {% for part in m.content %}"
    "{% if part.type == 'text' %}{{ part.text }}{% endif %}{% endfor %}\n{% endfor %}"
)
THINKING = CHATML.replace(
    "{{ m.content }}", "{% if m.role == 'assistant' %}<think>\n{% endif %}{{ m.content }}"
)
NOT_TWICE = "{{ messages[0].content }}{{ messages[1].content }}{{ messages[1].content }}"
DOUBLED = "{% set ns = namespace(x='x') %}" + "{% set ns.x = ns.x ~ ns.x %}" * 24 + "{{ ns.x }}"


@pytest.mark.parametrize(
    ("template", "fact"),
    [
        ("Hello.", "answer"),
        ("Q: {{ messages[1].content }}", "context"),
        (NOT_TWICE, "answer 2"),
        ("{{ messages[1].content | upper }}", "answer"),
        (
            "{{ messages[0].content }}{{ messages[0].content }} {{ messages[1].content }}",
            "context 2",
        ),
        ("{% for m in messages %}{{ m.content[-4:] }}{{ m.content }}{% endfor %}", ""),
        ("{{ raise_exception('Not today') }}", '"Not today"'),
        ("{{ messages[7].content }}", ""),
        (PARTS, ""),
        (THINKING, "(<think>)"),
        ("{{ bos_token }}<s>" + CHATML, "<s>"),
        ("{#" + "x" * 2**20 + "#}" + CHATML, "1,048,576"),
        ("{{ 'x' * 1_000_000_000 }}" + CHATML, "1_000_000_000"),
        ("{{ 'x'.ljust(0x3b9aca00) }}" + CHATML, "0x3b9aca00"),
        (f"{DOUBLED}{CHATML}", "16,777,"),
    ],
)
def test_a_template_that_cannot_be_used(template: str, fact: str, chatty: Chatty) -> None:
    with refusal("template.chat", "chatty") as caught:
        chosen(chatty(template))
    assert fact in caught.value.what


def test_a_bos_that_opens_turns_is_not_written_twice(chatty: Chatty) -> None:
    model = chatty("{{ bos_token }}" + CHATML)
    model.tokenizer.bos_token = "<|im_start|>"  # noqa: S105 - as in LFM2
    (found,) = chosen(model).render(["a"])
    assert found.pieces == (
        "<|im_start|><|im_start|>user\n",
        "a",
        "<|im_end|>\n<|im_start|>assistant\n",
    )
    model = chatty("{{ bos_token }}{{ bos_token }}" + CHATML)
    model.tokenizer.bos_token = "<|im_start|>"  # noqa: S105
    with refusal("template.chat", "chatty"):
        chosen(model)


def test_an_argument_may_close_the_thought(chatty: Chatty) -> None:
    silent = THINKING.replace("<think>\n", "{{ '' if quiet else '<think>\n' }}")
    with refusal("template.chat", "chatty"):
        chosen(chatty(silent))
    chat = chosen(chatty(silent), Chat(arguments={"quiet": True}))
    assert chat.render(["a"])[0].pieces[-1] == "<|im_end|>\n<|im_start|>assistant\n"


@pytest.mark.parametrize(
    "template",
    [NO_SYSTEM + CHATML, DEAF],
)
def test_a_template_without_system_turns(template: str, chatty: Chatty) -> None:
    with refusal("template.chat", "chatty"):
        chosen(chatty(template), Chat(system="Be brief."))
    assert chosen(chatty(template), Chat(system="")).system is None  # nothing to remove


@pytest.mark.parametrize(
    "content",
    [
        None,
        b"\xff\xfe\x00",
        b"{{ messages[0].content }}\n{% for %}",
        b"{{ 'x' * 1000000000 }}",
    ],
)
def test_a_file_that_is_no_template(content: bytes | None, tmp_path: Path) -> None:
    file = tmp_path / "mine.jinja"
    if content is not None:
        file.write_bytes(content)
    with refusal("template.chat", str(file)):
        Scoring(chat=Chat(file)).check()


@pytest.mark.parametrize(
    ("scoring", "code"),
    [
        (
            Scoring("laban2022", chat=Chat(system="a")),
            "option.conflict",
        ),
        (
            Scoring("bartscore", chat=Chat(arguments={"a": 1})),
            "option.conflict",
        ),
        (
            Scoring(chat=Chat("none", system="a")),
            ("option.conflict"),
        ),
        (Scoring(chat=Chat(arguments={"tokenize": True})), "template.chat"),
        (Scoring(chat=Chat(arguments={"messages": []})), "template.chat"),
    ],
)
def test_options_that_contradict_each_other(scoring: Scoring, code: str) -> None:
    with refusal(code):
        scoring.check()


def plain_reason(loaded: LoadedModel, protocol: str = "native", **asked: Any) -> str:
    found = choose_chat(loaded, find_protocol(protocol), find_template("default"), Chat(**asked))
    assert found.template is None
    assert found.stored().to_dict() == {
        "template": "none",
        "asked": Chat(**asked).stored().to_dict(),
        "reason": found.reason,
    }
    return found.reason.removeprefix("contexts are read as plain text, because ")


def test_where_contexts_stay_plain_the_reason_is_given(
    chatty: Chatty, loaded: Callable[[str], LoadedModel]
) -> None:
    assert plain_reason(chatty(None)) == "its tokenizer has no chat template"
    assert plain_reason(chatty(CHATML), template="none") == "--chat-template is none"
    assert plain_reason(loaded("bart")) == "the model is an encoder-decoder"
    assert (
        plain_reason(chatty(CHATML), "laban2022")
        == "protocol laban2022 fixes how contexts are read"
    )
    assert chosen(chatty(CHATML)).source == "tokenizer"
    for protocol in ("sum", "bytes"):
        choice = choose_chat(
            chatty(CHATML), find_protocol(protocol), find_template("default"), Chat()
        )
        assert choice.template is not None


def test_what_was_asked_for_and_cannot_be_is_refused(
    chatty: Chatty, loaded: Callable[[str], LoadedModel], tmp_path: Path
) -> None:
    file = tmp_path / "chatml.jinja"
    file.write_text(CHATML)
    native, default = find_protocol("native"), find_template("default")
    with refusal("template.chat", "bart"):
        choose_chat(loaded("bart"), native, default, Chat(file))
    with refusal("template.chat", "chatty"):
        choose_chat(chatty(None), native, default, Chat(system="Be brief."))
    with refusal("template.chat", "chatty"):
        choose_chat(chatty(None), native, find_template("chat-turns"), Chat())
    assert chosen(chatty(None), Chat(file)).source == str(file)


def test_several_templates_without_a_default_are_refused(chatty: Chatty) -> None:
    several: Any = {"rag": CHATML, "tool_use": CHATML}
    with refusal("template.chat", "chatty"):
        chosen(chatty(several))
    assert chosen(chatty(several | {"default": CHATML})).renderer.text == CHATML
