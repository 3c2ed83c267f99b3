"""The report of a new suite."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from nnd.schemas import Shown, counted, counts_in_words, text_table

if TYPE_CHECKING:
    from rich.table import Table

_COUNTS = ("pairs", "parents", "unchanged", "rejected", "dropped")


@dataclass(frozen=True, slots=True, repr=False)
class SuiteReport(Shown):
    """A suite that was written.

    Attributes:
        folder: Its folder.
        source: Name of the source.
        sets: The entry of each set in the manifest.
    """

    folder: Path
    source: str
    sets: tuple[Mapping[str, Any], ...]

    def headline(self) -> str:
        """Return the number of sets, the source and the folder."""
        pairs = sum(entry["pairs"] for entry in self.sets)
        made = f"{counted(len(self.sets), 'set')} with {counted(pairs, 'pair')}"
        return f"{made} from {self.source}, written to {self.folder}."

    def table(self) -> "Table":
        """Return a row for each set."""
        rows = (
            [entry["name"], entry["kind"], *(_count(entry[name]) for name in _COUNTS)]
            for entry in self.sets
        )
        return text_table(("set", "kind", *_COUNTS), rows, right=_COUNTS)

    def remarks(self) -> list[str]:
        """Return why texts were rejected."""
        return [
            f"{entry['name']} refused {counted(entry['rejected'], 'text')}: {reasons}."
            for entry in self.sets
            if (reasons := counts_in_words(entry["refusals"] or {}))
        ]

    def to_frame(self) -> pl.DataFrame:
        """Return a row for each set, without its parameters and refusals."""
        names = [name for name in self.sets[0] if name not in ("parameters", "refusals")]
        return pl.DataFrame([{name: entry[name] for name in names} for entry in self.sets])


def _count(count: int | None) -> str:
    return "" if count is None else f"{count:,}"
