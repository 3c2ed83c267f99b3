"""What a worker has done."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nnd.schemas import Shown

if TYPE_CHECKING:
    from rich.table import Table


@dataclass(frozen=True, slots=True, repr=False)
class WorkerReport(Shown):
    """What a worker has done, and what is left.

    Attributes:
        number: The number of the worker.
        of: How many workers there are.
        done: How many parts it has scored now.
        left: Folder of a run → how many of its parts are not finished, of all models.
        parts: How many parts there are in all runs, of all models.
    """

    number: int
    of: int
    done: int
    left: Mapping[Path, int]
    parts: int

    def headline(self) -> str:
        """Return how many parts were scored, and how many are left."""
        left = sum(self.left.values())
        return (
            f"Worker {self.number} of {self.of} scored {self.done:,} parts; {left:,} of "
            f"{self.parts:,} are left."
        )

    def table(self) -> "Table | None":
        """Return nothing: there are no other numbers."""
        return None

    def remarks(self) -> list[str]:
        """Return which runs can be merged."""
        return [f"Next: nnd merge {folder}" for folder, left in self.left.items() if not left]

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values."""
        left = {str(folder): parts for folder, parts in self.left.items()}
        return {
            "worker": self.number,
            "of": self.of,
            "done": self.done,
            "left": left,
            "parts": self.parts,
        }
