"""The result of a check, a line with its remedy, and the results of all checks."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias, get_args

import polars as pl

from nnd.converters.folder import Examples
from nnd.schemas import UNSTORED, Printable, Record, listed, one_line, text_table

if TYPE_CHECKING:
    from rich.table import Table

Outcome: TypeAlias = Literal["pass", "fail", "review", "skipped"]
"""`review` needs a person's judgement and is not a failure. `skipped` could not be checked, because
another check failed or the real file is missing."""

Verdict: TypeAlias = tuple[Outcome, str, str]
"""What a check finds: outcome, message and remedy, as in `Check`."""


@dataclass(frozen=True, slots=True)
class Check(Record):
    """One thing that a reviewer would look at.

    Attributes:
        name: Name of the check.
        outcome: Its outcome.
        message: The finding, on one line.
        remedy: What to do about it; empty if there is nothing to do.
    """

    name: str
    outcome: Outcome
    message: str
    remedy: str = ""

    @property
    def passes(self) -> bool:
        """Whether there is nothing to do."""
        return self.outcome == "pass"

    def __str__(self) -> str:
        remedy = f" ({self.remedy})" if self.remedy else ""
        return one_line(f"{self.outcome}: {self.name}: {self.message}{remedy}")


def judged(outcome: Outcome, found: list[str], remedy: str, fine: str, *, most: int = 8) -> Verdict:
    """Return that outcome if anything was found, else `pass`."""
    if found:
        return outcome, listed(list(dict.fromkeys(found)), most), remedy
    return "pass", fine, ""


def labelled(label: str, found: Iterable[str]) -> list[str]:
    """Return findings, the first one with the label of its reading."""
    return [what if number else f"{label}: {what}" for number, what in enumerate(found)]


_STYLES: dict[Outcome, str] = {
    "pass": "green",
    "fail": "bold red",
    "review": "yellow",
    "skipped": "dim",
}


_SAID = {"fail": "fail", "review": "to look at", "skipped": "skipped"}


def _table(checks: Sequence[Check]) -> "Table | None":
    if not checks:
        return None
    from rich.text import Text  # noqa: PLC0415 - slow, and only people look at it

    rows = (
        (
            Text(check.outcome, _STYLES[check.outcome]),
            check.name,
            "; ".join(filter(None, (check.message, check.remedy))),
        )
        for check in checks
    )
    return text_table(("outcome", "checked", "found"), rows, prose=["found"])


@dataclass(frozen=True, slots=True, repr=False)
class CheckReport(Printable):
    """The results of all checks of data or a source.

    Attributes:
        name: The data or the source.
        checks: What each of them found, in order.
        examples: A few example pairs; None if it has none.
    """

    name: str
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
        """Return how many checks pass, and how many had each other outcome."""
        counts = self.counts
        passed = f"{counts.pop('pass')} of {len(self.checks)} checks pass"
        others = [f"{n} {_SAID[outcome]}" for outcome, n in counts.items() if n]
        return f"{self.name}: {', '.join([passed, *others])}."

    def table(self) -> "Table | None":
        """Return a row for each check that fails or is to be looked at."""
        return _table([check for check in self.checks if check.outcome in ("fail", "review")])

    def remarks(self) -> "list[Table | str]":
        """Return which checks were skipped, and why; and the example pairs."""
        reasons: dict[str, list[str]] = {}
        for check in self.checks:
            if check.outcome == "skipped":
                why = "; ".join(filter(None, (check.message, check.remedy)))
                reasons.setdefault(why, []).append(check.name)
        return [
            *(f"Skipped: {', '.join(names)} ({why})." for why, names in reasons.items()),
            *([] if self.examples is None else self.examples.summary()),
        ]

    def details(self) -> list["Table"]:
        """Return what the other checks counted."""
        passed = _table([check for check in self.checks if check.passes])
        return [] if passed is None else [passed]

    def to_frame(self) -> pl.DataFrame:
        """Return a row for each check: name, outcome, message, remedy."""
        return pl.DataFrame([asdict(check) for check in self.checks])
