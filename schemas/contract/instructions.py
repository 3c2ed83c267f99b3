"""Instructions: what people asked the systems to do, in words (`instruction` in source.yaml).

An instruction is a text with {placeholders} for the parts of a context. Where the words differ
within a data set, it is several such texts, each for a category of contexts or for a language of
candidates.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from string import Formatter
from typing import Any, NamedTuple, TypeAlias

from nnd.schemas.words.errors import ScoringError

NO_INSTRUCTION = "none"
"""In source.yaml: the context already is the request."""

Wording: TypeAlias = Mapping[str, str]
"""Category of contexts, or language of candidates → text with {placeholders}; "" means all."""


class StoredContext(NamedTuple):
    """A context as it is stored.

    `text` is its default rendering; `parts` is None if the data has none; `kinds` are its category
    and the language of its candidates, as far as they are known. `language` is the latter alone,
    and `context_language` that of the context itself, for translations (BCP-47).
    """

    text: str
    parts: Mapping[str, str] | None = None
    kinds: tuple[str, ...] = ()
    language: str | None = None
    context_language: str | None = None

    @classmethod
    def of(cls, text: str, parts: Mapping[str, str] | None, *kinds: str | None) -> "StoredContext":
        """Return a context of these kinds, as far as they are known."""
        return cls(text, parts, tuple(kind for kind in kinds if kind is not None))

    @property
    def values(self) -> dict[str, str]:
        """What placeholders can stand for; {context} is the stored context."""
        return {"context": self.text, **(self.parts or {})}


@dataclass(frozen=True, slots=True)
class Instruction:
    """The instruction of a data set.

    Attributes:
        wordings: The instruction, and paraphrases of it.
        origin: Where the words come from (`instruction_from`).
    """

    wordings: tuple[Wording, ...]
    origin: str

    @property
    def digests(self) -> list[str]:
        """The digest of each wording (`digest_wording`)."""
        return [digest_wording(wording) for wording in self.wordings]


def read_instruction(facts: Mapping[str, Any]) -> Instruction | None:
    """Return the instruction in a source.yaml, or in the source of a manifest; None without one."""
    given = facts.get("instruction", NO_INSTRUCTION)
    if given == NO_INSTRUCTION:
        return None
    texts = [given, *facts.get("instruction_variants", ())]
    wordings = tuple({"": text} if isinstance(text, str) else dict(text) for text in texts)
    every = [text for wording in wordings for text in wording.values()]
    without = [text for text in every if not placeholders_in(text)]
    if without and (len(without) < len(every) or max(map(len, wordings)) > 1):
        raise ScoringError(
            "template.placeholder",
            f'"{without[0]}" has no placeholder, although there are several texts',
            remedy="write one where the context belongs, such as {context}",
        )
    return Instruction(wordings, facts["instruction_from"])


def digest_wording(wording: Wording) -> str:
    """Return 6 digits of the SHA-256 of a wording."""
    text = json.dumps(wording, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:6]


def fill_wording(wording: Wording, context: StoredContext) -> tuple[str, ...]:
    """Return the words for a context in pieces: literal, data, literal, and so on.

    Raises ScoringError if no text of the wording is for this kind of context, or if a placeholder
    is not among its parts.
    """
    key = next((kind for kind in (*context.kinds, "") if kind in wording), None)
    if key is None:
        raise ScoringError(
            "template.no-words",
            "the instruction has no words for "
            f"{' or '.join(context.kinds) or 'this context'}, only for {', '.join(wording)}",
        )
    return fill_placeholders(wording[key], context.values)


def fill_placeholders(text: str, values: Mapping[str, str]) -> tuple[str, ...]:
    """Return a text in pieces: literal, value, literal, and so on."""
    pieces: list[str] = []
    for literal, name in parse_placeholders(text):
        pieces.append(literal)
        if name is None:
            continue
        if name not in values:
            known = ", ".join(f"{{{each}}}" for each in values)
            raise ScoringError(
                "template.placeholder", f"the context has no {{{name}}}, only {known or 'no parts'}"
            )
        pieces.append(values[name])
    return tuple(pieces)


def placeholders_in(text: str) -> list[str]:
    """Return the names of the placeholders in a text."""
    return [name for _, name in parse_placeholders(text) if name is not None]


def parse_placeholders(text: str) -> Sequence[tuple[str, str | None]]:
    """Return literals and placeholders in alternation; doubled braces stand for braces."""
    try:
        fields = list(Formatter().parse(text))
    except ValueError as error:
        raise ScoringError(
            "template.placeholder",
            str(error),
            f'template "{text}"',
            "write {{ and }} for braces that are text",
        ) from error
    parsed: list[tuple[str, str | None]] = []
    for literal, name, spec, conversion in fields:
        if name is not None and (spec or conversion or not re.fullmatch(r"\w+", name)):
            raise ScoringError(
                "template.placeholder",
                where=f'template "{text}"',
                remedy="write a placeholder as a plain {name}",
            )
        if parsed and parsed[-1][1] is None:
            parsed[-1] = (parsed[-1][0] + literal, name)  # an escaped brace splits a literal
        else:
            parsed.append((literal, name))
    return parsed
