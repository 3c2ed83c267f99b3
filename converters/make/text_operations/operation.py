"""Types of operations: changes of texts, and the texts that they apply to."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from types import MappingProxyType
from typing import Any, Literal, TypeAlias, get_args

from nnd.schemas import NNDError

Target = Literal["context", "candidate", "both"]

Change: TypeAlias = Callable[[Sequence[str], Random], Sequence[str] | None]
"""(texts, random generator) → as many changed texts, or None if the change is rejected."""

ChangeOne: TypeAlias = Callable[[str, Random], str | None]
"""The same for one text."""

_NONE: Mapping[str, Any] = MappingProxyType({})


class FailedChangeError(Exception):
    """A function of the user failed; callers add the place of the text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """A change of texts.

    Attributes:
        name: Its name in the origin of pairs: small letters, digits, _.
        description: What it does, in a few words.
        change: The change itself.
        parameters: Values of its parameters, for the manifest.
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
        """Name of its sets: the operation with its parameters."""
        values = [value for key, value in self.parameters.items() if key in ("rate", "case")]
        target = [self.on] if self.keeps_label and self.on != "context" else []
        return "-".join([self.name, *map(str, values), *target])

    def applied_to(self, target: Target) -> "Operation":
        """Return the operation for other texts.

        Raises:
            NNDError: If the target is unknown, or the operation would change labels there.
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
    """Return the change of several texts that applies a change to each."""

    def change_all(texts: Sequence[str], random: Random) -> Sequence[str] | None:
        changed = list[str]()
        for text in texts:
            new = change(text, random)
            if new is None:
                return None
            changed.append(new)
        return changed

    return change_all
