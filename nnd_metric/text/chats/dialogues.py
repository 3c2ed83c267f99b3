"""Dialogues: a context of `Name: …` lines as turns of a user and an assistant."""

import re
from itertools import groupby

from nnd.schemas import ScoringError, excerpt

_LINE = re.compile(r"[^\S\n]*([^\s:][^:\n]{0,39}):(?:[^\S\n]+|$)(.*)")


def split_turns(context: str) -> list[str]:
    """Return the turns of user and assistant; the user begins and ends.

    The last speaker is the user, whom the candidate answers; all others are the assistant. Text
    before the user's first turn is put at the beginning of that turn. A line without a name
    continues the turn before it.
    """
    lines: list[tuple[str, str]] = []
    for line in context.splitlines():
        match = _LINE.fullmatch(line)
        if match is not None:
            lines.append((match[1].strip(), match[2]))
        elif lines:
            name, text = lines[-1]
            lines[-1] = (name, f"{text}\n{line}")
        elif line.strip():
            break
    if not lines:
        raise ScoringError(
            "template.chat",
            f'the context "{excerpt(context)}" is not a dialogue of "Name: …" lines',
            'template "chat-turns"',
        )
    user = lines[-1][0]
    begin = next(number for number, (name, _) in enumerate(lines) if name == user)
    turns = [
        "\n".join(text for _, text in group)
        for _, group in groupby(lines[begin:], key=lambda turn: turn[0] == user)
    ]
    opening = [f"{name}: {text}" for name, text in lines[:begin]]
    return ["\n".join([*opening, turns[0]]), *turns[1:]]
