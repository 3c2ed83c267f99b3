"""The options for rendering contexts as chats, and the rendering as results store it."""

import hashlib
import inspect
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from nnd.metric.text.chats.render_budget import OverBudgetError, rendering_budget
from nnd.metric.text.encoding.protocols import Protocol
from nnd.metric.text.encoding.templates import AUTO
from nnd.schemas import SPARSE, Count, Limit, Name, Record, ScoringError

NONE = "none"

LONGEST = 2**20
"""Most characters of a template, and of what it writes around turns; real ones have some thousands.

Templates come from strangers, and Jinja takes a minute for `'x' * 1000000000`."""


@dataclass(frozen=True, slots=True)
class Chat:
    """How contexts become chats.

    Attributes:
        template: Render contexts as chats: with the tokenizer's own template if a decoder-only
            model has one (auto), with a Jinja file, or not at all (none).
        system: Text of a chat's system turn; '' removes the default of the chat template. None
            means the template's default.
        arguments: Argument of the chat template, such as enable_thinking=false. In Python, a
            mapping: {"enable_thinking": False}.
    """

    template: str | Path = AUTO
    system: str | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict)

    @property
    def file(self) -> Path | None:
        """The file with the template, or None."""
        return None if self.template in (AUTO, NONE) else Path(self.template)

    @property
    def is_explicit(self) -> bool:
        """Whether an option was given that only a chat template can serve."""
        return self.file is not None or self.system is not None or bool(self.arguments)

    def read_file(self) -> str:
        """Return the template in the file.

        Raises:
            ScoringError: If the file is missing, or is not a Jinja template.
        """
        path = Path(self.template)
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError, ValueError) as error:
            reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
            raise ScoringError(
                "template.chat",
                reason,
                f'chat template "{path}"',
                "give auto, none, or a file with a Jinja template",
            ) from error
        _check_syntax(path, text)
        return text

    def check(self, protocol: Protocol) -> None:
        """Check, before any model is loaded, that the options can be used.

        Raises:
            ScoringError: If one cannot; the message says which and why.
        """
        if self.template == NONE and self.is_explicit:
            raise ScoringError(
                "option.conflict",
                "a system text and template arguments need a chat template, but "
                "--chat-template is none",
                remedy="leave out --chat-template none, or --system-prompt and --template-arg",
            )
        if self.is_explicit and protocol.tokens != "native":
            raise ScoringError(
                "option.conflict",
                f'protocol "{protocol.name}" reads contexts as plain text',
                remedy="use native, sum or bytes, or leave out --chat-template, --system-prompt "
                "and --template-arg",
            )
        for name in self.arguments:
            if name in _reserved():
                raise ScoringError(
                    "template.chat",
                    f'template argument "{name}" is set by nnd itself',
                    remedy="leave it out, and use --system-prompt for the text of the system turn",
                )
        if self.file is not None:
            self.read_file()

    def stored(self) -> "ChatOptions":
        """Return the options as results store them."""
        template = str(self.template)
        if self.file is not None:
            template = hashlib.sha256(self.read_file().encode()).hexdigest()[:8]
        return ChatOptions(template, self.system, self.arguments)


@dataclass(frozen=True, slots=True)
class ChatOptions(Record):
    """What the user asked for, as results store it.

    Attributes:
        template: `auto`, `none`, or the first 8 digits of the SHA-256 of a file.
        system: Text of the system turn, or None.
        arguments: Arguments of the template.
    """

    template: Name
    system: str | None
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RequestEnds(Record):
    """Both ends of a context as it was read.

    Attributes:
        begin: The first characters.
        end: The last, right before the candidate.
    """

    begin: str
    end: str


