# ruff: noqa: RUF001, E501 - letters that look like others, and patterns as they stand
"""The tokenizer of a GGUF file: texts are cut by the pattern that it names, and begin as it says."""

import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import regex
import transformers as hf
from support.models.gguf_files import write_gguf
from support.tiny_models import Family, rope_shape, seeded
from tokenizers import Regex, pre_tokenizers

from nnd.metric.likelihood import Loading, load_tokenizer
from nnd.metric.likelihood.models.gguf.pre_tokenizers import CUTS

CPU = Loading(device="cpu")
TEXTS = [
    "The ferry's 1234567 km, said/no WE'LL don't   go!\n\n  x=1\t+2 ½ ① (a.b|c,d)…\r\n",
    "Ünïcode naïve café 漢字かなカナ 한국어 हिन्दी ไทย العربية ПРИВЕТ мир 🙂👍🏽 ﬁ ǅ İI",
    "  leading, trailing  12 34,567 3.14159  \n",
    "print('hi'); y+=7 #tag {x|y} <a> $5 ~z `q` _u camelCaseWord ABCdef\u3000全角！？ 。",
]


def tokenizer_of(
    folder: Path, tiny: Callable[[str], Family], keys: dict[str, Any], **parts: Any
) -> Any:
    tokenizer = tiny("gpt2").tokenizer
    with seeded():
        model = hf.LlamaForCausalLM(hf.LlamaConfig(**rope_shape(len(tokenizer), 160)))
    given = {f".tokenizer.ggml.{name}": each for name, each in keys.items()}
    file = write_gguf(model, tokenizer, folder / "m.gguf", keys=given, **parts)
    return load_tokenizer(file, CPU)


def pieces(text: str, patterns: tuple[str, ...]) -> list[str]:
    """Cut by one pattern after the other, with another library's matcher."""
    found = [text]
    for pattern in patterns:
        cut = []
        for piece in found:
            at = 0
            for match in regex.finditer(pattern, piece, flags=regex.VERSION0):
                cut += [piece[at : match.start()], match[0]]
                at = match.end()
            cut.append(piece[at:])
        found = [piece for piece in cut if piece]
    return found


@pytest.mark.parametrize("name", CUTS)
def test_texts_are_cut_by_the_pattern_of_the_name(name: str) -> None:
    cut = pre_tokenizers.Sequence(
        [pre_tokenizers.Split(Regex(each), "isolated") for each in CUTS[name].patterns]
    )
    for text in TEXTS:
        assert [piece for piece, _ in cut.pre_tokenize_str(text)] == pieces(
            text, CUTS[name].patterns
        )


def of_json(*parts: Any) -> Any:
    """A pre-tokenizer as in the tokenizer.json of a model."""
    return pre_tokenizers.Sequence([*parts])


SPLIT = pre_tokenizers.Split
BYTES = {"add_prefix_space": False}
# From the tokenizer.json of each model, in the library's own words.
ORIGINALS: dict[str, Any] = {
    "gpt-2": of_json(pre_tokenizers.ByteLevel(**BYTES)),
    "smollm": of_json(pre_tokenizers.Digits(True), pre_tokenizers.ByteLevel(**BYTES)),
    "command-r": of_json(pre_tokenizers.Digits(True), pre_tokenizers.ByteLevel(**BYTES)),
    "stablelm2": of_json(
        SPLIT(
            Regex(
                r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
                r"|\s*[\r\n]+|\s+(?!\S)|\s+"
            ),
            "isolated",
        ),
        pre_tokenizers.ByteLevel(**BYTES, use_regex=False),
    ),
    "llama-bpe": of_json(
        SPLIT(
            Regex(
                r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
                r"|\s*[\r\n]+|\s+(?!\S)|\s+"
            ),
            "isolated",
        ),
        pre_tokenizers.ByteLevel(**BYTES, use_regex=False),
    ),
    "gpt-4o": of_json(
        SPLIT(
            Regex(
                r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
                r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
                r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
            ),
            "isolated",
        ),
        pre_tokenizers.ByteLevel(**BYTES, use_regex=False),
    ),
    "deepseek-coder": of_json(
        SPLIT(Regex(r"[\r\n]"), "isolated"),
        SPLIT(Regex(r"\s?\p{L}+"), "isolated"),
        SPLIT(Regex(r"\s?\p{P}+"), "isolated"),
        SPLIT(Regex("[一-龥ࠀ-一가-\ud7ff]+"), "isolated"),
        pre_tokenizers.Digits(True),
        pre_tokenizers.ByteLevel(**BYTES, use_regex=False),
    ),
    "bloom": of_json(
        SPLIT(Regex(r" ?[^(\s|[.,!?…。，、।۔،])]+"), "isolated"),
        pre_tokenizers.ByteLevel(**BYTES, use_regex=False),
    ),
}


