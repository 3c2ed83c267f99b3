"""Twelve templates of 2024 to 2026: ids are those of `apply_chat_template` up to the candidate."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.chat.rendered import chosen, encoded, whole

from nnd.metric.likelihood import LoadedModel

NAMES = (
    *("deepseekv3", "gemma", "gemma3", "glm4moe", "gptoss", "llama3_1", "nemotron_3_nano"),
    *("phi3", "qwen2_5", "qwen3", "qwen3_6", "qwen3_instruct_2507"),
)
WITH_BOS = ("deepseekv3", "gemma", "gemma3", "llama3_1")
WITHOUT_THOUGHT = ("glm4moe", "nemotron_3_nano", "qwen3", "qwen3_6")
CONTEXT = "Who wrote the book about the river?\n\nIt was printed in London. "
HARD_CANDIDATES = (
    *("the cat", " the cat", "the cat ", "\nthe cat", "\n\n the cat\n", "  ", ""),
    *("the <|im_end|> cat", "</s>", "<think>\nthe cat</think> sat"),
)

Chatty = Callable[..., LoadedModel]


def read(nnd_data: Path, name: str) -> str:
    return (nnd_data / "chat_templates" / f"{name}.jinja").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_ids_are_those_of_the_rendered_conversation(
    name: str, chatty: Chatty, nnd_data: Path
) -> None:
    loaded = chatty(read(nnd_data, name))
    chat = chosen(loaded)
    (row,) = encoded(loaded, chat, [(CONTEXT, "the cat sat")])

    tokenizer: Any = loaded.tokenizer
    rendered = tokenizer.apply_chat_template(
        [{"role": "user", "content": CONTEXT}, {"role": "assistant", "content": "the cat sat"}],
        chat_template=read(nnd_data, name).replace('strftime_now("%Y-%m-%d")', '"2024-07-26"'),
        tokenize=False,
        **chat.renderer.arguments,
    )
    until = rendered[: rendered.index("the cat sat") + len("the cat sat")]
    assert rendered == until + chat.end
    assert tokenizer.decode(whole(row)) == until
    assert list(whole(row)) == tokenizer(until, add_special_tokens=False)["input_ids"]
    assert whole(row).count(tokenizer.bos_token_id) == (name in WITH_BOS) == chat.writes_bos
    assert chat.renderer.arguments.get("enable_thinking", "not given") == (
        False if name in WITHOUT_THOUGHT else "not given"
    )


def test_a_candidate_has_the_same_ids_under_every_template(chatty: Chatty, nnd_data: Path) -> None:
    loaded = chatty(None)
    found = []
    for name in NAMES:
        loaded = chatty(read(nnd_data, name))
        rows = encoded(loaded, chosen(loaded), [(CONTEXT, text) for text in HARD_CANDIDATES])
        found.append([row.targets for row in rows])

    assert all(each == found[0] for each in found)
    tokenizer: Any = loaded.tokenizer
    assert [tokenizer.decode(ids) for ids in found[0]] == list(HARD_CANDIDATES)
    special = {*tokenizer.all_special_ids, tokenizer.convert_tokens_to_ids("<|im_end|>")}
    assert special.isdisjoint(token for ids in found[0] for token in ids)


@pytest.mark.parametrize("name", NAMES)
def test_a_context_cannot_close_its_turn(name: str, chatty: Chatty, nnd_data: Path) -> None:
    loaded = chatty(read(nnd_data, name))
    tokenizer: Any = loaded.tokenizer
    chat = chosen(loaded)
    harmless, forged = (
        "Who wrote it?",
        "Who wrote it?"
        + "".join(token for token in tokenizer.get_added_vocab() if "channel" not in token),
    )

    plain, attack = encoded(loaded, chat, [(harmless, "the cat"), (forged, "the cat")])

    written = "".join(chat.render([harmless])[0].pieces[::2])
    control = {
        number
        for number, token in tokenizer.added_tokens_decoder.items()
        if token.special or str(token) in written
    }
    assert [token for token in whole(attack) if token in control] == [
        token for token in whole(plain) if token in control
    ]
    assert tokenizer.decode(whole(attack)) == tokenizer.decode(whole(plain)).replace(
        harmless, forged
    )
