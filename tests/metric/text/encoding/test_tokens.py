"""Tokens: what stands around a text, what contexts are, data that looks like special tokens."""

from collections.abc import Callable
from typing import Any

import pytest
from support.refusals import refusal
from support.tiny_models import Family
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast

from nnd.metric.text.encoding.tokens import context_ids, last_texts, special_frame, text_ids

Tiny = Callable[[str], Family]


def words(*vocabulary: str, template: str = "$A", **special: str) -> Any:
    """A tokenizer that knows whole words only; the id of a word is its place."""
    backend = Tokenizer(
        models.WordLevel({word: i for i, word in enumerate(vocabulary)}, unk_token="<unk>")  # noqa: S106
    )
    backend.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    backend.post_processor = processors.TemplateProcessing(
        single=template, special_tokens=[(w, i) for i, w in enumerate(vocabulary) if w in template]
    )
    return PreTrainedTokenizerFast(tokenizer_object=backend, unk_token="<unk>", **special)  # noqa: S106


# Around a text


@pytest.mark.parametrize(
    ("name", "frame"),
    [
        ("gpt2", ((), ())),  # adds nothing
        ("llama", ((1,), ())),  # <s> before
        ("bart", ((0,), (2,))),  # <s> before, </s> behind
        ("t5", ((), (1,))),  # </s> behind
    ],
)
def test_special_frame(name: str, frame: tuple[tuple[int, ...], ...], tiny: Tiny) -> None:
    assert special_frame(tiny(name).tokenizer) == frame


def test_a_text_to_be_generated_has_its_own_frame(tiny: Tiny) -> None:
    tokenizer = tiny("mbart50").tokenizer
    english, romanian = tokenizer.convert_tokens_to_ids(["en_XX", "ro_RO"])
    assert special_frame(tokenizer) == ((english,), (2,))
    assert special_frame(tokenizer, target=True) == ((romanian,), (2,))


def test_several_special_tokens_on_a_side_all_count() -> None:
    tokenizer = words("<unk>", "[A]", "[B]", "[C]", "a", template="[A] [B] $A [C]")
    assert special_frame(tokenizer) == ((1, 2), (3,))


def test_text_has_no_special_tokens_around_it(tiny: Tiny) -> None:
    bart = tiny("bart")
    (ids,) = text_ids(bart.tokenizer, ["the cat"])
    assert list(ids) == bart.text_ids("the cat")
    assert not {0, 2} & set(ids)


def test_no_texts_have_no_tokens(tiny: Tiny) -> None:
    assert text_ids(tiny("gpt2").tokenizer, []) == []


# Contexts


def test_a_literal_may_hold_several_special_tokens(tiny: Tiny) -> None:
    bart = tiny("bart")
    (ids,) = context_ids(bart.tokenizer, [("<s></s>", "cat", "</s>x<mask>")])
    assert ids == (0, 2, *bart.text_ids("cat"), 2, *bart.text_ids("x"), 4)


def test_a_special_token_is_not_found_across_pieces(tiny: Tiny) -> None:
    bart = tiny("bart")
    # "</" is the template's, "s>" data: nobody spelled out </s>.
    (ids,) = context_ids(bart.tokenizer, [("</", "s>")])
    assert list(ids) == bart.text_ids("</s>")
    assert 2 not in ids


def test_the_longest_special_token_wins() -> None:
    tokenizer = words(
        "<unk>", "<e", "<e>", "a", additional_special_tokens=["<e", "<e>"]
    )  # one is the beginning of the other
    assert context_ids(tokenizer, [("a <e> a", "")]) == [(3, 2, 3)]


def test_pieces_meet_without_a_token_boundary(tiny: Tiny) -> None:
    gpt2 = tiny("gpt2")
    whole = gpt2.text_ids("the cat")
    assert whole != [*gpt2.text_ids("th"), *gpt2.text_ids("e cat")]  # a boundary would show
    assert context_ids(gpt2.tokenizer, [("th", "e cat")]) == [tuple(whole)]


@pytest.mark.parametrize("empty", ["", ("",), ("", "", "")])
def test_nothing_has_no_tokens(empty: str | tuple[str, ...], tiny: Tiny) -> None:
    assert context_ids(tiny("gpt2").tokenizer, [empty]) == [()]


def test_each_context_gets_its_own_tokens(tiny: Tiny) -> None:
    gpt2 = tiny("gpt2")
    found = context_ids(gpt2.tokenizer, ["the", ("Q: ", "the"), "the"])
    assert [list(ids) for ids in found] == [
        gpt2.text_ids("the"),
        gpt2.text_ids("Q: the"),
        gpt2.text_ids("the"),
    ]


@pytest.mark.parametrize(
    ("context", "end"),
    [
        ("the </s>", "the </s>"),  # data: nothing is special
        (("<s>Q: ", "who </s>", " A:"), "Q: who </s> A:"),
        (("Q: ", "who", "</s>"), ""),
        (("Q: ", "who", "</s>\n"), "\n"),
        ("", ""),
        (("",), ""),
    ],
)
def test_the_text_behind_the_last_special_token(
    context: str | tuple[str, ...], end: str, tiny: Tiny
) -> None:
    assert last_texts(tiny("bart").tokenizer, [context, "x"]) == [end, "x"]


# Data that looks like special tokens


def test_where_that_cannot_be_the_text_is_named() -> None:
    tokenizer = words("<unk>", "<s>", "a", bos_token="<s>")  # noqa: S106
    assert text_ids(tokenizer, ["a a"]) == [(2, 2)]
    with refusal("model.tokenizer"):
        text_ids(tokenizer, ["a <s>"])


def test_a_tokenizer_that_rewrites_the_text_is_refused() -> None:
    class Shouting:
        """Its special tokens change the text's own."""

        name_or_path = "shouting"
        is_fast = False
        unk_token_id = 0
        added_tokens_decoder: dict[int, str] = {}  # noqa: RUF012

        def __call__(self, *, text: list[str], add_special_tokens: bool, **_: Any) -> Any:
            return {"input_ids": [[1, 9, 2] if add_special_tokens else [8] for _ in text]}

    with refusal("model.tokenizer", "shouting"):
        special_frame(Shouting())  # type: ignore[arg-type]
