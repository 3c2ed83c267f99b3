"""What a falsification is: a change that makes a right text wrong, or a reason for none."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

_NONE: Mapping[str, Any] = MappingProxyType({})


class Statement(NamedTuple):
    """A text that people found right, and what it is about.

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
    """Why a text cannot be made wrong by a falsification; the reason is counted."""

    reason: str


Falsify: TypeAlias = Callable[[Statement, Random], str | Refusal]
"""A statement and a source of randomness to its wrong text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Falsification:
    """A change that makes a text wrong given its context.

    Attributes:
        name: Its name, as it is part of a pair's origin: small letters, digits, _.
        description: What it does, in a few words.
        falsify: The change itself.
        parameters: Their values, for the manifest.
        is_random: Whether variants of a text differ.
    """

    name: str
    description: str
    falsify: Falsify
    parameters: Mapping[str, Any] = field(default_factory=lambda: _NONE)
    is_random: bool = True
