"""What a check of a source found: a line with its remedy."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from nnd.schemas import one_line

Outcome: TypeAlias = Literal["pass", "fail", "look", "not reached"]
"""`look` wants a person's eyes and is no failure. `not reached` is what could not be checked: for
want of something that failed before, or of the real file."""

AT_HAND = "name the real file with --from"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that a reviewer would look at.

    Attributes:
        name: What was looked at.
        outcome: What came of it.
        message: What is the case, in a line.
        remedy: What to do about it; empty where there is nothing to do.
    """

    name: str
    outcome: Outcome
    message: str
    remedy: str = ""

    def __str__(self) -> str:
        remedy = f" ({self.remedy})" if self.remedy else ""
        return one_line(f"{self.outcome}: {self.name}: {self.message}{remedy}")


def not_reached(name: str, because: str) -> Check:
    """Return a check that another one stands in the way of."""
    return Check(name, "not reached", f'"{because}" comes first')


def listed(names: list[str], most: int = 8) -> str:
    """Return names as a message lists them."""
    more = f", and {len(names) - most} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"
