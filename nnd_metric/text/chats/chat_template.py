"""A chat template, ready to render."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

from nnd.metric.text.chats.chat_options import Chat, template_excess
from nnd.metric.text.chats.chat_shape import DATE, REMEDY, ChatShape, Renderer
from nnd.metric.text.chats.dialogues import split_turns
from nnd.metric.text.encoding.requests import ChatContext, Context, PlainContext, Tokenizer
from nnd.metric.text.encoding.templates import Template
from nnd.metric.text.encoding.tokens import special_frame
from nnd.schemas import ScoringError, excerpt

_SYSTEM = "nndSystemText"

_THOUGHTS = {
    "<think>": "</think>",
    "<thinking>": "</thinking>",
    "<thought>": "</thought>",
    "<reasoning>": "</reasoning>",
    "[THINK]": "[/THINK]",
    "<|START_THINKING|>": "<|END_THINKING|>",
    "<|channel|>analysis<|message|>": "<|channel|>final<|message|>",
}
"""What opens a thought of a reasoning model → what closes it."""


@dataclass(frozen=True, slots=True)
class ChatTemplate:
    """A chat template with all its arguments except the context.

    Attributes:
        source: "tokenizer", or the name of a file.
        system: Text of the system turn, whether given or the template's own, or None.
        separator: Spaces that the template writes right before a candidate; they belong to it.
        end: Text that the template writes after a candidate. It is not scored.
        as_turns: Whether a context is a dialogue whose turns become turns of the chat.
        keeps_words: Whether the words around data, those of an instruction, are never cut.
        shapes: Number of turns, and the words of the system if a context has its own → what the
            template writes around them, as far as computed.
    """

    renderer: Renderer
    source: str
    system: str | None
    separator: str
    end: str
    as_turns: bool
    keeps_words: bool
    caveats: tuple[str, ...]
    shapes: dict[tuple[int, str | None], ChatShape] = field(
        default_factory=dict, repr=False, compare=False
    )
    rendered: dict[Context, ChatContext] = field(default_factory=dict, repr=False, compare=False)

    @property
    def digest(self) -> str:
        """The first 8 digits of the SHA-256 of template, arguments and system text."""
        given = [self.renderer.text, dict(self.renderer.arguments), self.renderer.system]
        text = json.dumps(given, sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()[:8]

    @property
    def date(self) -> str | None:
        """The date passed to the template as today's, or None if it does not use one."""
        if date := self.renderer.arguments.get("date_string"):
            return str(date)
        return DATE if "strftime_now" in self.renderer.text else None

    @property
    def writes_bos(self) -> bool:
        """Whether a chat begins with the tokenizer's bos token."""
        return _begins_with_bos(self.renderer.tokenizer, self._shape(1).written[0])

    def render(self, contexts: Sequence[Context]) -> list[ChatContext]:
        """Return each context as the template writes it, up to the candidate.

        Special-token strings in a context stay text. A chat is returned unchanged.
        """
        for context in contexts:
            if context not in self.rendered:
                self.rendered[context] = self._render_one(context)
        return [self.rendered[context] for context in contexts]

    def _render_one(self, context: Context) -> ChatContext:
        if isinstance(context, ChatContext):
            return context
        context = cast("PlainContext", context)  # models that are given languages read no chats
        turns, system = self._turns(context)
        before = self._renderer(system).before(turns)
        pieces = _find_turns(before, self._shape(len(turns), system).written, turns)
        if pieces is None:
            raise self.renderer.error(
                f'writes the context "{excerpt(turns[-1])}" differently from others', REMEDY
            )
        pieces = (*pieces[:-1], pieces[-1].removesuffix(self.separator))
        if isinstance(context, str) or not self.keeps_words:
            return ChatContext(pieces)
        first, turn, last = pieces
        words = _strip_to(context, turn)
        if words is None:
            return ChatContext(pieces)
        return ChatContext((first + words[0], *words[1:-1], words[-1] + last), longest_first=True)

    def _turns(self, context: PlainContext) -> tuple[Sequence[str], str | None]:
        """Return the turns of a context, and the words of the system if it has its own."""
        if self.as_turns and not isinstance(context, str):  # stored in turns (`Prompt`)
            return context[1::2], context[0] or None
        text = "".join(context)
        return (split_turns(text) if self.as_turns and text else [text]), None

    def _renderer(self, system: str | None) -> Renderer:
        return self.renderer if system is None else replace(self.renderer, system=system)

    def _shape(self, turns: int, system: str | None = None) -> ChatShape:
        if (turns, system) not in self.shapes:
            self.shapes[turns, system] = self._renderer(system).shape(turns)
        return self.shapes[turns, system]


