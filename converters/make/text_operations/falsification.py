"""Types of falsifications: changes that make a right text wrong, or state why they cannot."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

_NONE: Mapping[str, Any] = MappingProxyType({})


class Statement(NamedTuple):
    """A text that people found right, with its context.

    Attributes:
        split: Split of the context.
        context_id: Its id.
        context: The context.
        candidate_id: Id of the text.
        text: The text.
    """

    split: str
    context_id: str
    context: str
    candidate_id: str
    text: str


class Refusal(NamedTuple):
    """Why a falsification cannot make a text wrong; reasons are counted."""

    reason: str


Falsify: TypeAlias = Callable[[Statement, Random], str | Refusal]
"""(statement, random generator) → its wrong text, or a refusal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Falsification:
    """A change that makes a text wrong given its context.

    Attributes:
        name: Its name in the origin of pairs: small letters, digits, _.
        description: What it does, in a few words.
        falsify: The change itself.
        parameters: Values of its parameters, for the manifest.
        is_random: Whether variants of a text differ.
    """

    name: str
    description: str
    falsify: Falsify
    parameters: Mapping[str, Any] = field(default_factory=lambda: _NONE)
    is_random: bool = True
