"""Operations from functions of the user: `path.py:function`."""

import inspect
import re
import runpy
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from nnd.converters.make.text_operations.operation import (
    FailedChangeError,
    Operation,
    RefusalError,
    Statement,
    each,
)
from nnd.converters.source import say_whose_rights
from nnd.schemas import NNDError, check_known, excerpt, file_digest, has_surrogate

OWN = re.compile(r"(?P<path>.+\.py):(?P<function>\w+)")
"""How a function of the user is written."""

_MOST_GROWTH = 35
"""Per cent of its length that a translated text may be longer or shorter."""


class Own(NamedTuple):
    """A function of the user.

    `spelled` is `path.py:function`; the facts are its entry in a manifest: file, function, SHA-256
    of the file.
    """

    function: Callable[..., Any]
    spelled: str
    facts: dict[str, str]

    def call(self, *arguments: object, refusal: str, **named: object) -> str:
        """Call the function.

        Raises RefusalError if it returns None, FailedChangeError if it raises an error, or does not
        return a text or None.
        """
        try:
            result = self.function(*arguments, **named)
        except (Exception, SystemExit) as error:
            raise FailedChangeError(
                f"{self.spelled} raised {type(error).__name__}: {error}"
            ) from error
        if result is None:
            raise RefusalError(refusal)
        if not isinstance(result, str):
            raise FailedChangeError(
                f"{self.spelled} returned {type(result).__name__} {excerpt(repr(result))}, "
                "not a text or None"
            )
        if has_surrogate(result):
            raise FailedChangeError(
                f"{self.spelled} returned half a surrogate pair, which is not a character"
            )
        return result


def own_operation(spelled: str, *, keeps_label: bool) -> Operation:
    """Return the operation of a function of a text and a random generator.

    The function, named by `path.py:function`, returns the changed text, or None. Without
    `keeps_label` it makes the text wrong, and if it has a parameter `context`, it gets the text's
    context.
    """
    own = load_function(spelled)
    takes_context = "context" in inspect.signature(own.function).parameters
    if keeps_label and takes_context:
        raise NNDError(
            "make.needs-negatives", f"{spelled} takes a context, so it makes wrong texts"
        )

    def change(statement: Statement, random: Random) -> Sequence[str]:
        named = {"context": statement.context} if takes_context else {}
        call = partial(own.call, refusal="the function returned None", **named)
        return each(call)(statement, random)

    return Operation(
        name=re.sub("[^a-z0-9]+", "_", own.facts["function"].lower()).strip("_") or "own",
        description="a function of your own",
        change=change,
        parameters=own.facts,
        keeps_label=keeps_label,
        is_random=True,
    )


def back_translation(spelled: str | None) -> Operation:
    """Return the operation that replaces a text by its translation there and back."""
    if spelled is None:
        raise NNDError(
            "make.function",
            "back_translation needs a function that translates a text there and back",
            remedy="write back_translation=path.py:function",
        )
    own, refusal = load_function(spelled), "no translation of like length"

    translate = each(lambda text, _random: own.call(text, refusal=refusal))

    def change(statement: Statement, random: Random) -> Sequence[str]:
        changed = translate(statement, random)
        if not all(map(is_of_like_length, statement.texts, changed)):
            raise RefusalError(refusal)
        return changed

    return Operation(
        name="back_translation",
        description=(
            "translates there and back with a function of yours; rejected where the length changes "
            f"by more than {_MOST_GROWTH} %"
        ),
        change=change,
        parameters=own.facts,
    )


def is_of_like_length(old: str, new: str) -> bool:
    """Say whether the lengths of two texts differ by at most 35 % of the old one's."""
    return 100 * abs(len(new) - len(old)) <= _MOST_GROWTH * len(old)


def load_function(spelled: str) -> Own:
    """Run a Python file and return a function from it.

    The file runs with all rights of the user, which is said on stderr.
    """
    form = OWN.fullmatch(spelled)
    if form is None:
        raise NNDError(
            "make.function", f'"{spelled}" is not a function', remedy="write path.py:function"
        )
    path, name = Path(form["path"]), form["function"]
    if not path.is_file():
        raise NNDError("file.not-found", "file not found", path, "write path.py:function")
    say_whose_rights(path)
    members = _run(path)
    check_known("function", [name], [key for key in members if callable(members[key])], path)
    facts = {"file": path.name, "function": name, "sha256": file_digest(path)}
    return Own(members[name], spelled, facts)


def _run(path: Path) -> dict[str, Any]:
    """Run a Python file and return what it defines; it may import modules next to it."""
    beside = str(path.resolve().parent)
    sys.path.insert(0, beside)
    try:
        return runpy.run_path(str(path))
    except (Exception, SystemExit) as error:
        raise NNDError(
            "make.function", f"{type(error).__name__}: {error}", path, "the file must run by itself"
        ) from error
    finally:
        sys.path.remove(beside)
