"""Operations as they are written: `punctuation`, `typos=0.05`, `path.py:function`."""

from collections.abc import Callable, Mapping
from functools import partial

from nnd.converters.derive.operations.blanks import change_blanks
from nnd.converters.derive.operations.function_words import drop_function_words
from nnd.converters.derive.operations.letter_case import CASES, change_case
from nnd.converters.derive.operations.numbers import replace_numbers
from nnd.converters.derive.operations.operation import Operation, each
from nnd.converters.derive.operations.order import permute
from nnd.converters.derive.operations.own import OWN, back_translation, own_operation
from nnd.converters.derive.operations.punctuation import drop_final
from nnd.converters.derive.operations.typos import add_typos
from nnd.schemas import NNDError, did_you_mean


def find_operation(spelled: str) -> Operation:
    """Return the operation that a text stands for.

    Args:
        spelled: `NAME` or `NAME=VALUE` of an operation there is, or `path.py:function`.

    Raises:
        NNDError: If there is none of that name, or its value is wrong.
    """
    name, equals, value = spelled.partition("=")
    if name in OPERATIONS:
        return OPERATIONS[name](value if equals else None)
    if OWN.fullmatch(spelled):
        return own_operation(spelled)
    raise NNDError(
        f'unknown operation "{name}"{did_you_mean(name, OPERATIONS)}; choose one of '
        f"{', '.join(OPERATIONS)}, or write path.py:function for a function of your own"
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
    description="puts turns, triples, rows or sentences in another order",
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
"""Name → what makes the operation of its value, None where none is given."""
