"""Operations from functions of the user: `path.py:function`."""

import hashlib
import inspect
import re
import runpy
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from nnd.converters.make.text_operations.falsification import Falsification, Refusal, Statement
from nnd.converters.make.text_operations.operation import FailedChangeError, Operation, each
from nnd.converters.source import say_whose_rights
from nnd.schemas import NNDError, did_you_mean, excerpt, has_surrogate

OWN = re.compile(r"(?P<path>.+\.py):(?P<function>\w+)")
"""How a function of the user is written."""

_MOST_GROWTH = 35
"""Per cent of its length that a translated text may be longer or shorter."""


class Own(NamedTuple):
    """A function of the user.

    Attributes:
        function: The function.
        spelled: `path.py:function`.
        facts: Its entry in a manifest: file, function, SHA-256 of the file.
    """

    function: Callable[..., Any]
    spelled: str
    facts: dict[str, str]

    @property
    def takes_context(self) -> bool:
        """Whether it has a parameter called `context`."""
        return "context" in inspect.signature(self.function).parameters

    def call(self, *arguments: object, **named: object) -> str | None:
        """Call the function.

        Raises:
            FailedChangeError: If it raises an error, or does not return a text or None.
        """
        try:
            found = self.function(*arguments, **named)
        except (Exception, SystemExit) as error:
            raise FailedChangeError(
                f"{self.spelled} raised {type(error).__name__}: {error}"
            ) from error
        if found is not None and not isinstance(found, str):
            raise FailedChangeError(
                f"{self.spelled} returned {type(found).__name__} {excerpt(repr(found))}, "
                "not a text or None"
            )
        if found is not None and has_surrogate(found):
            raise FailedChangeError(
                f"{self.spelled} returned half a surrogate pair, which is not a character"
            )
        return found


def own_operation(spelled: str) -> Operation:
    """Return the operation of a function of a text and a random generator.

    Raises:
        NNDError: If the function cannot be found.
    """
    own = load_function(spelled)
    if own.takes_context:
        raise NNDError(
            f"{spelled} takes a context, so it makes wrong texts; add --negatives preferred (or "
            "references, fake_references)"
        )

    def change(text: str, random: Random) -> str | None:
        return own.call(text, random)

    return Operation(
        name=_operation_name(own),
        description="a function of your own",
        change=each(change),
        parameters=own.facts,
        is_random=True,
    )


def own_falsification(spelled: str) -> Falsification:
    """Return the falsification of a function of a text and a random generator.

    Args:
        spelled: A function that returns a wrong text, or None; if it has a parameter `context`, it
            gets the text's context.

    Raises:
        NNDError: If the function cannot be found.
    """
    own = load_function(spelled)

    def falsify(statement: Statement, random: Random) -> str | Refusal:
        named = {"context": statement.context} if own.takes_context else {}
        new = own.call(statement.text, random, **named)
        return Refusal("the function returned None") if new is None else new

    return Falsification(
        name=_operation_name(own),
        description="a function of your own",
        falsify=falsify,
        parameters=own.facts,
    )


def back_translation(spelled: str) -> Operation:
    """Return the operation that replaces a text by its translation there and back.

    Args:
        spelled: A function that returns the text translated there and back, or None.

    Raises:
        NNDError: If the function cannot be found.
    """
    own = load_function(spelled)

    def change(text: str, _random: Random) -> str | None:
        new = own.call(text)
        return new if new is not None and is_of_like_length(text, new) else None

    return Operation(
        name="back_translation",
        description=(
            "translates there and back with a function of yours; rejected where the length changes "
            f"by more than {_MOST_GROWTH} %"
        ),
        change=each(change),
        parameters=own.facts,
    )


def is_of_like_length(old: str, new: str) -> bool:
    """Say whether the lengths of two texts differ by at most 35 % of the old one's."""
    return 100 * abs(len(new) - len(old)) <= _MOST_GROWTH * len(old)


def load_function(spelled: str) -> Own:
    """Run a Python file and return a function from it.

    The file runs with all rights of the user, which is said on stderr.

    Args:
        spelled: `path.py:function`.

    Raises:
        NNDError: If the file or the function is missing, or the file fails.
    """
    form = OWN.fullmatch(spelled)
    if form is None:
        raise NNDError(f'"{spelled}" is not a function; write path.py:function')
    path, name = Path(form["path"]), form["function"]
    if not path.is_file():
        raise NNDError(f"{path}: file not found; write path.py:function")
    say_whose_rights(path)
    members = _run(path)
    if not callable(members.get(name)):
        known = [each for each, value in members.items() if callable(value)]
        raise NNDError(f'{path}: unknown function "{name}"{did_you_mean(name, known)}')
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    facts = {"file": path.name, "function": name, "sha256": digest}
    return Own(members[name], spelled, facts)


def _run(path: Path) -> dict[str, Any]:
    """Run a Python file and return what it defines; it may import modules next to it."""
    beside = str(path.resolve().parent)
    sys.path.insert(0, beside)
    try:
        return runpy.run_path(str(path))
    except (Exception, SystemExit) as error:
        raise NNDError(
            f"{path}: {type(error).__name__}: {error}; the file must run by itself"
        ) from error
    finally:
        sys.path.remove(beside)


def _operation_name(own: Own) -> str:
    return re.sub("[^a-z0-9]+", "_", own.facts["function"].lower()).strip("_") or "own"
