"""How models read contexts: as chats or plain text, with the instruction of the data or without.

The functions take a result as `ModelResult.to_dict` stores it, of this version or an older one.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from nnd.metric.text import INSTRUCTION, NONE
from nnd.schemas import listed

_LONGEST = 500  # characters at either end of a request that results show
_FEW = 3


def is_chat(result: Mapping[str, Any]) -> bool:
    """Whether contexts were read as chats; older versions read plain text."""
    chat = result.get("chat")
    return chat is not None and chat["template"] != NONE


def wording_of(result: Mapping[str, Any]) -> str | None:
    """Return what a chat model was asked: the digest of an instruction, or another template.

    It is None for a model that read plain text, or if it is unknown.
    """
    if not is_chat(result):
        return None
    digest = result.get("instruction")
    return f"template {result.get('template')}" if digest is None else f"instr:{digest}"


def describe_reading(result: Mapping[str, Any]) -> str:
    """Return how a model read contexts, such as "as chats with the instruction"."""
    template = str(result.get("template", "default"))
    as_what = "as chats" if is_chat(result) else "as plain text"
    if result.get("instruction") is not None:
        number = template.removeprefix(INSTRUCTION).lstrip("-")
        which = f"paraphrase {int(number) - 1} of the instruction" if number else "the instruction"
        return f"{as_what} with {which}"
    if template != "default":
        return f'{as_what} with the template "{template}"'
    return f"{as_what} without an instruction" if is_chat(result) else as_what


def describe_readings(readings: Mapping[str, str]) -> str:
    """Return a sentence on how models read contexts, with the number of models for each way."""
    models = labels_by_value(readings)
    if len(models) == 1:
        return f"Contexts were read {next(iter(models))}."
    return f"Contexts were read {listed([*map(_by, models, models.values())])}."


def labels_by_value(values: Mapping[str, str | None]) -> dict[str, list[str]]:
    """Return value → the labels that have it, for the values that are known."""
    labels: dict[str, list[str]] = {}
    for label, value in values.items():
        if value is not None:
            labels.setdefault(value, []).append(label)
    return labels


def _by(reading: str, models: Sequence[str]) -> str:
    if len(models) == 1:
        return f"{reading} by {models[0]}"
    named = f" ({', '.join(models)})" if len(models) <= _FEW else ""
    return f"{reading} by {len(models)} models{named}"


def shorten_context(context: str) -> str:
    """Return a context as results show it; of a long one, its beginning and end."""
    left_out = len(context) - 2 * _LONGEST
    if left_out <= 0:
        return context
    return f"{context[:_LONGEST]} […{left_out:,} characters…] {context[-_LONGEST:]}"
