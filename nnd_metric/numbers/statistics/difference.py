"""The difference between two rates: how large it is, and whether it is significant.

A difference is significant if two criteria agree: its 95 % interval excludes 0, and its p-value is
below 0.05, after Holm's adjustment if it is one of several. The interval takes into account that
tests of one context are dependent; the adjustment, that many differences are many chances of error.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Literal, Self, TypeAlias, TypeVar

from nnd.metric.numbers.statistics.significance import LEVEL, holm
from nnd.schemas import SPARSE, Count, Lead, Record, Share

Verdict: TypeAlias = Literal["first", "second", "undecided", "untested"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference(Record):
    """The difference between the first and the second of two rates.

    Attributes:
        n: Tests.
        rate: The first rate; None without tests.
        other: The second rate, or None.
        difference: The first rate minus the second; None if either is None.
        interval: Its 95 % interval over contexts; None with fewer than two contexts.
        interval_reason: Why there is no interval; None if there is one, and in older results.
        p: Two-sided p-value; None if nothing was tested.
        p_holm: The same after Holm's adjustment over the differences of one family; None for a
            difference that is none of several.
        only_first: Tests that only the first passes; None if the two have different tests, or
            several variants of one.
        only_second: Tests that only the second passes, or None likewise.
        verdict: The side with the higher rate, if the difference is significant (module docstring);
            otherwise "undecided", or "untested" without a p-value.
    """

    n: Count
    rate: Share | None
    other: Share | None
    difference: Lead | None
    interval: tuple[Lead, Lead] | None
    p: Share | None
    p_holm: Share | None
    only_first: Count | None
    only_second: Count | None
    verdict: Verdict = field(init=False)
    interval_reason: Annotated[str | None, SPARSE] = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "verdict", _decide(self.interval, self.final_p))

    @property
    def final_p(self) -> float | None:
        """The p-value that counts: after Holm's adjustment, if there is one."""
        return self.p if self.p_holm is None else self.p_holm

    def turned(self) -> Self:
        """Return the difference of the second from the first."""
        low, high = self.interval or (0.0, 0.0)
        return replace(
            self,
            rate=self.other,
            other=self.rate,
            difference=None if self.difference is None else 0 - self.difference,
            interval=None if self.interval is None else (-high, -low),
            only_first=self.only_second,
            only_second=self.only_first,
        )


_Difference = TypeVar("_Difference", bound=Difference)


def _decide(interval: tuple[float, float] | None, p: float | None) -> Verdict:
    if p is None:
        return "untested"
    if interval is None or p >= LEVEL or interval[0] <= 0 <= interval[1]:
        return "undecided"
    return "first" if interval[0] > 0 else "second"


def adjust(family: Sequence[_Difference]) -> list[_Difference]:
    """Return the differences of one family, with p-values adjusted by Holm's method."""
    adjusted = holm([each.p for each in family])
    return [replace(each, p_holm=p_holm) for each, p_holm in zip(family, adjusted, strict=True)]


def in_words(verdict: Verdict, first: str, second: str, undecided: str = "not significant") -> str:
    """Return a verdict in words."""
    words = {"first": first, "second": second, "undecided": undecided, "untested": "not tested"}
    return words[verdict]
