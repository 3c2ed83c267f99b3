"""Parsing operations: `punctuation`, `typos=0.05`, `path.py:function`."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from random import Random

from nnd.converters.make.text_operations.antonyms import DESCRIPTION as ANTONYMS, antonym
from nnd.converters.make.text_operations.entities import DESCRIPTION as ENTITIES, swap_entities
from nnd.converters.make.text_operations.negation import negate
from nnd.converters.make.text_operations.numbers import falsify_numbers, replace_numbers
from nnd.converters.make.text_operations.operation import (
    Operation,
    Refusal,
    Statement,
    each,
    falsified,
)
from nnd.converters.make.text_operations.own_operations import OWN, back_translation, own_operation
from nnd.converters.make.text_operations.reordering import permute
from nnd.converters.make.text_operations.speakers import swap_speakers
from nnd.converters.make.text_operations.surface import (
    CASES,
    add_typos,
    change_blanks,
    change_case,
    drop_final,
    drop_function_words,
)
from nnd.schemas import NNDError, did_you_mean


def find_operation(spelled: str, *, keeps_label: bool = True) -> Operation:
    """Return the operation that a text names.

    Args:
        spelled: `NAME` or `NAME=VALUE` of a known operation, or `path.py:function`.
        keeps_label: Whether it must keep human judgements, or make a right text wrong.

    Raises:
        NNDError: If the name is unknown, or its value is wrong.
    """
    name, equals, value = spelled.partition("=")
    known = OPERATIONS if keeps_label else FALSIFICATIONS
    if name in known:
        return known[name](value if equals else None)
    if OWN.fullmatch(spelled):
        return own_operation(spelled, keeps_label=keeps_label)
    if name in FALSIFICATIONS:
        raise NNDError(
            f'"{name}" makes a candidate wrong, so it is not a perturbation; add --negatives '
            "preferred (or references, fake_references)"
        )
    if name in OPERATIONS:
        raise NNDError(
            f'"{name}" does not make a candidate wrong; leave --negatives '
            f"out, or choose one of {', '.join(known)}"
        )
    what = "choose one of" if keeps_label else "negatives are made by"
    raise NNDError(
        f'unknown operation "{name}"{did_you_mean(name, known)}; {what} {", ".join(known)}, or '
        "write path.py:function for a function of your own"
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


def _without_value(operation: Operation, value: str | None) -> Operation:
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


_PUNCTUATION = Operation(
    name="punctuation",
    description="leaves out the punctuation at the end of each part",
    change=each(drop_final),
)

_NUMBERS = Operation(
    name="numbers",
    description="replaces each number by another, by one mapping for a context and its candidates",
    change=lambda statement, random: replace_numbers(statement.texts, random),
    together=True,
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
    "back_translation": back_translation,
}
"""Name → function from its value, or None, to the operation."""


FILES: Mapping[str, tuple[str, str]] = {
    "swap_entities": ("SPANS.jsonl", ENTITIES),
    "antonym": ("TABLE.csv", ANTONYMS),
}
"""Falsification that needs a file → what to write for it, and what it does."""


def _of_file(name: str, make: Callable[[Path], Operation], value: str | None) -> Operation:
    if not value:
        raise NNDError(f"{name} needs a file; write {name}={FILES[name][0]}")
    return make(Path(value))


def _falsification(
    name: str, description: str, falsify: Callable[[Statement, Random], str | Refusal]
) -> Callable[[str | None], Operation]:
    operation = Operation(
        name=name,
        description=description,
        change=falsified(falsify),
        keeps_label=False,
        is_random=True,
    )
    return partial(_without_value, operation)


FALSIFICATIONS: Mapping[str, Callable[[str | None], Operation]] = {
    "swap_speakers": _falsification(
        "swap_speakers", "exchanges the names of two speakers of a dialogue", swap_speakers
    ),
    "swap_entities": partial(_of_file, "swap_entities", swap_entities),
    "numbers": _falsification(
        "numbers", "replaces each number of the candidate by another", falsify_numbers
    ),
    "negation": _falsification("negation", "puts in or leaves out one English negation", negate),
    "antonym": partial(_of_file, "antonym", antonym),
}
"""The operations that make a text wrong, likewise."""
