"""What an operation is: a change of texts, and what it may be applied to."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from types import MappingProxyType
from typing import Any, Literal, TypeAlias, get_args

from nnd.schemas import NNDError

Target = Literal["context", "candidate", "both"]

Change: TypeAlias = Callable[[Sequence[str], Random], Sequence[str] | None]
"""Texts and a source of randomness to as many texts, or None where the change is rejected."""

ChangeOne: TypeAlias = Callable[[str, Random], str | None]
"""The same for one text."""

_NONE: Mapping[str, Any] = MappingProxyType({})


class FailedChangeError(Exception):
    """A function of the user failed; who calls it knows the text's place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """A change of texts.

    Attributes:
        name: Name of the operation, as it is part of a pair's origin: small letters, digits, _.
        description: What it does, in a few words.
        change: The change itself.
        parameters: Their values, for the manifest.
        keeps_label: Whether human judgements still hold if a text alone is changed. Otherwise one
            call changes a context and all its candidates.
        is_random: Whether variants of a text differ.
        on: Which texts it changes.
    """

    name: str
    description: str
    change: Change
    parameters: Mapping[str, Any] = field(default_factory=lambda: _NONE)
    keeps_label: bool = True
    is_random: bool = False
    on: Target = "context"

    @property
    def set_name(self) -> str:
        """Name of a set that it makes: the operation with its parameters."""
        values = [value for key, value in self.parameters.items() if key in ("rate", "case")]
        target = [self.on] if self.keeps_label and self.on != "context" else []
        return "-".join([self.name, *map(str, values), *target])

    def applied_to(self, target: Target) -> "Operation":
        """Return the operation for other texts.

        Raises:
            NNDError: If the target is unknown, or the operation would change a label there.
        """
        if target not in get_args(Target):
            raise NNDError(f'unknown target "{target}"; choose context, candidate or both')
        if not self.keeps_label and target != "both":
            raise NNDError(
                f'"{self.name}" on the {target} alone would change which candidate is right; it '
                "changes the context and all its candidates together (both)"
            )
        return replace(self, on=target)


def each(change: ChangeOne) -> Change:
    """Return the change of several texts that changes one after another."""

    def change_all(texts: Sequence[str], random: Random) -> Sequence[str] | None:
        changed = list[str]()
        for text in texts:
            new = change(text, random)
            if new is None:
                return None
            changed.append(new)
        return changed

    return change_all
