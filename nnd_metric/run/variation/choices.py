"""The dimensions of choices in scoring, and the choices of each."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from nnd.metric.likelihood import LoadedModel, Loading, Scoring
from nnd.metric.run.variation.rewording import RAW, REWORDINGS
from nnd.metric.text import (
    AUTO,
    NONE,
    PROTOCOLS,
    Chat,
    ChatChoice,
    Template,
    choose_rendering,
    find_protocol,
    instruction_templates,
)
from nnd.schemas import Instruction, ScoringError, check_known

_SEPARATORS = {"space": " ", "newline": "\n", "nothing": ""}
_DTYPES = ("float32", "bfloat16", "float16")


@dataclass(frozen=True, slots=True)
class Choice:
    """A way to score pairs, which differs from the default in one dimension.

    The default itself has the dimension "default". `wording` says how texts are written: RAW, or
    one of REWORDINGS.
    """

    dimension: str
    name: str
    scoring: Scoring
    loading: Loading
    wording: str = RAW
    instruction: Instruction | None = None


Others: TypeAlias = Mapping[str, Choice]
"""Name of a choice → the choice."""


def _separator(base: Choice, loaded: LoadedModel) -> str:
    if loaded.is_encoder_decoder:
        raise ScoringError(
            "variation.no-choice", "an encoder-decoder reads no separator before a candidate"
        )
    if find_protocol(base.scoring.protocol).tokens not in {"native", "masked"}:
        raise ScoringError(
            "variation.no-choice", f"protocol {base.scoring.protocol} uses no separator"
        )
    template, chat = _render(base, base.scoring, loaded)
    if chat.template is not None:
        raise ScoringError(
            "variation.no-choice", "the chat template writes what is before a candidate"
        )
    chosen = template.separator
    return next((name for name, text in _SEPARATORS.items() if text == chosen), repr(chosen))


def _chat_template(base: Choice, loaded: LoadedModel) -> str:
    asked = base.scoring.chat
    wanted = Chat() if asked.template == NONE else asked
    _, possible = _render(base, replace(base.scoring, chat=wanted), loaded)
    if possible.template is None:
        raise ScoringError("variation.no-choice", str(possible.reason))
    return str(asked.template)


def _template(base: Choice, loaded: LoadedModel) -> str:
    if base.instruction is None:
        raise ScoringError(
            "variation.no-choice",
            "the data has no instruction, so only the stored context can be read",
        )
    template, _ = _render(base, base.scoring, loaded)
    return template.name


def _render(base: Choice, scoring: Scoring, loaded: LoadedModel) -> tuple[Template, ChatChoice]:
    return choose_rendering(
        loaded,
        find_protocol(scoring.protocol),
        scoring.chat,
        scoring.template,
        instruction=base.instruction,
        separator=scoring.separator,
        languages=scoring.languages,
    )


def _readings(base: Choice, **changes: Mapping[str, Any]) -> Others:
    """Return choices that read in other ways: field of `Scoring` → name of a choice → value."""
    ((field, values),) = changes.items()
    return {
        name: replace(base, scoring=replace(base.scoring, **{field: value}))
        for name, value in values.items()
    }


def _protocols_like(name: str) -> dict[str, str]:
    """Return the protocols for masked models if this is one, and else all others."""
    is_masked = find_protocol(name).hides is not None
    return {each.name: each.name for each in PROTOCOLS.values() if bool(each.hides) == is_masked}


def _templates(base: Choice) -> Others:
    names = ("default", *(each.name for each in instruction_templates(base.instruction)))
    return _readings(base, template=dict(zip(names, names, strict=True)))


def _chats(base: Choice) -> Others:
    return _readings(base, chat={AUTO: replace(base.scoring.chat, template=AUTO), NONE: Chat(NONE)})


def _dtypes(base: Choice) -> Others:
    return {name: replace(base, loading=replace(base.loading, dtype=name)) for name in _DTYPES}


Dimension = Literal["protocol", "template", "chat-template", "dtype", "separator", "normalise"]

DIMENSIONS: dict[str, tuple[Callable[[Choice, LoadedModel], str], Callable[[Choice], Others]]] = {
    "protocol": (
        lambda base, _: base.scoring.protocol,
        lambda base: _readings(base, protocol=_protocols_like(base.scoring.protocol)),
    ),
    "template": (_template, _templates),
    "chat-template": (_chat_template, _chats),
    "dtype": (lambda _, loaded: loaded.dtype, _dtypes),
    "separator": (_separator, lambda base: _readings(base, separator=_SEPARATORS)),
    "normalise": (
        lambda base, _: base.wording,
        lambda base: {name: replace(base, wording=name) for name in REWORDINGS},
    ),
}
"""Dimension → its default choice (ScoringError if there is none), and all choices by name."""


def check_dimensions(names: Sequence[str]) -> None:
    """Check, before any model is loaded, that dimensions exist."""
    code = "option.unknown-value"
    check_known("dimension", names, DIMENSIONS, "--vary", code=code, family=ScoringError)
    if not names:
        raise ScoringError(
            "input.missing", where="--vary", remedy=f"name at least one of {', '.join(DIMENSIONS)}"
        )


def choices_of(name: str, base: Choice, loaded: LoadedModel) -> tuple[str, list[Choice]]:
    """Return the default choice of a dimension, and all other choices."""
    find_default, find_others = DIMENSIONS[name]
    default = find_default(base, loaded)
    others = find_others(base).items()
    return default, [
        replace(choice, dimension=name, name=own) for own, choice in others if own != default
    ]
