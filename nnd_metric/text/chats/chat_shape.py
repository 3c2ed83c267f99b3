"""What a chat template writes around turns and a candidate, found with placeholder texts.

A candidate is never rendered by a template: many templates would change it, by trimming its spaces
or by removing what looks like a thought. Instead, a placeholder is rendered, twice with different
words: every candidate follows the text before it. The template is refused if the two renderings
differ in more than the placeholder, or if it is missing or repeated.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from nnd.metric.text.chats.chat_options import LONGEST
from nnd.metric.text.chats.render_budget import rendering_budget
from nnd.metric.text.encoding.requests import Tokenizer
from nnd.schemas import ScoringError, excerpt

_STAND_INS = ("nndAnswerLima", "nndAnswerOslo")

DATE = "26 Jul 2024"
"""The date passed to templates as today's: another date would change the numbers."""

_CODES = {"%Y": "2024", "%m": "07", "%d": "26", "%B": "July", "%b": "Jul", "%A": "Friday"}
_REPLACED = "".join(f'|replace("{code}", "{value}")' for code, value in _CODES.items())
_CLOCK = f"{{% macro strftime_now(format) %}}{{{{ format{_REPLACED} }}}}{{% endmacro %}}\n"
"""Replaces the clock that transformers passes to templates."""

REMEDY = (
    "give another one with --chat-template FILE, or use --chat-template none for plain text (of "
    "nnd evaluate, nnd train and nnd export)"
)

_LONGEST_REASON = 200

Message = dict[str, str]


class ChatShape(NamedTuple):
    """What a template writes around turns, whatever their texts.

    `written` are the texts before the first turn, between turns, and before the candidate; `end` is
    the text after it.
    """

    written: tuple[str, ...]
    end: str


@dataclass(frozen=True, slots=True)
class Renderer:
    """A template with all its arguments except the turns; `label` is its name in messages."""

    tokenizer: Tokenizer
    text: str
    label: str
    arguments: Mapping[str, Any]
    system: str | None = None

    @property
    def template(self) -> str:
        """The text that transformers renders: of templates that read the clock, with a clock."""
        return f"{_CLOCK}{self.text}" if "strftime_now" in self.text else self.text

    def prompt(self, turns: Sequence[str]) -> str:
        """Return the text that a model continues: the turns and the beginning of an answer."""
        return self._write(self._messages(turns), add_generation_prompt=True)

    def before(self, turns: Sequence[str]) -> str:
        """Return the text before a candidate that follows the turns."""
        return self._around(turns, _STAND_INS[0])[0]

    def around(self, turns: Sequence[str]) -> tuple[str, str]:
        """Return the texts before and after a candidate that follows the turns.

        Raises ScoringError if the template does not write a candidate exactly once and unchanged.
        """
        first, second = (self._around(turns, answer) for answer in _STAND_INS)
        if first != second:
            raise self.error("writes different text around a different answer", REMEDY)
        return first

    def shape(self, turns: int) -> ChatShape:
        """Return what the template writes around this many turns of user and assistant.

        Raises ScoringError if it does not write each of them once, in order.
        """
        stand_ins = [f"nndTurn{number}x" for number in range(turns)]
        before, end = self.around(stand_ins)
        written = []
        for stand_in in stand_ins:
            if before.count(stand_in) != 1:
                raise self._miscounted("the context", before.count(stand_in))
            text, _, before = before.partition(stand_in)
            written.append(text)
        return ChatShape((*written, before), end)

    def error(self, problem: str, remedy: str) -> ScoringError:
        """Return an error that says what is wrong with the template, and what to do."""
        return ScoringError("template.chat", f"the template {problem}", self.label, remedy)

    def _around(self, turns: Sequence[str], answer: str) -> tuple[str, str]:
        messages = [*self._messages(turns), {"role": "assistant", "content": answer}]
        text = self._write(messages)
        if text.count(answer) != 1:
            raise self._miscounted("an answer", text.count(answer))
        before, _, behind = text.partition(answer)
        return before, behind

    def _messages(self, turns: Sequence[str]) -> list[Message]:
        roles = ("user", "assistant")
        first = [] if self.system is None else [{"role": "system", "content": self.system}]
        return first + [{"role": roles[n % 2], "content": turn} for n, turn in enumerate(turns)]

    def _write(self, messages: Sequence[Message], *, add_generation_prompt: bool = False) -> str:
        try:
            with rendering_budget():
                written = self.tokenizer.apply_chat_template(
                    list(messages),
                    chat_template=self.template,
                    tokenize=False,
                    add_generation_prompt=add_generation_prompt,
                    **self.arguments,
                )
        except Exception as error:  # a template may raise anything
            reason = excerpt(" ".join((str(error) or repr(error)).split()), _LONGEST_REASON)
            raise self.error(f'cannot be rendered: "{reason}"', REMEDY) from error
        most = LONGEST + 8 * sum(len(message["content"]) for message in messages)
        if len(written) > most:
            raise self.error(f"writes {len(written):,} characters", REMEDY)
        return str(written)

    def _miscounted(self, what: str, times: int) -> ScoringError:
        if times:
            return self.error(f"writes {what} {times} times", REMEDY)
        if self._takes_parts():
            return self.error(
                "expects contents as lists of parts (texts and images), and leaves out plain text",
                REMEDY,
            )
        return self.error(f"leaves out {what}", REMEDY)

    def _takes_parts(self) -> bool:
        parts: Any = [{"type": "text", "text": _STAND_INS[0]}]
        messages = [{"role": role, "content": parts} for role in ("user", "assistant")]
        try:
            return self._write(messages).count(_STAND_INS[0]) == len(messages)
        except ScoringError:
            return False
