"""Marks of the types of a record's fields: what they allow, and where they are stored."""

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, Final

_REFUSES: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "minimum": operator.lt,
    "maximum": operator.gt,
    "exclusiveMinimum": operator.le,
    "exclusiveMaximum": operator.ge,
    "enum": lambda value, choices: value not in choices,
    "minLength": lambda value, n: len(value) < n,
    "minItems": lambda value, n: len(value) < n,
    "pattern": lambda value, pattern: re.fullmatch(pattern, value) is None,
}
"""Keyword of JSON Schema → whether it refuses a value; a pattern matches the whole value."""


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit of a value: a keyword of JSON Schema, such as `minimum`, and its argument."""

    keyword: str
    argument: Any

    def __str__(self) -> str:
        return f"{self.keyword} {self.argument}"

    def refuses(self, value: Any) -> bool:  # noqa: ANN401 - of the marked type
        """Whether a value is beyond the limit."""
        return _REFUSES[self.keyword](value, self.argument)


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys of a mapping: it has all of these, and no others.

    `sentences` say what the value of each is; there are none if the keys say it. Documents of older
    versions may lack the `later` keys.
    """

    names: tuple[str, ...]
    sentences: tuple[str, ...] = ()
    later: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"keys {', '.join(self.names)}"

    def refuses(self, value: Mapping[str, Any]) -> bool:
        """Whether a mapping has other keys."""
        return not {*self.names} - {*self.later} <= {*value} <= {*self.names}


@dataclass(frozen=True, slots=True)
class FlatKeys:
    """The values of a record, or of a mapping with `Keys`, are stored beside the other fields.

    Their keys there begin with `prefix`.
    """

    prefix: str = ""


@dataclass(frozen=True, slots=True)
class StoredAs:
    """The key that a field is stored under, if it is not its name."""

    name: str


class Storage(Enum):
    """When a field is stored."""

    SPARSE = "unless it is the default"
    UNSTORED = "never"
    ALWAYS = "always, though it has a default as an option"


SPARSE, UNSTORED, ALWAYS = Storage.SPARSE, Storage.UNSTORED, Storage.ALWAYS

_FROM_0, _TO_1 = Limit("minimum", 0), Limit("maximum", 1)

Count = Annotated[int, _FROM_0]
Natural = Annotated[int, Limit("minimum", 1)]
Amount = Annotated[float, _FROM_0]
Positive = Annotated[float, Limit("exclusiveMinimum", 0)]
Share = Annotated[float, _FROM_0, _TO_1]
Lead = Annotated[float, Limit("minimum", -1), _TO_1]
"""A difference of shares."""
Correlation = Annotated[float, Limit("minimum", -1.000001), Limit("maximum", 1.000001)]
"""From -1 to 1, but for rounding."""
PValue = Annotated[float, Limit("exclusiveMinimum", 0), _TO_1]
Name = Annotated[str, Limit("minLength", 1)]
Sha256 = Annotated[str, Limit("pattern", "^[0-9a-f]{64}$")]
