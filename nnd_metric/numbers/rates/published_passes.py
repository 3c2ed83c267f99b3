"""Passes that others published for a model, to be read beside ours."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from nnd.metric.numbers.rates.pass_rates import PassRates, Rate
from nnd.schemas import Count, Name, Record

PassesOfTests = tuple[Count, Count]
"""Tests passed, and tests."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedPasses(Record):
    """Passes that others published for a model.

    Attributes:
        source: Where they were published.
        n: Tests.
        passes: Tests passed.
        by: Column of the pairs → value → tests passed, and tests.
        expected: Largest difference from ours that is expected, in tests; None if the published
            tests are not those of the data.
        reason: Why ours may differ.
    """

    source: Name
    n: Count
    passes: Count
    by: Mapping[str, Mapping[str, PassesOfTests]] = field(default_factory=dict)
    expected: Count | None = None
    reason: Name


class PublishedRow(NamedTuple):
    """A published number beside ours.

    Attributes:
        value: The value of a column of the pairs, or None for all tests.
        published: Tests passed, and tests, as published.
        ours: The same of the run; None if it has no such tests.
    """

    value: str | None
    published: PassesOfTests
    ours: PassesOfTests | None

    @property
    def difference(self) -> int | None:
        """Our passes minus the published ones; None if the numbers of tests differ."""
        if self.ours is None or self.ours[1] != self.published[1]:
            return None
        return self.ours[0] - self.published[0]


def beside_published(rates: PassRates, published: PublishedPasses) -> Iterator[PublishedRow]:
    """Yield what was published beside ours: all tests first, then the values of columns."""
    whole = rates.overall
    yield PublishedRow(None, (published.passes, published.n), (whole.passes, whole.n))
    for column, values in published.by.items():
        for value, theirs in values.items():
            ours: Rate | None = rates.by.get(column, {}).get(value)
            yield PublishedRow(value, theirs, None if ours is None else (ours.passes, ours.n))
