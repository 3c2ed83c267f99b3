"""The result of a check of a source: a line with its remedy."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from nnd.schemas import Record, listed, one_line

Outcome: TypeAlias = Literal["pass", "fail", "review", "skipped"]
"""`review` needs a person's judgement and is not a failure. `skipped` could not be checked, because
another check failed or the real file is missing."""

AT_HAND = "name the real file with --from, without --fixture-only"
NOT_AT_HAND = "the real files are not available"


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

    def __str__(self) -> str:
        remedy = f" ({self.remedy})" if self.remedy else ""
        return one_line(f"{self.outcome}: {self.name}: {self.message}{remedy}")


def skipped(name: str, because: str) -> Check:
    """Return a check that cannot run before another one passes."""
    return Check(name, "skipped", f'"{because}" must pass first')


def judged(
    name: str, outcome: Outcome, found: list[str], remedy: str, fine: str, *, most: int = 8
) -> Check:
    """Return a check with that outcome if anything was found, or one that passes."""
    if found:
        return Check(name, outcome, listed(list(dict.fromkeys(found)), most), remedy)
    return Check(name, "pass", fine)


def labelled(label: str, found: Iterable[str]) -> list[str]:
    """Return findings, the first one with the label of its reading."""
    return [what if number else f"{label}: {what}" for number, what in enumerate(found)]
