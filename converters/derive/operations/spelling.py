"""Operations as they are written: `punctuation`, `typos=0.05`, `path.py:function`."""

from collections.abc import Callable, Mapping

from nnd.converters.derive.operations.operation import Operation, each
from nnd.converters.derive.operations.punctuation import drop_final
from nnd.schemas import NNDError, did_you_mean


def find_operation(spelled: str) -> Operation:
    """Return the operation that a text stands for.

    Raises:
        NNDError: If there is none of that name, or its value is wrong.
    """
    name, equals, value = spelled.partition("=")
    if name not in BUILT_IN:
        raise NNDError(
            f'there is no operation "{name}"{did_you_mean(name, BUILT_IN)}; choose one of '
            f"{', '.join(BUILT_IN)}, or a function of your own: path.py:function"
        )
    return BUILT_IN[name](value if equals else None)


def _punctuation(value: str | None) -> Operation:
    _refuse_value("punctuation", value)
    return Operation(
        name="punctuation",
        description="leaves out the punctuation at the end",
        change=each(drop_final),
    )


def _refuse_value(name: str, value: str | None) -> None:
    if value is not None:
        raise NNDError(f'"{name}={value}": {name} takes no value; write {name}')


BUILT_IN: Mapping[str, Callable[[str | None], Operation]] = {"punctuation": _punctuation}
"""Name → what makes the operation of its value, None where none is given."""
