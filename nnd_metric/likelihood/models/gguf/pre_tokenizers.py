# ruff: noqa: RUF001 - the patterns have letters that look like others
"""The patterns that texts are cut by before merging, by the name in `tokenizer.ggml.pre`.

The names and patterns are those of llama.cpp (`llama-vocab.cpp`; where it rewrote a pattern for its
own matcher, the original of the model's tokenizer.json). Each pattern cuts what the ones before it
left: what it matches and what is between are pieces of their own.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple


class Cut(NamedTuple):
    """How a text is cut, and whether a piece that is a token as it stands is not merged at all.

    `bos` says whether a text begins with the first token where the file does not say.
    """

    patterns: tuple[str, ...]
    whole_pieces: bool = False
    bos: bool = False


_ENDINGS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_BLANKS = r"\s*[\r\n]+|\s+(?!\S)|\s+"
_GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)"
_WORD = r"[^\r\n\p{L}\p{N}]?\p{L}+"
_OTHER = r" ?[^\s\p{L}\p{N}]+[\r\n]*"
_UPPER, _LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_TITLE, _CAPITALS = (
    rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+",
    rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}+{_LOWER}*",
)
_SLASHED = r" ?[^\s\p{L}\p{N}]+[\r\n/]*"
_GPT4O = rf"{_TITLE}{_ENDINGS}?|{_CAPITALS}{_ENDINGS}?|\p{{N}}{{1,3}}|{_SLASHED}|{_BLANKS}"
_QWEN2 = rf"{_ENDINGS}|{_WORD}|\p{{N}}|{_OTHER}|{_BLANKS}"
_LLAMA3 = rf"{_ENDINGS}|{_WORD}|\p{{N}}{{1,3}}|{_OTHER}|{_BLANKS}"
_MARKED = r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"
_ASIAN = "[一-龥\u3040-ゟ゠-ヿ]+"
_CASED = (
    "A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-ჅᎠ-Ᏽᏸ-ᏽᲐ-ᲺᲽ-Ჿᴀ-ᴫᵫ-ᵷᵹ-ᶚḀ-ἕἘ-Ἕἠ-ὅὈ-Ὅ"
    "ὐ-ὗὙὛὝὟ-\u1f7dᾀ-ᾴᾶ-ᾼ\u1fbeῂ-ῄῆ-ῌῐ-\u1fd3ῖ-\u1fdbῠ-Ῥῲ-ῴῶ-ῼℂℇℊ-ℓℕℙ-ℝℤ\u2126ℨ\u212a-ℭℯ-ℴℹℼ-ℿⅅ-ⅉⅎↃↄⰀ-ⱻⱾ-ⳤⳫ-ⳮⳲⳳ"
    "Ꙁ-ꙭꚀ-ꚛꜢ-ꝯꝱ-ꞇꞋ-ꞎꭰ-ꮿﬀ-ﬆﬓ-ﬗＡ-Ｚａ-ｚ𐐀-𐑏𐒰-𐓓𐓘-𐓻𐲀-𐲲𐳀-𐳲𑢠-𑣟𞤀-𞥃"
)
_HAN_TO_HANGUL = "[一-龥ࠀ-一가-\ud7ff]+"

_DEEPSEEK3 = Cut((r"\p{N}{1,3}", _ASIAN, rf"{_MARKED}| ?[\p{{P}}\p{{S}}]+[\r\n]*|{_BLANKS}"))
_DIGITS = Cut((r"\p{N}", _GPT2))
_PHRASE = r"[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+"
_EXAONE = r"\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+"
_BLOOM = r" ?[^(\s|.,!?…。，、।۔،)]+"

GPT2 = Cut((_GPT2,))

CUTS: Mapping[str, Cut] = MappingProxyType(
    {
        **dict.fromkeys(
            (
                *("gpt-2", "phi-2", "jina-es", "jina-de", "gigachat", "jina-v2-es", "jina-v2-de"),
                *("a.x-4.0", "mellum", "modern-bert", "mpt", "olmo", "jais", "trillion"),
                *("granite-docling", "exaone4"),
            ),
            GPT2,
        ),
        **dict.fromkeys(
            (
                *("llama3", "llama-v3", "llama-bpe", "falcon3", "falcon-h1", "pixtral"),
                *("midm-2.0", "lfm2", "jina-v5-nano"),
            ),
            Cut((_LLAMA3,), whole_pieces=True, bos=True),
        ),
        **dict.fromkeys(("dbrx", "smaug-bpe", "chatglm-bpe", "glm4"), Cut((_LLAMA3,))),
        **dict.fromkeys(
            (
                *("qwen2", "deepseek-r1-qwen", "kormo", "f2llmv2", "megrez", "stablelm2"),
                *("hunyuan", "solar-open", "grok-2"),
            ),
            Cut((_QWEN2,)),
        ),
        **dict.fromkeys(
            (
                *("starcoder", "refact", "command-r", "smollm", "codeshell", "exaone"),
                *("minerva-7b", "mellum2"),
            ),
            _DIGITS,
        ),
        **dict.fromkeys(("gpt-4o", "llama4", "kanana2", "talkie", "minimax-m2"), Cut((_GPT4O,))),
        **dict.fromkeys(("deepseek-v3", "hunyuan-dense", "joyai-llm"), _DEEPSEEK3),
        **dict.fromkeys(("bloom", "poro-chat", "gpt3-finnish"), Cut((_BLOOM,))),
        **dict.fromkeys(
            ("bailingmoe", "bailingmoe2", "llada-moe"),
            Cut((rf"'(?i:[sdmt]|ll|ve|re)|{_WORD}|\p{{N}}|{_OTHER}|\s*[\r\n]|\s+(?!\S)|\s+",)),
        ),
        **dict.fromkeys(("tiny_aya", "cohere2moe"), Cut((r"\d{1,3}(?=(?:\d{3})*\b)", _GPT4O))),
        "tekken": Cut(
            (rf"{_TITLE}|{_CAPITALS}|\p{{N}}|{_SLASHED}|{_BLANKS}",), whole_pieces=True, bos=True
        ),
        "qwen35": Cut(
            (
                "|".join(
                    (
                        *(_ENDINGS, r"[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+", r"\p{N}"),
                        *(r" ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*", _BLANKS),
                    )
                ),
            )
        ),
        "viking": Cut((_BLOOM, r"\p{N}")),
        "minicpm5": Cut(
            (r"\p{N}{1,3}", rf"{_ENDINGS}|{_WORD}|\p{{N}}+|{_OTHER}|{_BLANKS}"), whole_pieces=True
        ),
        "youtu": Cut(
            (
                "[가-힣ㄱ-ㆎ]+|[！…“”‘’—：；，、-〿︰-﹏]+|[ㄅ-ㄯ]+|" + _ASIAN,
                rf"{_TITLE}{_ENDINGS}?|{_CAPITALS}{_ENDINGS}?|\p{{N}}|{_SLASHED}|{_BLANKS}",
            ),
            whole_pieces=True,
        ),
        "jais-2": Cut(
            (
                rf"{_ENDINGS}|{_WORD}|\p{{N}}{{1,3}}|{_OTHER}|\s*[\r\n]+|"
                + "|".join(rf"\s{{{n}}}(?!\S)" for n in (512, 256, 128, 64, 32, 16, 8, 4))
                + r"|\s{1,2}(?!\S)|\s{1}",
            )
        ),
        "seed-coder": Cut(
            (rf"{_ENDINGS}|{_WORD}|\p{{N}}{{1}}| ?[^\s\p{{L}}\p{{N}}\r\n]+|{_BLANKS}",)
        ),
        "superbpe": Cut((r"\p{N}+", r"(?=(\d{3})+(?!\d))")),
        "exaone-moe": Cut((rf"{_ENDINGS}|{_PHRASE}|{_EXAONE}",)),
        "chameleon": Cut(
            (
                "<sentinel:[0-9]+>",
                "(IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z",
                r"([\t\n]|    |  )",
                r"\p{N}",
                r"[\p{P}!-/:-@\[-`{-~]",
                _GPT2,
            ),
            bos=True,
        ),
        "falcon": Cut((r"[\p{P}\$\+<=>\^~\|`]+", _GPT2, "[0-9][0-9][0-9]")),
        "deepseek-coder": Cut((r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", _HAN_TO_HANGUL, r"\p{N}")),
        "deepseek-llm": Cut(
            (
                r"[\r\n]",
                rf"\s?[{_CASED}]+",
                "\\s?[!-/:-~！-／：-～‘-‟\u3000-。]+",
                r"\s+$",
                _HAN_TO_HANGUL,
                r"\p{N}+",
            )
        ),
    }
)
"""The names that are cut here.

Not those that llama.cpp cuts by code and not by a pattern (kimi-k2, afmoe), of texts that are not
spelled in bytes (gemma4, sarvam-moe, granite-embed-multi-311m, whitespace), and of encoders, which
end every text with a separator (roberta-bpe, jina-v1-en, jina-v2-code). `default` stands for a
pattern that the converter did not know.
"""