@pytest.mark.parametrize("name", ORIGINALS)
def test_files_are_cut_as_the_models_own_tokenizers_cut(
    name: str, tiny: Callable[[str], Family], tmp_path: Path
) -> None:
    found = tokenizer_of(tmp_path, tiny, {"pre": name}).backend_tokenizer.pre_tokenizer
    for text in TEXTS:
        own = ORIGINALS[name].pre_tokenize_str(text)
        assert [each for each, _ in found.pre_tokenize_str(text)] == [each for each, _ in own]


def test_the_letters_of_deepseek_have_a_case() -> None:
    letters = regex.compile(CUTS["deepseek-llm"].patterns[1].removeprefix(r"\s?").removesuffix("+"))
    chosen = [chr(n) for n in range(0x110000) if letters.fullmatch(chr(n))]
    assert len(chosen) > 2000
    assert {unicodedata.category(each) for each in chosen} == {"Lu", "Ll", "Lt"}


def test_a_piece_that_is_a_token_is_not_merged(
    tiny: Callable[[str], Family], tmp_path: Path
) -> None:
    tokens = sorted(tiny("gpt2").tokenizer.get_vocab().items(), key=lambda each: each[1])
    names = [name for name, _ in tokens]
    names[-1] = "Ġzqzq"  # no merge makes it
    ids = {
        name: tokenizer_of(tmp_path, tiny, {"pre": name, "tokens": names, "merges": ["Ġ t"]})(
            " zqzq"
        ).input_ids
        for name in ("llama-bpe", "qwen2", "tekken")
    }
    assert ids["llama-bpe"] == ids["tekken"] == [len(names) - 1]
    assert len(ids["qwen2"]) > 3


@pytest.mark.parametrize(
    ("pre", "said", "begins"),
    [
        ("llama-bpe", None, True),
        ("llama-bpe", False, False),
        ("tekken", None, True),
        ("qwen2", None, False),
        ("qwen2", True, True),
    ],
)
def test_a_text_begins_as_the_file_says_or_its_kind(
    pre: str, said: Any, begins: Any, tiny: Callable[[str], Family], tmp_path: Path
) -> None:
    keys, key = {"pre": pre}, "tokenizer.ggml.add_bos_token"
    keys |= {} if said is None else {"add_bos_token": said}
    parts = {"without": [f".{key}"]} if said is None else {}
    found = tokenizer_of(tmp_path, tiny, keys, **parts)
    ids = found("said").input_ids
    assert (ids[0] == found.bos_token_id) == begins


PIECES = ["<unk>", "<s>", "</s>", "▁", "a", "b", "ab", "▁ab", "▁a"]
SPM = {
    "model": "llama",
    "tokens": PIECES,
    "scores": [0.0, 0.0, 0.0, -9.0, -9.0, -9.0, -1.0, -2.0, -3.0],
    "token_type": [2, 3, 3, 1, 1, 1, 1, 1, 1],
    "bos_token_id": 1,
    "eos_token_id": 2,
    "unknown_token_id": 0,
}


@pytest.mark.parametrize(
    ("keys", "ids"),
    [
        ({"add_space_prefix": True, "add_bos_token": False}, [7, 7]),
        ({"add_space_prefix": False, "add_bos_token": False}, [6, 7]),
        ({"add_bos_token": False}, [7, 7]),
        ({"add_bos_token": True, "add_space_prefix": False}, [1, 6, 7]),
        ({"add_bos_token": True, "add_eos_token": True, "add_space_prefix": False}, [1, 6, 7, 2]),
    ],
)
def test_pieces_begin_with_a_blank_if_the_file_says_so(
    keys: dict[str, bool], ids: list[int], tiny: Callable[[str], Family], tmp_path: Path
) -> None:
    gone = [f".tokenizer.ggml.{each}" for each in ("merges", "pre")]
    found = tokenizer_of(tmp_path, tiny, SPM | keys, without=gone)
    assert found("ab ab").input_ids == ids
    assert found.decode([6, 7]) == "ab ab"
