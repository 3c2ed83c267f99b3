"""Pairs in messages, as TRL, RewardBench and UltraFeedback store them.

A prompt is a text or a list of messages, {role, content}. So are both answers; as messages, they
may begin with the prompt, and without a prompt they share their first messages: the implicit prompt
of TRL (https://huggingface.co/docs/trl/dataset_formats).
"""

from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Any, NamedTuple, TypeAlias

from nnd.schemas import ScoringError

Cell: TypeAlias = str | Sequence[Mapping[str, Any]] | None


_SHARE_GPT = {"human": "user", "gpt": "assistant"}
"""Roles in ShareGPT's form, {from, value}, with other names."""


class Message(NamedTuple):
    """A message of a conversation."""

    role: str
    content: str


class MessagePair(NamedTuple):
    """Two answers to a conversation.

    The prompt has the messages before the answer: perhaps one of the system, then user and
    assistant in turn; the user begins and ends.
    """

    prompt: tuple[Message, ...]
    high: str
    low: str

    @property
    def is_dialogue(self) -> bool:
        """Whether the prompt is more than a single turn of the user."""
        return len(self.prompt) > 1

    @property
    def context(self) -> str:
        """The prompt as plain text; that of a dialogue asks for the next turn of the assistant."""
        if not self.is_dialogue:
            return "".join(message.content for message in self.prompt)
        lines = [f"{message.role}: {message.content}" for message in self.prompt]
        return "\n".join([*lines, "assistant:"])

    def parts(self) -> dict[str, str]:
        """Return the turns as the parts of a context, which the template chat-turns reads."""
        system = {each.role: each.content for each in self.prompt if each.role == "system"}
        turns = [each.content for each in self.prompt if each.role != "system"]
        return system | {f"turn_{number}": turn for number, turn in enumerate(turns, start=1)}


def read_pair(prompt: Cell, high: Cell, low: Cell, names: Mapping[str, str]) -> MessagePair:
    """Return the pair in the cells of a row.

    A prompt of None means the messages that both answers begin with. `names` are the names of the
    columns in messages: those of `context`, `high` and `low`.

    Raises:
        ScoringError: If a cell is neither text nor messages, the prompt is not how both answers
            begin, or more than one answer follows it.
    """
    given = {"context": prompt, "high": high, "low": low}
    read = {
        key: _messages(cell, names[key], "user" if key == "context" else "assistant")
        for key, cell in given.items()
        if key in names
    }
    before, sides = read.get("context"), (read["high"], read["low"])
    before = _common(*sides) if before is None else _with_system(before, *sides)
    answers = []
    for key, side in zip(("high", "low"), sides, strict=True):
        answer = side[len(before) :] if side[: len(before)] == before else side
        if len(answer) != 1 or answer[0].role != "assistant":
            if "context" in names and len(side) > 1:
                raise ScoringError(
                    "row.wrong-shape",
                    f"{names['context']} is not how the messages of {names[key]} begin",
                )
            raise ScoringError(
                "row.wrong-shape",
                f"{names[key]} has {len(answer)} messages after the prompt, and a test needs a "
                "single one of the assistant",
                remedy="leave the row out",
            )
        answers.append(answer[0].content)
    _check_turns(before, names.get("context", names["high"]))
    return MessagePair(before, *answers)


def _messages(cell: object, name: str, role: str) -> tuple[Message, ...]:
    """Return the messages of a cell; a text is one of some role, an empty prompt is none.

    They are a list of messages, a single one, or an object of lists, as `datasets` stores a
    Sequence of messages.
    """
    if isinstance(cell, str):
        return () if role == "user" and not cell else (Message(role, cell),)
    if cell is None:
        raise ScoringError("cell.null", f"{name} is null")
    if isinstance(cell, Mapping):
        lists = [each for each in cell.values() if isinstance(each, list)]
        whole = len(lists) == len(cell) and len({len(each) for each in lists}) == 1
        rows = zip(*lists, strict=True) if whole and not _is_parts(cell.get("content")) else None
        cell = [cell] if rows is None else [dict(zip(cell, row, strict=True)) for row in rows]
    if not isinstance(cell, Sequence):
        raise ScoringError(
            "row.wrong-shape",
            f"{name} is {type(cell).__name__}",
            remedy="it must be text, or a list of messages",
        )
    found = []
    for each in cell:
        message = _message(each, name)
        if not all(isinstance(text, str) and text for text in message):
            raise ScoringError(
                "row.wrong-shape",
                f"{name} has an entry that is not a message with a role and a text as content",
                remedy="for several answers, write a row for each pair",
            )
        found.append(message)
    return tuple(found)


def _message(entry: object, name: str) -> Message:
    """Return a message as OpenAI's or ShareGPT's form has it; a content may be a list of parts."""
    fields = entry if isinstance(entry, Mapping) else {}
    role = fields.get("from")
    if fields.get("role") is None and isinstance(role, str):
        return Message(_SHARE_GPT.get(role, role), fields.get("value", ""))
    content = fields.get("content", "")
    if not _is_parts(content):
        return Message(fields.get("role", ""), content)
    others = [part.get("type") for part in content if not isinstance(part.get("text"), str)]
    if others:
        raise ScoringError(
            "row.wrong-shape",
            f'{name} has a content part of type "{others[0]}", and nnd reads text',
            remedy="leave the row out",
        )
    return Message(fields.get("role", ""), "".join(part["text"] for part in content))


def _is_parts(content: object) -> bool:
    """Whether a content is a list of parts: [{"type": "text", "text": …}, …]."""
    return (
        isinstance(content, list)
        and bool(content)
        and all(isinstance(part, Mapping) and "type" in part for part in content)
    )


def _with_system(
    prompt: tuple[Message, ...], high: tuple[Message, ...], low: tuple[Message, ...]
) -> tuple[Message, ...]:
    """Return the prompt behind the message of the system, if both answers begin with that and it.

    UltraFeedback and its kin have the system's message in the answers only.
    """
    whole = (*high[:1], *prompt)
    begins = all(side[: len(whole)] == whole for side in (high, low))
    return whole if begins and [each.role for each in high[:1]] == ["system"] else prompt


def _common(high: tuple[Message, ...], low: tuple[Message, ...]) -> tuple[Message, ...]:
    """Return the messages that both begin with; the last of each is the answer."""
    both = zip(high[:-1], low[:-1], strict=False)
    return tuple(mine for mine, _ in takewhile(lambda pair: pair[0] == pair[1], both))


def _check_turns(prompt: tuple[Message, ...], name: str) -> None:
    roles = [message.role for message in prompt]
    turns = roles[1:] if roles[:1] == ["system"] else roles
    expected = ["user", "assistant"] * len(turns)
    if turns != expected[: len(turns)] or (roles and len(turns) % 2 == 0):
        raise ScoringError(
            "row.wrong-shape",
            f"the prompt in {name} has the roles {', '.join(roles)}",
            remedy="user and assistant must take turns, and the user begin and end",
        )
