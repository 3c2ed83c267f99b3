"""Templates: how the parts of a context become the text that a model reads.

There are named templates for the paper's models (Laban et al. 2022, and its released code; T5 with
its own prefix); others are strings with {placeholders}. Special-token strings count as special in a
template, but never in data.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from string import Formatter
from typing import NamedTuple

from nnd.metric.encoding.requests import PlainContext
from nnd.schemas import ScoringError, did_you_mean, has_surrogate


class Variant(NamedTuple):
    """One rendering, for contexts with exactly the parts that it names.

    Attributes:
        context: Text with {placeholders}.
        candidate_prefix: Text before every candidate, which is scored with it.
    """

    context: str
    candidate_prefix: str = ""


@dataclass(frozen=True, slots=True)
class Template:
    """A way to render contexts.

    Attributes:
        name: The name in the signature.
        variants: One per kind of context, distinguished by the placeholders; if empty, the stored
            context is read.
        separator: Text between context and candidate, for decoder-only models.
        as_turns: Whether a context is a dialogue whose turns become turns of a chat.
    """

    name: str
    variants: tuple[Variant, ...] = ()
    separator: str = " "
    as_turns: bool = False


TEMPLATES: dict[str, Template] = {
    template.name: template
    for template in (
        Template("default"),
        Template("mixqg", (Variant(r"{answer} \n {paragraph}"),)),
        Template("prophetnet", (Variant("{answer} [SEP] {paragraph}"),)),
        Template(
            "macaw",
            (
                Variant(
                    "$question$ ; $context$ = {paragraph} ; $answer$ = {answer}", "$question$ = "
                ),
                Variant("$answer$ ; $question$ = {question}", "$answer$ = "),
            ),
        ),
        Template("unifiedqa", (Variant(r"{question} \n {paragraph}"), Variant("{question}"))),
        Template("t5-ssm-nq", (Variant("{question}"),)),
        Template(
            "t5-summarize",
            tuple(
                Variant(f"summarize: {{{part}}}") for part in ("article", "document", "dialogue")
            ),
        ),
        Template("chat-turns", as_turns=True),
    )
}

AUTO = "auto"
"""Stands for the template of the model's family, if the contexts have its parts."""

_FAMILIES = {
    "mixqg": r"mixqg",
    "prophetnet": r"prophetnet.*squad-qg",
    "macaw": r"macaw",
    "unifiedqa": r"unifiedqa",
    "t5-ssm-nq": r"t5-.*ssm-nq",
    "t5-summarize": r"(^|/)t5-(small|base|large|3b|11b)$",
}
"""Template → pattern of the names of models that were trained on it."""


class Prompt(NamedTuple):
    """A rendered context and the text before its candidates."""

    context: PlainContext
    candidate_prefix: str


def find_template(name_or_text: str) -> Template:
    """Return the template of this name, or parse a text with {placeholders}.

    Raises:
        ScoringError: If it is neither, or braces do not match.
    """
    if name_or_text in TEMPLATES:
        return TEMPLATES[name_or_text]
    if not _placeholders(name_or_text):
        raise ScoringError(
            f'unknown template "{name_or_text}"{did_you_mean(name_or_text, TEMPLATES)}; choose '
            f"one of {', '.join(TEMPLATES)}, or "
            'write your own with {placeholders}, such as "Question: {question}"'
        )
    if has_surrogate(name_or_text):
        raise ScoringError(
            f'template "{name_or_text}" has half a surrogate pair, which is not a character; '
            "write it in UTF-8"
        )
    return Template(name_or_text, (Variant(name_or_text),))


def find_plain_template(name_or_text: str) -> Template:
    """Return a template as `find_template` does, if it does not need a chat template.

    Raises:
        ScoringError: If it is unknown, or turns contexts into chat turns.
    """
    found = find_template(name_or_text)
    if found.as_turns:
        raise ScoringError(
            f'template "{found.name}" renders chat turns, but here contexts are read as plain '
            "text; use --template default"
        )
    return found


def choose_template(asked: str, model: str, inputs: Iterable[Mapping[str, str] | None]) -> Template:
    """Return the requested template, or the one that `auto` selects.

    Args:
        asked: AUTO, or as for `find_template`.
        model: Name of the model.
        inputs: The parts of each context; if one lacks parts of the model's template, `auto` means
            the default.

    Raises:
        ScoringError: Same as in `find_template`.
    """
    if asked != AUTO:
        return find_template(asked)
    matching = (name for name, pattern in _FAMILIES.items() if re.search(pattern, model.lower()))
    found = TEMPLATES[next(matching, "default")]
    fits = all(
        any({*_placeholders(variant.context)} <= {*(parts or {})} for variant in found.variants)
        for parts in inputs
    )
    return found if fits else TEMPLATES["default"]


def render(
    template: Template, contexts: Sequence[str], inputs: Sequence[Mapping[str, str] | None]
) -> list[Prompt]:
    """Render every context.

    Args:
        template: From `find_template`.
        contexts: The stored context of each pair.
        inputs: Its parts by name, or None if the data has none; `{context}` always stands for the
            stored context.

    Raises:
        ScoringError: If a placeholder is not among the parts; the message lists the parts.
    """
    if not template.variants:
        return [Prompt(context, "") for context in contexts]
    return [
        _render_one(template, {"context": context, **(parts or {})}, parts or {})
        for context, parts in zip(contexts, inputs, strict=True)
    ]


def _render_one(template: Template, values: Mapping[str, str], parts: Mapping[str, str]) -> Prompt:
    fitting = [v for v in template.variants if set(_placeholders(v.context)) <= set(values)]
    if not fitting:
        missing = [
            _braced(dict.fromkeys(n for n in _placeholders(v.context) if n not in values))
            for v in template.variants
        ]
        raise ScoringError(
            f'template "{template.name}": the context has no {" and no ".join(missing)}; '
            f"known: {_braced(values)}"
        )
    # Prefer a variant that uses every part to one that leaves some out.
    best = max(fitting, key=lambda variant: len(set(_placeholders(variant.context)) & set(parts)))
    pieces: list[str] = []
    for literal, name in _parse(best.context):
        pieces.append(literal)
        if name is not None:
            pieces.append(values[name])
    return Prompt(tuple(pieces), best.candidate_prefix)


def _braced(names: Iterable[str]) -> str:
    return ", ".join(f"{{{name}}}" for name in names)


def _placeholders(text: str) -> list[str]:
    return [name for _, name in _parse(text) if name is not None]


def _parse(text: str) -> list[tuple[str, str | None]]:
    """Return literals and placeholders in alternation; doubled braces stand for braces."""
    try:
        fields = list(Formatter().parse(text))
    except ValueError as error:
        raise ScoringError(
            f'template "{text}": {error}; write {{{{ and }}}} for braces that are text'
        ) from error
    parsed: list[tuple[str, str | None]] = []
    for literal, name, spec, conversion in fields:
        if name is not None and (spec or conversion or not re.fullmatch(r"\w+", name)):
            raise ScoringError(f'template "{text}": write a placeholder as a plain {{name}}')
        if parsed and parsed[-1][1] is None:
            parsed[-1] = (parsed[-1][0] + literal, name)  # an escaped brace splits a literal
        else:
            parsed.append((literal, name))
    return parsed
