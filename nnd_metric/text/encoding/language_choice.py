"""The languages that a model is given for each pair: by the data, an option, or its tokenizer."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from nnd.metric.text.encoding.language_codes import bare_code, codes_of_language, match_codes
from nnd.metric.text.encoding.languages import LanguageTokens, language_tokens
from nnd.metric.text.encoding.requests import Languages, TextModel
from nnd.metric.text.encoding.stored_tokenizer import StoredTokenizer
from nnd.schemas import Record, ScoringError, StoredContext

_HAVING_OPTION = "(of nnd evaluate and nnd metrics)"

_SHOWN: Final = 8


@dataclass(frozen=True, slots=True)
class LanguageOptions(Record):
    """What a user says of languages that the data does not say, or not exactly enough.

    Attributes:
        language: That of the candidates.
        context_language: That of the contexts.
    """

    language: str | None = None
    context_language: str | None = None


@dataclass(frozen=True, slots=True)
class ToldLanguages(Record):
    """The languages that a model was given, in the codes of its tokenizer.

    Attributes:
        given: Each source>target, or target.
        asked: What the user said of them.
    """

    given: tuple[str, ...]
    asked: LanguageOptions


@dataclass(frozen=True, slots=True)
class LanguageTeller:
    """Tells a model the languages of a pair.

    Attributes:
        tokens: What its tokenizer can tell.
        asked: What the user says.
        name: The model's name in messages.
    """

    tokens: LanguageTokens
    asked: LanguageOptions
    name: str

    def told(self, context: StoredContext) -> Languages | None:
        """Return what the model is given; None if it writes the language of the pair only.

        The data comes first. An option decides where the data says nothing, is ambiguous, or names
        a language that the model does not know; the tokenizer's own setting where neither does.

        Raises:
            ScoringError: If nothing decides.
        """
        tokens, asked = self.tokens, self.asked
        if tokens.in_source:
            if _writes_only(tokens, context.language or asked.language):
                return None
            code = self._choose("language", context.language, asked.language, None)
            return Languages(None, bare_code(code), code)
        target = self._choose("language", context.language, asked.language, tokens.own_target)
        source = self._choose(
            "context_language", context.context_language, asked.context_language, tokens.own_source
        )
        return Languages(source, target)

    def notes(self, contexts: Iterable[StoredContext]) -> list[str]:
        """Return which languages the data does not say, or says otherwise than the tokenizer."""
        tokens, asked = self.tokens, self.asked
        contexts = list(contexts)
        notes = []
        silent = any(context.context_language is None for context in contexts)
        if not tokens.in_source and silent and asked.context_language is None:
            notes.append(
                "the data does not say the language of the contexts; the model was given "
                f"{tokens.own_source}, to which its tokenizer is set; use --context-language or a "
                "column context_language for another"
            )
        if tokens.in_source or tokens.own_target is None:
            return notes
        if asked.language is None and any(context.language is None for context in contexts):
            notes.append(
                "the data does not say the language of the candidates; the model was given "
                f"{tokens.own_target}, to which its tokenizer is set"
            )
        told = {languages.target for each in contexts if (languages := self.told(each))}
        if others := sorted(told - {tokens.own_target}):
            notes.append(
                f"the tokenizer is set to {tokens.own_target}, but the model was given "
                f"{', '.join(others)}, the language of the candidates"
            )
        return notes

    def _choose(self, column: str, said: str | None, asked: str | None, own: str | None) -> str:
        """Return the code of a language that the data says, the user or the tokenizer."""
        codes = self.tokens.codes
        found = match_codes(said, codes) if said else []
        if len(found) == 1:
            return found[0]
        if asked is not None:
            chosen = match_codes(asked, codes)
            if len(chosen) == 1 and (not found or chosen[0] in found):
                return chosen[0]
            raise self._unclear(column, asked, chosen, "")
        if said is None and (own is not None or len(codes) == 1):
            return own or codes[0]
        option = f"--{column.replace('_', '-')}"
        if said is not None:
            raise self._unclear(column, said, found, option)
        whose = "contexts" if column == "context_language" else "candidates"
        raise ScoringError(
            "model.language",
            f"this model is given the language of the {whose} by a code, and the data does not "
            "say it",
            self.name,
            f"add a column {column}, or use {option} {_HAVING_OPTION} with one of {_listed(codes)}",
        )

    def _unclear(self, column: str, tag: str, found: Sequence[str], option: str) -> ScoringError:
        give = option or f"--{column.replace('_', '-')}"
        near = found or codes_of_language(tag, self.tokens.codes)
        what = f'the {column} "{tag}" is none of this model\'s codes'
        if found:
            what = f'the {column} "{tag}" may be {" or ".join(map(bare_code, found))}'
        return ScoringError(
            "model.language",
            what,
            self.name,
            f"choose with {give} {_HAVING_OPTION} one of {_listed(near or self.tokens.codes)}",
        )


def language_teller(
    model: TextModel, asked: LanguageOptions | None = None, literals: Iterable[str] = ()
) -> LanguageTeller | None:
    """Return what tells a model the languages of pairs, or None if nothing does.

    `literals` are the template's own texts: one that begins with the token of a language tells it.
    """
    # A stored tokenizer tells no language: outlines of models that are given any are not kept.
    can_be_told = model.is_encoder_decoder and not isinstance(model.tokenizer, StoredTokenizer)
    tokens = language_tokens(model.tokenizer) if can_be_told else None
    if tokens is None:
        return None
    begins = any(text.lstrip().startswith(tokens.codes) for text in literals)
    return (
        None
        if tokens.in_source and begins
        else LanguageTeller(tokens, asked or LanguageOptions(), model.name)
    )


def _writes_only(tokens: LanguageTokens, language: str | None) -> bool:
    """Whether a model for several targets, by its vocabulary, writes one, that of the pair."""
    own = tokens.own_target
    if own is None or language is None or match_codes(language, tokens.codes):
        return False
    return bool(match_codes(language, [own]))


def _listed(codes: Sequence[str]) -> str:
    shown = ", ".join(map(bare_code, codes[:_SHOWN]))
    return shown if len(codes) <= _SHOWN else f"{shown}, … ({len(codes)} in all)"
