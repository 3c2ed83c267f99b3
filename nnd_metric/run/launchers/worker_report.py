"""The report of a worker."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from nnd.schemas import Printable, StoredAs

if TYPE_CHECKING:
    from rich.table import Table


@dataclass(frozen=True, slots=True, repr=False)
class WorkerReport(Printable):
    """The number of finished and of remaining parts.

    Attributes:
        number: The number of the worker.
        of: Number of workers.
        done: Number of parts that it has just scored.
        left: Folder of a run → number of its unfinished parts, over all models.
        parts: Number of parts in all runs, over all models.
    """

    number: Annotated[int, StoredAs("worker")]
    of: int
    done: int
    left: Mapping[Path, int]
    parts: int

    def headline(self) -> str:
        """Return the number of scored and of remaining parts."""
        left = sum(self.left.values())
        return (
            f"Worker {self.number} of {self.of} scored {self.done:,} parts; {left:,} of "
            f"{self.parts:,} are left."
        )

    def table(self) -> "Table | None":
        """Return None: the headline has all the numbers."""
        return None

    def remarks(self) -> list[str]:
        """Return the commands that merge complete runs."""
        return [f"Next: nnd merge {folder}" for folder, left in self.left.items() if not left]