@dataclass(frozen=True, slots=True)
class Rendering(Record):
    """How contexts were rendered: as the turns of a chat, or as plain text.

    Attributes:
        template: The first 8 digits of the SHA-256 of template, arguments and system text; or
            `none` for plain text, where the fields after `reason` are absent.
        asked: What the user asked for.
        reason: What the model reads, and why.
        source: `tokenizer`, or the name of the file that the template is from.
        system: Text of the system turn, whether given or brought by the template; None if the
            template writes none.
        arguments: What the template was given beside the turns, chosen by nnd or by the user.
        date: The day that the template was given as today's; None if it does not ask.
        bos: Whether a chat begins with the tokenizer's token for that; never twice.
        end: What the template writes behind the candidate, such as the end of the turn.
        end_scored: Whether that is scored with the candidate.
        example: In older results: the first context.
        neutralised: Contexts whose text spells a token that only the template may write; it was
            read as text.
    """

    template: Annotated[str, Limit("pattern", "^(none|[0-9a-f]{8})$")]
    asked: ChatOptions
    reason: Name
    source: Annotated[Name | None, SPARSE] = None
    system: str | None = None
    arguments: Annotated[Mapping[str, Any] | None, SPARSE] = None
    date: str | None = None
    bos: Annotated[bool | None, SPARSE] = None
    end: Annotated[str | None, SPARSE] = None
    end_scored: Annotated[bool | None, SPARSE] = None
    example: Annotated[RequestEnds | None, SPARSE] = None
    neutralised: Annotated[Count | None, SPARSE] = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values."""
        stored = Record.to_dict(self)
        if self.source is None:
            del stored["system"], stored["date"]
        return stored


def template_excess(template: str) -> str | None:
    """Return what makes a template too large to be read, or None."""
    from jinja2 import Environment, TemplateSyntaxError  # noqa: PLC0415 - slow

    if len(template) > LONGEST:
        return f"has {len(template):,} characters, more than {LONGEST:,}"
    product, multiplies = 1, False
    with suppress(TemplateSyntaxError):  # rendering explains it
        for _, kind, written in Environment(autoescape=True).lex(template):
            if kind == "operator" and written == "**":
                return "computes a power"
            if kind.endswith("_begin"):
                product, multiplies = 1, False
            number = int(written.replace("_", ""), 0) if kind == "integer" else 1
            product *= max(1, number)
            multiplies = multiplies or (kind == "operator" and written == "*")
            if number > LONGEST:
                return f"computes with {written}, a number above {LONGEST:,}"
            if multiplies and product > LONGEST:
                return f"multiplies to {product:,}, a number above {LONGEST:,}"
    return None


def _check_syntax(path: Path, text: str) -> None:
    from jinja2 import TemplateError, TemplateSyntaxError  # noqa: PLC0415 - and transformers: slow
    from transformers.utils.chat_template_utils import render_jinja_template  # noqa: PLC0415

    if excess := template_excess(text):
        raise ScoringError(
            "template.chat",
            f"it {excess}",
            f'chat template "{path}"',
            "give a shorter one, or use --chat-template none",
        )
    try:
        with rendering_budget():
            render_jinja_template([[{"role": "user", "content": "a"}]], chat_template=text)
    except TemplateSyntaxError as error:
        raise ScoringError(
            "template.chat",
            f"not valid Jinja: {error.message}",
            f'chat template "{path}" line {error.lineno}',
            "correct it, or use --chat-template none",
        ) from error
    except (OverBudgetError, TemplateError, TypeError, ValueError, LookupError, AttributeError):
        return  # its output is checked later, with the model's tokenizer


def _reserved() -> set[str]:
    """Return the names that `apply_chat_template` does not pass to a template."""
    from transformers import PreTrainedTokenizerBase  # noqa: PLC0415 - slow

    parameters = inspect.signature(PreTrainedTokenizerBase.apply_chat_template).parameters
    return {*parameters, "messages"}


def describe_options(asked: Mapping[str, Any]) -> str:
    """Return stored chat options (`ChatOptions`) as options of the command."""
    arguments = [f"--template-arg {name}={value}" for name, value in asked["arguments"].items()]
    system = [] if asked["system"] is None else [f'--system-prompt "{asked["system"]}"']
    return " ".join([f"--chat-template {asked['template']}", *system, *arguments])
