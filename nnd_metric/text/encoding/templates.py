"""Templates: how the parts of a context become the text that a model reads.

There are named templates for the paper's models (Laban et al. 2022, and its released code; T5 with
its own prefix), and the instruction of the data; others are strings with {placeholders}.
Special-token strings count as special in a template, but never in data.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count, takewhile
from typing import NamedTuple, cast

from nnd.metric.text.encoding.language_choice import LanguageTeller
from nnd.metric.text.encoding.requests import PairContext, PlainContext, ToldContext
from nnd.schemas import (
    Instruction,
    ScoringError,
    StoredContext,
    Wording,
    did_you_mean,
    digest_wording,
    fill_placeholders,
    fill_wording,
    has_surrogate,
    placeholders_in,
)


class Form(NamedTuple):
    """One rendering, for contexts with exactly the parts that its {placeholders} name.

    `candidate_prefix` stands before every candidate, and is scored with it.
    """

    context: str
    candidate_prefix: str = ""


@dataclass(frozen=True, slots=True)
class Template:
    """A way to render contexts.

    Attributes:
        variants: One per kind of context, distinguished by the placeholders; if empty, the stored
            context is read.
        separator: Text between context and candidate, for decoder-only models.
        as_turns: Whether a context is a dialogue whose turns become turns of a chat.
        as_pair: Whether a context and a candidate are the two texts of a masked model's pair.
        wording: The words of an instruction, which replace the variants.
        languages: Tells a multilingual model the languages of a pair; None for any other model.
    """

    name: str
    variants: tuple[Form, ...] = ()
    separator: str = " "
    as_turns: bool = False
    as_pair: bool = False
    wording: Wording | None = None
    languages: LanguageTeller | None = field(default=None, compare=False)

    @property
    def literals(self) -> list[str]:
        """The texts at the beginning of a context that are the template's own."""
        words = (self.wording or {}).values()
        texts = [*(variant.context for variant in self.variants), *words]
        return [
            fill_placeholders(text, dict.fromkeys(placeholders_in(text), ""))[0] for text in texts
        ]

    @property
    def instruction(self) -> str | None:
        """Digest of the words of an instruction (`digest_wording`), or None without one."""
        return None if self.wording is None else digest_wording(self.wording)

    @property
    def system(self) -> str | None:
        """Words that stand before a dialogue, as the turn of the system, or None.

        An instruction without placeholders has no place for the dialogue. It is not the last turn
        of the user, because that is the turn which the candidate answers.
        """
        if self.wording is None or not self.as_turns:
            return None
        (words,) = self.wording.values()
        return "".join(fill_placeholders(words, {}))


TEMPLATES: dict[str, Template] = {
    template.name: template
    for template in (
        Template("default"),
        Template("mixqg", (Form(r"{answer} \n {paragraph}"),)),
        Template("prophetnet", (Form("{answer} [SEP] {paragraph}"),)),
        Template(
            "macaw",
            (
                Form("$question$ ; $context$ = {paragraph} ; $answer$ = {answer}", "$question$ = "),
                Form("$answer$ ; $question$ = {question}", "$answer$ = "),
            ),
        ),
        Template(
            "unifiedqa",
            (Form(r"{question} \n {paragraph}"), Form("{question}")),
        ),
        Template("t5-ssm-nq", (Form("{question}"),)),
        Template(
            "t5-summarize",
            tuple(Form(f"summarize: {{{part}}}") for part in ("article", "document", "dialogue")),
        ),
        Template("chat-turns", as_turns=True),
        Template("pair", as_pair=True),
    )
}

INSTRUCTION = "instruction"
"""The instruction of the data; its paraphrases are instruction-2, instruction-3 and so on."""

SYSTEM = "system"
"""The part of a context that holds the words of the system, where others hold turns."""

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
    """A rendered context and the text before its candidates.

    Of a context that is stored in turns, `chat-turns` makes the pieces of a plain context: the
    words of the system, turn, "", turn and so on.
    """

    context: PlainContext | ToldContext
    candidate_prefix: str


def instruction_templates(instruction: Instruction | None) -> list[Template]:
    """Return the templates of an instruction and of its paraphrases."""
    return [
        Template(
            INSTRUCTION if number == 1 else f"{INSTRUCTION}-{number}",
            as_turns=not any(map(placeholders_in, wording.values())),
            wording=wording,
        )
        for number, wording in enumerate(instruction.wordings if instruction else (), start=1)
    ]


def _is_instruction(name: str) -> bool:
    return re.fullmatch(rf"{INSTRUCTION}(-[2-9])?", name) is not None


def check_template(name_or_text: str) -> None:
    """Check a template before any data is read."""
    if name_or_text != AUTO and not _is_instruction(name_or_text):
        find_template(name_or_text)


