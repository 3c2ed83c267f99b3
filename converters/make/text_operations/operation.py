"""A change of texts that keeps human judgements, or makes a right text wrong."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from random import Random
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

from nnd.converters.make.forms.form import FORMS, Form
from nnd.converters.make.forms.parsing import form_of
from nnd.schemas import NNDError, check_known

Target = Literal["context", "candidate", "both"]

_NONE: Mapping[str, Any] = MappingProxyType({})


class Statement(NamedTuple):
    """Texts that are changed together: one candidate, the parts of a context, or both.

    `name` is the id of the candidate; that of the context, if that is changed. The context is the
    candidate's.
    """

    split: str
    name: str
    texts: Sequence[str]
    context_id: str = ""
    context: str = ""

    @property
    def text(self) -> str:
        """The candidate."""
        return self.texts[0]


class RefusalError(Exception):
    """Texts cannot be changed, for a reason that is counted."""


Change: TypeAlias = Callable[[Statement, Random], Sequence[str]]
"""(statement, random generator) → as many changed texts; may raise a RefusalError."""

Falsify: TypeAlias = Callable[[Statement, Random], str]
"""(candidate, random generator) → the candidate made wrong; may raise a RefusalError."""


class FailedChangeError(Exception):
    """A function of the user failed; `Operation.apply` adds the place of the text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """A change of texts.

    Attributes:
        name: Its name in the origin of pairs: small letters, digits, _.
        description: What it does, in a few words.
        parameters: Values of its parameters, for the manifest.
        keeps_label: Whether human judgements still hold. Otherwise it makes a right candidate wrong
            given its context.
        together: Whether they hold only if a context and all its candidates are changed together.
        is_random: Whether variants of a text differ.
    """

    name: str
    description: str
    change: Change
    parameters: Mapping[str, Any] = field(default_factory=lambda: _NONE)
    keeps_label: bool = True
    together: bool = False
    is_random: bool = False
    on: Target = "context"

    @property
    def set_name(self) -> str:
        """Name of its sets: the operation with its parameters."""
        values = [value for key, value in self.parameters.items() if key in ("rate", "case")]
        is_usual = self.on == "context" or self.together or not self.keeps_label
        return "-".join([self.name, *map(str, values), *([] if is_usual else [self.on])])

    def applied_to(self, target: Target) -> "Operation":
        """Return the operation for other texts."""
        check_known("target", [target], get_args(Target), code="option.unknown-value")
        if self.together and target != "both":
            raise NNDError(
                "option.conflict",
                f'"{self.name}" on the {target} alone would change which candidate is right',
                remedy="it changes the context and all its candidates together (both)",
            )
        return replace(self, on=target)

    def apply(self, statement: Statement, *, seed: int, variant: int) -> Sequence[str]:
        """Return the changed texts.

        The draw depends on the id of the text, and not on the order of rows. Raises RefusalError if
        the texts cannot be changed, NNDError if a function of the user fails.
        """
        split, name, texts = statement[:3]
        key = "\x00".join(map(str, (seed, split, name, self.name, variant)))
        random = Random(sha256(key.encode()).digest())  # noqa: S311 - no secret
        try:
            changed = self.change(statement, random)
        except FailedChangeError as error:
            where = f'"{name}" of split {split}'
            raise NNDError("make.function", str(error), where) from error
        if any(old.strip() and not new.strip() for old, new in zip(texts, changed, strict=True)):
            raise RefusalError("nothing is left of the text")
        return changed


def each(change: Callable[[str, Random], str]) -> Change:
    """Return the change of several texts that applies a change to each leaf that is no number."""

    def change_leaves(text: str, random: Random) -> str:
        form = form_of(text)
        return written(
            form,
            [leaf.text if leaf.is_number else change(leaf.text, random) for leaf in form.leaves],
        )

    return each_whole(change_leaves)


def each_whole(change: Callable[[str, Random], str]) -> Change:
    """Return the change of several texts that applies a change to each, whatever its form."""
    return lambda statement, random: [change(text, random) for text in statement.texts]


def written(form: Form, leaves: Iterable[str]) -> str:
    """Return a text with changed leaves; raises RefusalError if it would lose its form."""
    return kept(form, form.written(leaves))


def kept(form: Form, text: str, *, may_rename: bool = False) -> str:
    """Return a changed text; raises RefusalError if it lost the form that it had.

    With `may_rename`, the speakers of a dialogue may have other names.
    """
    if form.name == "prose" or (may_rename and form.name == "dialogue"):
        return text
    if form_of(text).skeleton() != form.skeleton():
        raise RefusalError(f"would no longer be {FORMS[form.name]}")
    return text
