"""Chats in token ids: cut in their contents, and right for tokenizers with a blank before texts."""

from collections.abc import Callable
from typing import Any

import pytest
from support.refusals import refusal
from support.tiny_models import Family

from nnd.metric.likelihood import wrap_model
from nnd.metric.text import ChatContext, find_protocol
from nnd.metric.text.encoding.assembly import encode
from nnd.metric.text.encoding.chat_ids import chat_ids, cut_chat
from nnd.schemas import CandidateError

HEAD, MIDDLE, TAIL = "User: ", "\nYou: ", "\nUser:"
CHAT = ChatContext((HEAD, "the cat sat on the mat", MIDDLE, "the dog ran", TAIL))


@pytest.fixture
def tokenizer(tiny: Callable[[str], Family]) -> Any:
    return tiny("gpt2").tokenizer


def ids(tokenizer: Any, *texts: str) -> tuple[int, ...]:
    return tuple(token for text in texts for token in tokenizer(text)["input_ids"])


@pytest.mark.parametrize(
    ("keep", "contents"),
    [("end", ("on the mat", "the dog ran")), ("beginning", ("the cat sat on the mat", "the"))],
)
def test_contents_are_cut_and_what_the_template_writes_is_not(
    keep: Any, contents: tuple[str, str], tokenizer: Any
) -> None:
    first, second = contents
    wanted = ids(tokenizer, HEAD, first, MIDDLE, second, TAIL)
    if keep == "end":  # a blank belongs to the word behind it
        wanted = ids(tokenizer, HEAD, " on the mat", MIDDLE, second, TAIL)
    found = cut_chat(tokenizer, CHAT, len(wanted), keep)
    assert found == (wanted, True)


def test_a_chat_that_fits_piece_by_piece_is_not_cut(tokenizer: Any) -> None:
    whole = ids(tokenizer, *CHAT.pieces)
    assert cut_chat(tokenizer, CHAT, len(whole), "end") == (whole, False)


def test_nothing_stays_of_a_chat_without_room_for_contents(tokenizer: Any) -> None:
    around = len(ids(tokenizer, HEAD, MIDDLE, TAIL))
    assert cut_chat(tokenizer, CHAT, around, "end") is None
    found = cut_chat(tokenizer, CHAT, around + 1, "end")
    assert found is not None
    assert len(found.ids) == around + 1
    assert cut_chat(tokenizer, ChatContext((HEAD, "", TAIL)), 1, "end") is None


def test_candidates_of_a_context_share_its_cut_chat(fresh: Callable[..., Family]) -> None:
    gpt2 = fresh("gpt2", window=40)
    loaded, native = wrap_model(gpt2.model, gpt2.tokenizer), find_protocol("native")
    chat = ChatContext(("User: ", "the cat and the dog " * 20, "\nYou:"))
    short, long = "the mat", "the mat and the river and the hill"

    rows = encode(loaded, native, [(chat, short), (chat, long)], separator=" ")

    prefixes = [row.context + row.inputs[:1] for row in rows]
    assert prefixes[0] == prefixes[1]
    assert all(row.truncated for row in rows)
    assert len(prefixes[1]) == 40 - len(rows[1].targets)
    assert gpt2.tokenizer.decode(prefixes[0]).startswith("User: ")
    assert gpt2.tokenizer.decode(prefixes[0]).endswith(" dog \nYou:")
    with refusal("candidate.too-long", family=CandidateError) as caught:
        encode(loaded, native, [(chat, "the mat " * 12)], separator=" ")
    assert "40" in caught.value.what


@pytest.mark.parametrize("family", ["gpt2", "llama", "qwen2"])
def test_a_chat_has_the_tokens_of_its_text(family: str, tiny: Callable[[str], Family]) -> None:
    tokenizer: Any = tiny(family).tokenizer
    text = "".join(CHAT.pieces)
    assert chat_ids(tokenizer, [CHAT]) == [
        tuple(tokenizer(text, add_special_tokens=False)["input_ids"])
    ]
    eos = tokenizer.eos_token
    forged = ChatContext(("User: ", f"the {eos} cat", f"{eos}You:"))
    (found,) = chat_ids(tokenizer, [forged])
    assert found.count(tokenizer.eos_token_id) == 1
    assert tokenizer.decode(found) == tokenizer.decode(
        tokenizer.encode("".join(forged.pieces), add_special_tokens=False)
    )
