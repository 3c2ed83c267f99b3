"""Characters that a tokenizer does not know, counted by hand."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from support.tiny_models import Family
from support.tokenizer_kinds import bytes_only, characters
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from nnd.metric.text.encoding.unknown_characters import count_unknown, knows_all, unknown_token

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def wrap(backend: Tokenizer, **options: Any) -> Any:
    return PreTrainedTokenizerFast(tokenizer_object=backend, **options)


def unigram(unk_token: str | None = "<unk>") -> Any:  # noqa: S107 - no password
    """As of T5: letters, a mark for blanks, and a normaliser that makes line breaks blanks."""
    pieces = [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), ("▁", -2.0)]
    backend = Tokenizer(models.Unigram([*pieces, *((c, -3.0) for c in LETTERS + ".,")], unk_id=2))
    steps = (normalizers.Nmt(), normalizers.NFKC(), normalizers.Replace(Regex(r"\s+"), " "))
    backend.normalizer = normalizers.Sequence([*steps])
    backend.pre_tokenizer = pre_tokenizers.Metaspace()
    return wrap(backend, unk_token=unk_token)


def wordpiece(*, lower: bool = True) -> Any:
    """As of an uncased BERT, which loses a whole word with one unknown character."""
    tokens = ["[UNK]", *LETTERS, *(f"##{c}" for c in LETTERS), ".", "東"]
    vocabulary = {token: number for number, token in enumerate(tokens)}
    backend = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))  # noqa: S106
    backend.normalizer = normalizers.BertNormalizer(lowercase=lower)
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return wrap(backend, unk_token="[UNK]")  # noqa: S106


def dropping() -> Any:
    """A BPE without an unknown token, which leaves out what it does not know."""
    return wrap(Tokenizer(models.BPE({c: n for n, c in enumerate(LETTERS + " ")}, [])))


def with_bytes() -> Any:
    """A BPE that falls back to bytes."""
    tokens = ["<unk>", *(f"<0x{n:02X}>" for n in range(256)), *LETTERS]
    vocabulary = {token: number for number, token in enumerate(tokens)}
    backend = Tokenizer(models.BPE(vocabulary, [], unk_token="<unk>", byte_fallback=True))  # noqa: S106
    backend.decoder = decoders.ByteFallback()
    return wrap(backend, unk_token="<unk>")  # noqa: S106


@pytest.mark.parametrize(
    ("tokenizer", "text", "unknown"),
    [
        (unigram(), "渡轮因潮水而迟到。", 9),
        (unigram(), "渡轮, 迟到", 4),  # the comma and the blank are known
        (unigram(), "a {b} c", 2),  # braces, as in T5's vocabulary
        (unigram(), "a\nb", 0),  # read as a blank: nothing is unknown
        (unigram(), "渡轮\N{FULLWIDTH COMMA}a", 2),  # NFKC makes a comma of the wide one
        (unigram(), "", 0),
        (unigram(), "😀 a", 1),  # one code point of four bytes
        (unigram(None), "渡轮", 2),  # the model inside has the token, transformers does not know
        (wordpiece(), "ABC", 0),
        (wordpiece(), "Café", 0),  # the accent is stripped
        (wordpiece(), "caf☃é x", 5),  # [UNK] stands for the word; the snowman splits no word
        (wordpiece(), "東京", 1),  # Chinese characters are words of their own
        (wordpiece(lower=False), "Abc abc", 3),
        (characters(), "\tThe", 1),  # white space in an unknown token
        (dropping(), "abc 東京 é", 3),
        (dropping(), "\n\n", 0),  # white space that is left out
        (with_bytes(), "東京 é ☃", 0),
        (bytes_only(), "東京 é ☃\n", 0),
    ],
)
def test_count(tokenizer: Any, text: str, unknown: int) -> None:
    assert count_unknown(tokenizer, [text, text]) == [unknown, unknown]


@pytest.mark.parametrize("build", [bytes_only, with_bytes])
def test_tokenizers_of_bytes_know_all(build: Callable[[], Any]) -> None:
    assert knows_all(build())


@pytest.mark.parametrize("build", [unigram, wordpiece, dropping, characters])
def test_others_do_not(build: Callable[[], Any]) -> None:
    assert not knows_all(build())


@pytest.mark.parametrize(
    ("family", "knows"),
    [("gpt2", True), ("qwen2", True), ("bart", True), ("llama", True), ("t5", False)],
)
def test_families(tiny: Callable[[str], Family], family: str, *, knows: bool) -> None:
    assert knows_all(tiny(family).tokenizer) is knows


def test_the_unknown_token_may_be_known_to_the_model_inside_only() -> None:
    tokenizers = (unigram(None), characters(), dropping(), bytes_only(), unigram())
    assert [*map(unknown_token, tokenizers)] == [2, 1, None, None, 2]


def test_a_tokenizer_written_in_python_reads_each_character_alone() -> None:
    known = {"a": 1, "b": 2}

    def read(text: list[str], **_: object) -> dict[str, list[list[int]]]:
        return {"input_ids": [[known.get(c, 0) for c in each if c != "-"] for each in text]}

    class Slow(SimpleNamespace):
        def __call__(self, **options: Any) -> dict[str, list[list[int]]]:
            return read(**options)

    slow = Slow(is_fast=False, unk_token_id=0, added_tokens_decoder={})
    assert count_unknown(slow, ["abc", "ccc", "a-b", ""]) == [1, 3, 1, 0]


def test_a_tokenizer_that_raises_an_error_does_not_know_all() -> None:
    backend = Tokenizer(models.WordLevel({"a": 0}))
    assert not knows_all(wrap(backend))
