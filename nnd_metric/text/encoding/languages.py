"""How multilingual encoder-decoders are given the languages of a context and of a candidate.

Two conventions exist. The tokenizer puts codes around both texts (NLLB, mBART, M2M100, SeamlessM4T,
PLBart: `src_lang` and `tgt_lang`), or the code of the target is the first token of the source
(Marian's `>>deu<<`, MADLAD-400's `<2de>`). Which codes there are is read from the tokenizer. Words
such as T5's "translate English to German:" are no codes: they belong in a template.
"""

import inspect
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from nnd.metric.text.encoding.requests import Languages, Tokenizer

_AROUND: Final = re.compile(r"__[a-z]{2,3}(_[A-Z]{2})?__|[a-z]{2,3}_([A-Z]{2}|[A-Z][a-z]{3})")
"""Special tokens that name a language: __de__, __en_XX__, de_DE, deu_Latn."""

_BEFORE: Final = re.compile(r"<2[A-Za-z_-]+>")
_COMMON: Final = ("en", "de", "fr", "es", "zh", "ru", "ar", "hi", "pt", "it", "ja", "cs", "ro")
"""A vocabulary with none of <2en>, <2de> … is not searched for others."""


@dataclass(frozen=True, slots=True)
class LanguageTokens:
    """The languages that a tokenizer can tell its model.

    Attributes:
        codes: All of them, as the tokenizer spells them.
        in_source: Whether the code of the target is the first token of the source, whose own
            language is not given.
        own_source: The language of contexts that the tokenizer is set to, or None.
        own_target: The language of candidates that its author set it to, or None.
    """

    codes: tuple[str, ...]
    in_source: bool = False
    own_source: str | None = None
    own_target: str | None = None


def language_tokens(tokenizer: Tokenizer) -> LanguageTokens | None:
    """Return the languages that the tokenizer of an encoder-decoder tells, or None."""
    if _has_settings(tokenizer):
        codes = _settable_codes(tokenizer)
        own = getattr(tokenizer, "src_lang", None)
        stated = _stated_target(tokenizer)
        return LanguageTokens(codes, own_source=own, own_target=stated) if codes else None
    if marked := _source_codes(tokenizer):
        target = getattr(tokenizer, "target_lang", None)
        return LanguageTokens(marked, in_source=True, own_target=target)
    # A tokenizer that lost its class writes the code that it was saved with around every text.
    ids = tokenizer("a", verbose=False)["input_ids"]
    fixed = [code for code in _special_codes(tokenizer) if _id_of(tokenizer, code) in ids]
    return LanguageTokens((fixed[0],), own_source=fixed[0]) if fixed else None


@contextmanager
def speaking(tokenizer: Tokenizer, languages: Languages | None) -> Iterator[None]:
    """Set a tokenizer to some languages, and then back to its own."""
    if languages is None or languages.source is None or not _has_settings(tokenizer):
        yield
        return
    settable: Any = tokenizer
    source, target = settable.src_lang, settable.tgt_lang
    try:
        settable.tgt_lang = languages.target
        settable.src_lang = languages.source  # the last, as some tokenizers then write the other
        yield
    finally:
        settable.tgt_lang = target
        settable.src_lang = source


def needs_language(tokenizer: Tokenizer) -> bool:
    """Whether a tokenizer cannot encode a text to generate before it is given its language."""
    return _has_settings(tokenizer) and getattr(tokenizer, "tgt_lang", None) is None


def _has_settings(tokenizer: Tokenizer) -> bool:
    return hasattr(type(tokenizer), "src_lang") and hasattr(
        type(tokenizer), "set_tgt_lang_special_tokens"
    )


def _settable_codes(tokenizer: Tokenizer) -> tuple[str, ...]:
    listed: Sequence[str] = [*getattr(tokenizer, "lang_code_to_id", ())]
    if hasattr(tokenizer, "lang_code_to_token"):  # M2M100: de, whose token is __de__
        return tuple(listed)
    codes = listed or _special_codes(tokenizer)
    return tuple(code for code in codes if _id_of(tokenizer, code) is not None)


def _special_codes(tokenizer: Tokenizer) -> list[str]:
    special = (str(token) for token in tokenizer.added_tokens_decoder.values() if token.special)
    return [token for token in special if _AROUND.fullmatch(token)]


def _source_codes(tokenizer: Tokenizer) -> tuple[str, ...]:
    marian = getattr(tokenizer, "supported_language_codes", None)
    if marian is not None:
        return tuple(marian)
    if all(_id_of(tokenizer, f"<2{code}>") is None for code in _COMMON):
        return ()
    return tuple(sorted(filter(_BEFORE.fullmatch, tokenizer.get_vocab())))


def _id_of(tokenizer: Tokenizer, token: str) -> int | None:
    number: Any = tokenizer.convert_tokens_to_ids(token)
    return None if number == tokenizer.unk_token_id else number


def _stated_target(tokenizer: Tokenizer) -> str | None:
    """Return the target language that a tokenizer is set to, unless its class sets all to it."""
    own: str | None = getattr(tokenizer, "tgt_lang", None)
    parameter = inspect.signature(type(tokenizer).__init__).parameters.get("tgt_lang")
    by_class = None if parameter is None else parameter.default
    return None if own is None or own.strip("_") == by_class else own