def make_chat_template(
    tokenizer: Tokenizer,
    text: str,
    options: Chat,
    *,
    name: str,
    template: Template,
) -> ChatTemplate:
    """Return a chat template with its arguments, and check that it can be used.

    Raises ScoringError if the template changes or omits its input, is too large, or opens a
    thought.
    """
    arguments = dict(options.arguments)
    if "date_string" in text:
        arguments.setdefault("date_string", DATE)
    renderer = Renderer(tokenizer, text, name, arguments)
    if excess := template_excess(text):
        raise renderer.error(excess, REMEDY)
    renderer = _without_thought(renderer)
    renderer, system = _with_system(renderer, options.system)
    shape = renderer.shape(1)
    last = shape.written[-1]
    if mark := _open_thought(last):
        raise renderer.error(
            f"opens a thought ({mark}) before the answer, so a candidate would be scored inside it",
            f"close it with an argument of the template (--template-arg), {REMEDY}",
        )
    bos = tokenizer.bos_token
    opens_turns = bool(bos) and bos in last
    if bos and shape.written[0].startswith(bos * (3 if opens_turns else 2)):
        raise renderer.error(
            f"begins with {bos} {'three times' if opens_turns else 'twice'}", REMEDY
        )
    return ChatTemplate(
        renderer,
        source="tokenizer" if options.file is None else str(options.file),
        system=system,
        separator=last[len(last.rstrip(" ")) :],
        end=shape.end,
        as_turns=template.as_turns,
        keeps_words=template.wording is not None and not template.as_turns,
        caveats=tuple(_caveats(renderer)),
    )


def _without_thought(renderer: Renderer) -> Renderer:
    """Return a renderer with thinking switched off, if the template and the options allow it."""
    if "enable_thinking" in renderer.arguments:
        return renderer
    without = replace(renderer, arguments={**renderer.arguments, "enable_thinking": False})
    same = without.shape(1) == renderer.shape(1) and without.prompt(["a"]) == renderer.prompt(["a"])
    return renderer if same else without


def _with_system(renderer: Renderer, asked: str | None) -> tuple[Renderer, str | None]:
    """Return a renderer with the requested system turn, and the text of that turn."""
    brought = _brought_system(renderer)
    if asked is None:
        return renderer, brought
    if not asked:
        # Only an empty turn removes the template's own system text.
        return (renderer, None) if brought is None else (replace(renderer, system=""), "")
    chosen = replace(renderer, system=asked)
    if asked.strip() not in chosen.shape(1).written[0]:
        raise renderer.error("leaves out the system text", "leave out --system-prompt")
    return chosen, asked


def _brought_system(renderer: Renderer) -> str | None:
    """Return the system text that a template writes by itself, or None without a system turn."""
    by_itself = renderer.shape(1).written[0]
    try:
        given = replace(renderer, system=_SYSTEM).shape(1).written[0]
    except ScoringError:  # it takes no system turn
        return None
    before, found, behind = given.partition(_SYSTEM)
    middle = len(by_itself) - len(behind)
    if not found or middle < len(before):
        return None
    fits = by_itself.startswith(before) and by_itself.endswith(behind)
    return by_itself[len(before) : middle] if fits else None


def _caveats(renderer: Renderer) -> Iterator[str]:
    if mark := _open_thought(renderer.prompt(["a"])):
        yield (
            f"the model thinks before it answers ({mark}), but candidates are scored as answers "
            "without a thought"
        )
    tokenizer, first = renderer.tokenizer, renderer.shape(1).written[0]
    if special_frame(tokenizer).lead and not _begins_with_bos(tokenizer, first):
        yield (
            "the tokenizer puts a special token before a text, but the chat template does not; "
            "chats are read as the template writes them"
        )


def _open_thought(text: str) -> str | None:
    """Return the mark of a thought that a text opens and does not close, or None."""
    opened = (mark for mark, end in _THOUGHTS.items() if text.rfind(mark) > text.rfind(end))
    return next(opened, None)


def _begins_with_bos(tokenizer: Tokenizer, text: str) -> bool:
    return bool(tokenizer.bos_token) and text.startswith(str(tokenizer.bos_token))


def _find_turns(text: str, written: Sequence[str], turns: Sequence[str]) -> tuple[str, ...] | None:
    """Return, in alternation, the template's texts and the rendered turns; None if unclear.

    A template may trim turns; it may change a single turn in any way.
    """
    pieces, rest = [written[0]], text.removeprefix(written[0])
    for turn, behind in zip(turns, written[1:], strict=True):
        made = next((t for t in (turn, turn.strip()) if rest.startswith(t + behind)), None)
        if made is None:
            break
        pieces += [made, behind]
        rest = rest[len(made) + len(behind) :]
    if "".join(pieces) == text and len(pieces) == 2 * len(turns) + 1:
        return tuple(pieces)
    first, last = written[0], written[-1]
    middle = len(text) - len(last)
    if len(turns) == 1 and middle >= len(first) and text.startswith(first) and text.endswith(last):
        return first, text[len(first) : middle], last
    return None


def _strip_to(context: Sequence[str], turn: str) -> tuple[str, ...] | None:
    """Return the pieces of a context as a template wrote them: literal, data, …, literal.

    The template may have trimmed white space at both ends of the turn; if it changed the turn in
    another way, return None.
    """
    pieces = [*context, ""] if len(context) % 2 == 0 else [*context]
    whole = "".join(pieces)
    if turn not in (whole, whole.strip()):
        return None
    start = whole.index(turn)
    end, at = start + len(turn), 0
    kept = []
    for piece in pieces:
        kept.append(piece[max(start - at, 0) : max(end - at, 0)])
        at += len(piece)
    return tuple(kept)
