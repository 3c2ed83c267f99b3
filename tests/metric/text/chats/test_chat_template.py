"""What a chat template is given and what it writes: system text, date, thought, blanks, caveats."""

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.chat.rendered import CHATML, chosen, encoded, whole
from support.refusals import refusal
from support.tiny_models import Family

from nnd.metric.likelihood import LoadedModel, wrap_model
from nnd.metric.text import Chat, find_protocol, find_template
from nnd.metric.text.chats.chat_choice import choose_chat

Chatty = Callable[..., LoadedModel]

POLITE = "{% if messages[0].role != 'system' %}<|im_start|>system\nBe kind.<|im_end|>\n{% endif %}"
WHEN = "{{ strftime_now('%Y-%m-%d') }} {{ strftime_now('%d %b %Y') }} {{ date_string }}\n"
LLAMA_2 = (
    "{% for m in messages %}{% if m.role == 'user' %}[INST] {{ m.content.strip() }} [/INST]"
    "{% else %} {{ m.content.strip() }} {{ eos_token }}{% endif %}{% endfor %}"
)
THOUGHTFUL = CHATML.replace("assistant\n{% endif %}", "assistant\n<think>\n{% endif %}")


def text_of(loaded: LoadedModel, asked: Chat | None = None, context: str = "Hi") -> str:
    return "".join(chosen(loaded, asked).render([context])[0].pieces)


def test_the_system_text_is_the_templates_own_or_given_or_removed(chatty: Chatty) -> None:
    polite = chatty(POLITE + CHATML)
    rest = "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"
    for asked, system in [(None, "Be kind."), ("Be brief.", "Be brief."), ("", "")]:
        found = Chat(system=asked)
        assert chosen(polite, found).system == system
        assert text_of(polite, found) == f"<|im_start|>system\n{system}<|im_end|>\n{rest}"
    assert chosen(chatty(CHATML)).system is None
    assert text_of(chatty(CHATML)) == rest


def test_the_date_is_fixed_and_recorded(chatty: Chatty) -> None:
    loaded = chatty(WHEN + CHATML)
    assert text_of(loaded).startswith("2024-07-26 26 Jul 2024 26 Jul 2024\n<|im_start|>")
    assert chosen(loaded).date == "26 Jul 2024"
    given = Chat(arguments={"date_string": "1 Jan 2020"})
    assert text_of(loaded, given).startswith("2024-07-26 26 Jul 2024 1 Jan 2020\n")
    assert chosen(loaded, given).date == "1 Jan 2020"
    assert chosen(chatty(CHATML)).date is None


def test_the_digest_covers_template_arguments_and_system_text(chatty: Chatty) -> None:
    loaded = chatty(CHATML)
    options = [Chat(), Chat(system="a"), Chat(system="b"), Chat(arguments={"a": 1})]
    digests = [chosen(loaded, asked).digest for asked in options]
    digests += [chosen(chatty(CHATML + " ")).digest]
    assert len({*digests}) == len(digests)
    assert chosen(loaded).digest == digests[0]


def test_blanks_before_the_answer_belong_to_it(chatty: Chatty) -> None:
    loaded = chatty(LLAMA_2)
    chat = chosen(loaded)
    assert chat.separator == " "
    (row,) = encoded(loaded, chat, [("Hi", "the cat")])
    tokenizer: Any = loaded.tokenizer
    assert tokenizer.decode(row.targets) == " the cat"
    assert list(whole(row)) == tokenizer("[INST] Hi [/INST] the cat")["input_ids"]


def test_a_model_that_thinks_by_itself_is_scored_without_and_that_is_said(chatty: Chatty) -> None:
    chat = chosen(chatty(THOUGHTFUL))
    assert "<think>" not in "".join(chat.render(["Hi"])[0].pieces)
    assert [caveat for caveat in chat.caveats if "thinks before it answers (<think>)" in caveat]
    assert chosen(chatty(CHATML)).caveats == ()


@pytest.mark.parametrize(
    ("name", "card", "where"),
    [
        ("org/Qwen3-8B-Base", "", "name"),
        ("org/gemma-3-4b-pt", "", "name"),
        ("org/Qwen2.5-7B", "This repo contains the base 7B Qwen2.5 model.", "card"),
        ("org/Qwen2.5-7B", "It is the instruction-tuned version of the base model.", None),
        ("org/Llama-Base-Chat", "", None),
        ("org/database-7b", "", None),
    ],
)
def test_a_base_model_gets_a_caveat(
    *,
    name: str,
    card: str,
    where: str | None,
    chatty: Chatty,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loaded = chatty(CHATML, name=name)
    monkeypatch.setattr(loaded.model, "name_or_path", str(tmp_path))
    (tmp_path / "README.md").write_text(card)
    found = choose_chat(loaded, find_protocol("native"), find_template("default"), Chat())
    said = [caveat for caveat in found.caveats if "base model" in caveat]
    assert [caveat.split()[1] for caveat in said] == ([] if where is None else [where])
    assert all("--chat-template none" in caveat for caveat in said)


def test_a_template_without_the_tokenizers_first_token_gets_a_caveat(
    tiny: Callable[[str], Family],
) -> None:
    llama = tiny("llama")
    tokenizer = copy.deepcopy(llama.tokenizer)
    tokenizer.chat_template = CHATML
    chat = chosen(wrap_model(llama.model, tokenizer))
    assert any("puts a special token before a text" in caveat for caveat in chat.caveats)
    assert not chat.writes_bos


def test_a_context_that_the_template_writes_in_another_way_is_refused(chatty: Chatty) -> None:
    odd = "{% if 'quiet' in messages[0].content %}- {% endif %}" + CHATML
    with refusal("template.chat", "chatty"):
        chosen(chatty(odd)).render(["be quiet"])


def test_a_template_may_change_what_a_user_says(chatty: Chatty) -> None:
    shouting = CHATML.replace("{{ m.content }}", "{{ m.content | replace('cat', 'CAT') }}")
    (chat,) = chosen(chatty(shouting)).render(["a cat"])
    assert chat.pieces[1] == "a CAT"
