"""What a chat template writes around turns and a candidate, found with stand-ins for both.

A candidate never goes through a template: many templates change it, by trimming its blanks or by
cutting out what looks like a thought. Instead a stand-in does, twice with other words: what stands
before it is what every candidate follows. Where the two renderings differ in more than the
stand-in, or it is missing or doubled, the template is refused.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from transformers import PreTrainedTokenizerBase

from nnd.schemas import ScoringError, excerpt

_STAND_INS = ("nndAnswerLima", "nndAnswerOslo")

DATE = "26 Jul 2024"
"""The day that templates are given for today's: another day would give other numbers."""

_CODES = {"%Y": "2024", "%m": "07", "%d": "26", "%B": "July", "%b": "Jul", "%A": "Friday"}
_REPLACED = "".join(f'|replace("{code}", "{value}")' for code, value in _CODES.items())
_CLOCK = f"{{% macro strftime_now(format) %}}{{{{ format{_REPLACED} }}}}{{% endmacro %}}\n"
"""Takes the place of the clock that transformers gives to templates."""

REMEDY = "give another with --chat-template FILE, or read plain text with --chat-template none"

_LONGEST_REASON = 200

Message = dict[str, str]


class Shape(NamedTuple):
    """What a template writes around turns, whatever they say.

    Attributes:
        written: What it writes before the first turn, between turns, and before the candidate.
        end: What it writes behind the candidate.
    """

    written: tuple[str, ...]
    end: str


@dataclass(frozen=True, slots=True)
class Renderer:
    """A template with all that it is given beside the turns.

    Attributes:
        tokenizer: Names the special tokens that a template may write.
        text: The template.
        label: What messages call it.
        arguments: Handed to it.
        system: Text of the system turn; None: there is none.
    """

    tokenizer: PreTrainedTokenizerBase
    text: str
    label: str
    arguments: Mapping[str, Any]
    system: str | None = None

    def prompt(self, turns: Sequence[str]) -> str:
        """Return what a template writes for a model to go on from: the turns and an opening."""
        return self._write(self._messages(turns), add_generation_prompt=True)

    def before(self, turns: Sequence[str]) -> str:
        """Return what stands before a candidate that follows the turns."""
        return self._around(turns, _STAND_INS[0])[0]

    def around(self, turns: Sequence[str]) -> tuple[str, str]:
        """Return what stands before and behind a candidate that follows the turns.

        Raises:
            ScoringError: If the template does not write a candidate once, and as it is.
        """
        found = {self._around(turns, answer) for answer in _STAND_INS}
        if len(found) > 1:
            raise self.error("writes other text around another answer", REMEDY)
        return found.pop()

    def shape(self, turns: int) -> Shape:
        """Return what the template writes around so many turns of user and assistant.

        Raises:
            ScoringError: If it does not write each of them once, in order.
        """
        stand_ins = [f"nndTurn{number}x" for number in range(turns)]
        before, end = self.around(stand_ins)
        written = []
        for stand_in in stand_ins:
            if before.count(stand_in) != 1:
                raise self._miscounted("the context", before.count(stand_in))
            text, _, before = before.partition(stand_in)
            written.append(text)
        return Shape((*written, before), end)

    def error(self, problem: str, remedy: str) -> ScoringError:
        """Return an error that says what is wrong with the template, and what to do."""
        return ScoringError(f"{self.label}: the template {problem}; {remedy}")

    def _around(self, turns: Sequence[str], answer: str) -> tuple[str, str]:
        messages = [*self._messages(turns), {"role": "assistant", "content": answer}]
        text = self._write(messages)
        if text.count(answer) != 1:
            raise self._miscounted("an answer", text.count(answer))
        before, _, behind = text.partition(answer)
        return before, behind

    def _messages(self, turns: Sequence[str]) -> list[Message]:
        roles = ("user", "assistant")
        found = [{"role": roles[number % 2], "content": turn} for number, turn in enumerate(turns)]
        first = [] if self.system is None else [{"role": "system", "content": self.system}]
        return first + found

    def _write(self, messages: Sequence[Message], *, add_generation_prompt: bool = False) -> str:
        text = f"{_CLOCK}{self.text}" if "strftime_now" in self.text else self.text
        try:
            written = self.tokenizer.apply_chat_template(
                list(messages),
                chat_template=text,
                tokenize=False,
                add_generation_prompt=add_generation_prompt,
                **self.arguments,
            )
        except Exception as error:  # a template fails in any way
            reason = excerpt(" ".join((str(error) or repr(error)).split()), _LONGEST_REASON)
            raise self.error(f'cannot be rendered: "{reason}"', REMEDY) from error
        return str(written)

    def _miscounted(self, what: str, times: int) -> ScoringError:
        if times:
            return self.error(f"writes {what} {times} times", REMEDY)
        if self._takes_parts():
            return self.error(
                "takes contents as lists of parts (texts and images), and leaves out plain ones",
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
