"""Parsing operations: `punctuation`, `typos=0.05`, `path.py:function`."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TypeAlias

from nnd.converters.make.forms.parsing import form_of
from nnd.converters.make.text_operations.antonyms import antonym
from nnd.converters.make.text_operations.entities import swap_entities
from nnd.converters.make.text_operations.negation import negate
from nnd.converters.make.text_operations.numbers import falsify_numbers, replace_numbers
from nnd.converters.make.text_operations.operation import Falsify, Operation, each, each_whole, kept
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
from nnd.schemas import NNDError, did_you_mean, file_digest

Spelled: TypeAlias = Callable[[str | None], Operation]
"""Returns the operation of a value, or of none."""


def find_operation(spelled: str, *, keeps_label: bool = True) -> Operation:
    """Return the operation that a text names.

    The text is `NAME` or `NAME=VALUE` of a known operation, or `path.py:function`. The operation
    must keep human judgements (`keeps_label`), or make a right text wrong.
    """
    name, equals, value = spelled.partition("=")
    known = OPERATIONS if keeps_label else FALSIFICATIONS
    if name in known:
        return known[name](value if equals else None)
    if OWN.fullmatch(spelled):
        return own_operation(spelled, keeps_label=keeps_label)
    if name in FALSIFICATIONS:
        raise NNDError(
            "make.needs-negatives", f'"{name}" makes a candidate wrong, so it is not a perturbation'
        )
    if name in OPERATIONS:
        raise NNDError(
            "option.conflict",
            f'"{name}" does not make a candidate wrong',
            remedy=f"leave --negatives out, or choose one of {', '.join(known)}",
        )
    what = "choose one of" if keeps_label else "negatives are made by"
    raise NNDError(
        "option.unknown-value",
        f'unknown operation "{name}"{did_you_mean(name, known)}',
        remedy=f"{what} {', '.join(known)}, or write path.py:function for a function of your own",
    )


def _at_rate(name: str, description: str, change: Callable[..., str], usual: float) -> Spelled:
    def operation(value: str | None) -> Operation:
        try:
            rate = usual if value is None else float(value)
        except ValueError:
            rate = -1.0
        if not 0 <= rate <= 1:
            raise NNDError(
                "option.bad-value",
                where=f'"{name}={value}"',
                remedy=f"give a rate from 0 to 1, such as {name}={usual}",
            )
        return Operation(
            name=name,
            description=description,
            change=each(partial(change, rate=rate)),
            parameters={"rate": rate},
            is_random=True,
        )

    return operation


def _without_value(operation: Operation) -> Spelled:
    def unchanged(value: str | None) -> Operation:
        name = operation.name
        if value is not None:
            raise NNDError(
                "option.bad-value", f"{name} takes no value", f'"{name}={value}"', f"write {name}"
            )
        return operation

    return unchanged


def _case(value: str | None) -> Operation:
    case = CASES[0] if value is None else value
    if case not in CASES:
        raise NNDError(
            "option.unknown-value", where=f'"case={value}"', remedy=f"choose {' or '.join(CASES)}"
        )
    return Operation(
        name="case",
        description="writes all letters in lower case, or in upper case (case=upper)",
        change=each(partial(change_case, case=case)),
        parameters={"case": case},
    )


_PLAIN = (
    Operation(
        name="punctuation",
        description="leaves out the punctuation at the end of each part",
        change=each(drop_final),
    ),
    Operation(
        name="numbers",
        description=(
            "replaces each number by another, by one mapping for a context and its candidates"
        ),
        change=lambda statement, random: replace_numbers(statement.texts, random),
        together=True,
        is_random=True,
        on="both",
    ),
    Operation(
        name="order",
        description=(
            "puts turns, triples, rows, cells, slots, concepts or sentences in another order"
        ),
        change=each_whole(permute),
        is_random=True,
    ),
)

OPERATIONS: Mapping[str, Spelled] = {
    "typos": _at_rate("typos", "replaces letters by a neighbouring key", add_typos, 0.05),
    **{operation.name: _without_value(operation) for operation in _PLAIN},
    "case": _case,
    "whitespace": _at_rate("whitespace", "doubles or leaves out single blanks", change_blanks, 0.1),
    "function_words": _at_rate(
        "function_words", "leaves out English function words", drop_function_words, 0.1
    ),
    "back_translation": back_translation,
}
"""Name → function from its value, or None, to the operation."""

FILES: Mapping[str, tuple[str, str]] = {
    "swap_entities": (
        "SPANS.jsonl",
        "replaces an entity by another one of its type from the context",
    ),
    "antonym": (
        "TABLE.csv",
        "replaces one word by its antonym in a table (columns word, antonym)",
    ),
}
"""Falsification that needs a file → what to write for it, and what it does."""


def _falsification(
    name: str, description: str, falsify: Falsify, *, may_rename: bool = False, **file: str
) -> Operation:
    return Operation(
        name=name,
        description=description,
        change=lambda statement, random: [
            kept(form_of(statement.text), falsify(statement, random), may_rename=may_rename)
        ],
        parameters=file,
        keeps_label=False,
        is_random=True,
    )


def _of_file(name: str, read: Callable[[Path], Falsify]) -> Spelled:
    file, description = FILES[name]

    def operation(value: str | None) -> Operation:
        if not value:
            raise NNDError(
                "option.needs-another", f"{name} needs a file", remedy=f"write {name}={file}"
            )
        path = Path(value)
        if not path.is_file():
            raise NNDError("file.not-found", "file not found", path, f"write {name}={file}")
        digest = file_digest(path)
        return _falsification(name, description, read(path), file=path.name, sha256=digest)

    return operation


FALSIFICATIONS: Mapping[str, Spelled] = {
    "swap_speakers": _without_value(
        _falsification(
            "swap_speakers",
            "exchanges the names of two speakers of a dialogue",
            swap_speakers,
            may_rename=True,
        )
    ),
    "swap_entities": _of_file("swap_entities", swap_entities),
    "numbers": _without_value(
        _falsification(
            "numbers", "replaces each number of the candidate by another", falsify_numbers
        )
    ),
    "negation": _without_value(
        _falsification("negation", "puts in or leaves out one English negation", negate)
    ),
    "antonym": _of_file("antonym", antonym),
}
"""The operations that make a text wrong, likewise."""