def find_template(name_or_text: str, instruction: Instruction | None = None) -> Template:
    """Return the template of this name, or parse a text with {placeholders}.

    Raises ScoringError if it is neither, braces do not match, or the data lacks the instruction.
    """
    if name_or_text in TEMPLATES:
        return TEMPLATES[name_or_text]
    if _is_instruction(name_or_text):
        templates = {template.name: template for template in instruction_templates(instruction)}
        if name_or_text in templates:
            return templates[name_or_text]
        if templates:
            known = ", ".join(templates)
            raise ScoringError(
                "template.unknown", f'the data has no template "{name_or_text}", only {known}'
            )
        raise ScoringError(
            "template.unknown",
            "the data has no instruction",
            f'template "{name_or_text}"',
            'use --template default, or write a template of your own, such as "Summarise '
            'this text: {context}"',
        )
    if not placeholders_in(name_or_text):
        names = [*TEMPLATES, INSTRUCTION]
        raise ScoringError(
            "template.unknown",
            f'unknown template "{name_or_text}"{did_you_mean(name_or_text, names)}',
            remedy=f"choose one of {', '.join(names)}, or write your own with "
            '{placeholders}, such as "Question: {question}"',
        )
    if has_surrogate(name_or_text):
        raise ScoringError(
            "cell.not-text",
            f'template "{name_or_text}" has half a surrogate pair, which is not a character',
            remedy="write it in UTF-8",
        )
    return Template(name_or_text, (Form(name_or_text),))


def find_plain_template(name_or_text: str, instruction: Instruction | None = None) -> Template:
    """Return a template as `find_template` does, if it does not need a chat template."""
    template = find_template(name_or_text, instruction)
    if template.as_pair:
        raise ScoringError(
            "protocol.another-model",
            f'template "{template.name}" is for masked language models (--protocol pll), '
            "but here contexts are read as plain text",
            remedy="use --template default",
        )
    if template.as_turns:
        raise ScoringError(
            "template.chat",
            f'template "{template.name}" renders chat turns, but here contexts are read as '
            "plain text",
        )
    return template


def choose_template(
    asked: str | None,
    model: str,
    contexts: Iterable[StoredContext],
    instruction: Instruction | None = None,
    *,
    as_chat: bool = False,
) -> Template:
    """Return the requested template, or the one that a model reads by itself.

    `asked` is what `find_template` takes; or AUTO, for the template of the model's family; or None,
    for what the model reads by itself: in a chat the instruction of the data, else the turns of the
    contexts, if there are any; otherwise the stored context. AUTO means the same as None if the
    family has no template, or if a context lacks parts of it.
    """
    if asked is not None and asked != AUTO:
        return find_template(asked, instruction)
    if asked == AUTO and (template := family_template(model, contexts)) is not None:
        return template
    if as_chat and instruction is not None:
        return find_template(INSTRUCTION, instruction)
    first = next(iter(contexts), None) if as_chat else None
    has_turns = first is not None and stored_turns(first.parts)
    return TEMPLATES["chat-turns" if has_turns else "default"]


def family_template(model: str, contexts: Iterable[StoredContext]) -> Template | None:
    """Return the template of a model's family, or None if it has none that fits the contexts."""
    matching = (name for name, pattern in _FAMILIES.items() if re.search(pattern, model.lower()))
    template = TEMPLATES.get(next(matching, ""))
    if template is None:
        return None
    needed = [{*placeholders_in(variant.context)} for variant in template.variants]
    fits = all(any(names <= {*(context.parts or {})} for names in needed) for context in contexts)
    return template if fits else None


def render(template: Template, contexts: Sequence[StoredContext]) -> list[Prompt]:
    """Render every context.

    Raises ScoringError if a placeholder is not among the parts, which the message lists, or if an
    instruction has no words for a kind of context.
    """
    prompts: list[Prompt] = []
    before = None
    for context in contexts:  # adjacent pairs are mostly of one context
        prompts.append(prompts[-1] if context is before else _render_one(template, context))
        before = context
    return prompts


def stored_turns(parts: Mapping[str, str] | None) -> tuple[str, ...]:
    """Return the turns of user and assistant among the parts of a context, turn_1 and so on."""
    turns = ((parts or {}).get(f"turn_{number}") for number in count(1))
    return tuple(takewhile(lambda turn: turn is not None, turns))  # type: ignore[arg-type]


def _render_one(template: Template, context: StoredContext) -> Prompt:
    prompt = _render_text(template, context)
    told = None if template.languages is None else template.languages.told(context)
    if told is None:
        return prompt
    return prompt._replace(context=ToldContext(cast("PlainContext", prompt.context), told))


def _render_text(template: Template, context: StoredContext) -> Prompt:
    if template.wording is not None and not template.as_turns:
        return Prompt(fill_wording(template.wording, context), "")
    if template.as_turns and (turns := stored_turns(context.parts)):
        system = (context.parts or {}).get(SYSTEM, "")
        return Prompt((system, *(piece for turn in turns for piece in (turn, ""))), "")
    if template.as_pair:
        return Prompt(PairContext(("", context.text)), "")
    if not template.variants:
        return Prompt(context.text, "")
    values = context.values
    fitting = [v for v in template.variants if set(placeholders_in(v.context)) <= set(values)]
    if not fitting:
        missing = [
            _braced(dict.fromkeys(n for n in placeholders_in(v.context) if n not in values))
            for v in template.variants
        ]
        raise ScoringError(
            "template.placeholder",
            f"the context has no {' and no '.join(missing)}",
            f'template "{template.name}"',
            f"known: {_braced(values)}",
        )
    # Prefer a variant that uses every part to one that leaves some out.
    parts = {*(context.parts or {})}
    best = max(fitting, key=lambda variant: len({*placeholders_in(variant.context)} & parts))
    return Prompt(fill_placeholders(best.context, values), best.candidate_prefix)


def _braced(names: Iterable[str]) -> str:
    return ", ".join(f"{{{name}}}" for name in names)
