"""Parsing operations: `punctuation`, `typos=0.05`, `path.py:function`."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TypeVar

from nnd.converters.make.text_operations.antonyms import DESCRIPTION as ANTONYMS, antonym
from nnd.converters.make.text_operations.blanks import change_blanks
from nnd.converters.make.text_operations.entities import DESCRIPTION as ENTITIES, swap_entities
from nnd.converters.make.text_operations.falsification import Falsification
from nnd.converters.make.text_operations.function_words import drop_function_words
from nnd.converters.make.text_operations.letter_case import CASES, change_case
from nnd.converters.make.text_operations.negation import negate
from nnd.converters.make.text_operations.numbers import falsify_numbers, replace_numbers
from nnd.converters.make.text_operations.operation import Operation, each
from nnd.converters.make.text_operations.own_operations import (
    OWN,
    back_translation,
    own_falsification,
    own_operation,
)
from nnd.converters.make.text_operations.punctuation import drop_final
from nnd.converters.make.text_operations.reordering import permute
from nnd.converters.make.text_operations.speakers import swap_speakers
from nnd.converters.make.text_operations.typos import add_typos
from nnd.schemas import NNDError, did_you_mean

_Either = TypeVar("_Either", Operation, Falsification)


def find_operation(spelled: str) -> Operation:
    """Return the operation that a text names.

    Args:
        spelled: `NAME` or `NAME=VALUE` of a known operation, or `path.py:function`.

    Raises:
        NNDError: If the name is unknown, or its value is wrong.
    """
    name, equals, value = spelled.partition("=")
    if name in OPERATIONS:
        return OPERATIONS[name](value if equals else None)
    if OWN.fullmatch(spelled):
        return own_operation(spelled)
    if name in FALSIFICATIONS:
        raise NNDError(
            f'"{name}" makes a candidate wrong, so it is not a perturbation; add --negatives '
            "preferred (or references, fake_references)"
        )
    raise NNDError(
        f'unknown operation "{name}"{did_you_mean(name, OPERATIONS)}; choose one of '
        f"{', '.join(OPERATIONS)}, or write path.py:function for a function of your own"
    )


def find_falsification(spelled: str) -> Falsification:
    """Return the falsification that a text names.

    Args:
        spelled: `NAME` or `NAME=FILE` of a known falsification, or `path.py:function`.

    Raises:
        NNDError: If the name is unknown, or its file is wrong.
    """
    name, equals, value = spelled.partition("=")
    if name in FALSIFICATIONS:
        return FALSIFICATIONS[name](value if equals else None)
    if OWN.fullmatch(spelled):
        return own_falsification(spelled)
    if name in OPERATIONS:
        raise NNDError(
            f'"{name}" does not make a candidate wrong; leave --negatives '
            f"out, or choose one of {', '.join(FALSIFICATIONS)}"
        )
    raise NNDError(
        f'unknown operation "{name}"{did_you_mean(name, FALSIFICATIONS)}; negatives are made by '
        f"{', '.join(FALSIFICATIONS)}, or by path.py:function, a function of your own"
    )


def _at_rate(
    name: str, description: str, change: Callable[..., str], usual: float, value: str | None
) -> Operation:
    rate = usual if value is None else _read_rate(name, usual, value)
    return Operation(
        name=name,
        description=description,
        change=each(partial(change, rate=rate)),
        parameters={"rate": rate},
        is_random=True,
    )


def _read_rate(name: str, usual: float, value: str) -> float:
    try:
        rate = float(value)
    except ValueError:
        rate = -1.0
    if not 0 <= rate <= 1:
        raise NNDError(f'"{name}={value}": give a rate from 0 to 1, such as {name}={usual}')
    return rate


def _without_value(operation: _Either, value: str | None) -> _Either:
    name = operation.name
    if value is not None:
        raise NNDError(f'"{name}={value}": {name} takes no value; write {name}')
    return operation


def _case(value: str | None) -> Operation:
    case = CASES[0] if value is None else value
    if case not in CASES:
        raise NNDError(f'"case={value}": choose {" or ".join(CASES)}')
    return Operation(
        name="case",
        description="writes all letters in lower case, or in upper case (case=upper)",
        change=each(partial(change_case, case=case)),
        parameters={"case": case},
    )


def _back_translation(value: str | None) -> Operation:
    if value is None:
        raise NNDError(
            "back_translation needs a function that translates a text there and back: write "
            "back_translation=path.py:function"
        )
    return back_translation(value)


_PUNCTUATION = Operation(
    name="punctuation",
    description="leaves out the punctuation at the end of each part",
    change=each(drop_final),
)

_NUMBERS = Operation(
    name="numbers",
    description="replaces each number by another, by one mapping for a context and its candidates",
    change=replace_numbers,
    keeps_label=False,
    is_random=True,
    on="both",
)

_ORDER = Operation(
    name="order",
    description="puts turns, triples, rows, cells, slots, concepts or sentences in another order",
    change=each(permute),
    is_random=True,
)

OPERATIONS: Mapping[str, Callable[[str | None], Operation]] = {
    "typos": partial(_at_rate, "typos", "replaces letters by a neighbouring key", add_typos, 0.05),
    "punctuation": partial(_without_value, _PUNCTUATION),
    "numbers": partial(_without_value, _NUMBERS),
    "order": partial(_without_value, _ORDER),
    "case": _case,
    "whitespace": partial(
        _at_rate, "whitespace", "doubles or leaves out single blanks", change_blanks, 0.1
    ),
    "function_words": partial(
        _at_rate, "function_words", "leaves out English function words", drop_function_words, 0.1
    ),
    "back_translation": _back_translation,
}
"""Name → function from its value, or None, to the operation."""


FILES: Mapping[str, tuple[str, str]] = {
    "swap_entities": ("SPANS.jsonl", ENTITIES),
    "antonym": ("TABLE.csv", ANTONYMS),
}
"""Falsification that needs a file → what to write for it, and what it does."""


def _of_file(name: str, make: Callable[[Path], Falsification], value: str | None) -> Falsification:
    if not value:
        raise NNDError(f"{name} needs a file; write {name}={FILES[name][0]}")
    return make(Path(value))


FALSIFICATIONS: Mapping[str, Callable[[str | None], Falsification]] = {
    "swap_speakers": partial(
        _without_value,
        Falsification(
            name="swap_speakers",
            description="exchanges the names of two speakers of a dialogue",
            falsify=swap_speakers,
        ),
    ),
    "swap_entities": partial(_of_file, "swap_entities", swap_entities),
    "numbers": partial(
        _without_value,
        Falsification(
            name="numbers",
            description="replaces each number of the candidate by another",
            falsify=falsify_numbers,
        ),
    ),
    "negation": partial(
        _without_value,
        Falsification(
            name="negation",
            description="puts in or leaves out one English negation",
            falsify=negate,
        ),
    ),
    "antonym": partial(_of_file, "antonym", antonym),
}
"""Name → function from its file, or None, to the falsification."""
