"""The results of all checks of a source."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, get_args

import polars as pl

from nnd.converters.folder import Examples
from nnd.converters.onboard.check.check_result import Check, Outcome
from nnd.schemas import UNSTORED, Shown, text_table

if TYPE_CHECKING:
    from rich.table import Table

_STYLES: dict[Outcome, str] = {
    "pass": "green",
    "fail": "bold red",
    "review": "yellow",
    "skipped": "dim",
}


@dataclass(frozen=True, slots=True, repr=False)
class CheckReport(Shown):
    """The results of all checks of a source.

    Attributes:
        source: The source, as the caller named it.
        checks: One check for each of `NAMES`, in that order.
        examples: A few example pairs; None if it has none.
    """

    source: str
    checks: tuple[Check, ...]
    examples: Annotated[Examples | None, UNSTORED] = None

    def __iter__(self) -> Iterator[Check]:
        return iter(self.checks)

    def __len__(self) -> int:
        return len(self.checks)

    def __bool__(self) -> bool:
        return self.ok

    @property
    def ok(self) -> bool:
        """Whether no check failed."""
        return not self.counts["fail"]

    @property
    def counts(self) -> dict[Outcome, int]:
        """Outcome → number of checks."""
        found = [check.outcome for check in self.checks]
        return {outcome: found.count(outcome) for outcome in get_args(Outcome)}

    def headline(self) -> str:
        """Return the source and how many checks had each outcome."""
        return f"{self.source}: {', '.join(f'{n} {name}' for name, n in self.counts.items())}."

    def table(self) -> "Table":
        """Return a row for each check."""
        from rich.text import Text  # noqa: PLC0415 - slow, and only people look at it

        rows = (
            (Text(one.outcome, _STYLES[one.outcome]), one.name, _finding(one))
            for one in self.checks
        )
        return text_table(("outcome", "checked", "found"), rows, prose=["found"])

    def to_frame(self) -> pl.DataFrame:
        """Return a row for each check: name, outcome, message, remedy."""
        return pl.DataFrame([asdict(check) for check in self.checks])


def _finding(check: Check) -> str:
    return f"{check.message}; {check.remedy}" if check.remedy else check.message
