"""The result of `nnd new-source`: the source, the guess, and what is left to do."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from nnd.converters.folder import Examples, pairs_of_contexts
from nnd.converters.onboard.guess.guessing import Guess
from nnd.converters.onboard.guess.looking import samples
from nnd.converters.onboard.scaffold.commented_yaml import Left
from nnd.schemas import Shown, excerpt, text_table

if TYPE_CHECKING:
    from rich.table import Table

_LONGEST_SAMPLE = 40


@dataclass(frozen=True, slots=True, repr=False)
class NewSource(Shown):
    """A source folder that was written."""

    folder: Path
    file: Path  # the annotation file, or the folder of several
    guess: Guess  # the guessed meaning of the columns
    files: tuple[str, ...]  # in the folder
    counts: Mapping[str, Any]  # counts of the file, as in a manifest
    with_pair: int  # contexts that have a pair
    notes: tuple[str, ...]  # unread parts of the file, with the option that reads them
    left: tuple[Left, ...]  # what a person must fill in or check, and why
    examples: Examples  # a few of its pairs to look at

    def headline(self) -> str:
        """Return the numbers of pairs and contexts, and the folder of the source."""
        made, judged = pairs_of_contexts(self.counts, self.with_pair)
        return f"{made}{judged}; the source is in {self.folder}."

    def table(self) -> "Table":
        """Return the guessed meaning of every column, with values from the file."""
        titles = ("column", "taken for", "such as")
        rows = [
            [
                column["column"],
                column["role"],
                "\n".join(excerpt(sample, _LONGEST_SAMPLE) for sample in column["samples"][:2]),
            ]
            for column in self.columns()
        ]
        return text_table(titles, rows, prose=titles[2:])

    def details(self) -> "list[Table | str]":
        """Return the fields that are left to fill in, with the reasons."""
        titles = ("left to fill in", "with", "because")
        return [text_table(titles, self.left, prose=titles[1:])]

    def remarks(self) -> list[str]:
        """Return what was left out, the chosen rule, and the next steps."""
        quality = self.guess.quality
        rule = ", ".join(f"{name} {value}" for name, value in quality.rule.items())
        fields = ", ".join(left.field for left in self.left)
        place = self.folder if len(self.folder.parts) > 1 else f"./{self.folder}"
        return [
            *self.notes,
            f"Quality: {rule} ({quality.why}).",
            f"Written: {', '.join(self.files)}.",
            f"Next: fill in {self.folder / 'source.yaml'} ({fields}; --details says how), then",
            f"  nnd convert {place} --from {self.file}",
            f"  nnd check-source {place} --from {self.file}",
        ]

    def columns(self) -> list[dict[str, Any]]:
        """Return the guessed meaning of every column, with samples."""
        roles = self.guess.roles()
        return [
            {
                "column": column.name,
                "role": roles[column.name],
                "distinct": len(column.counts),
                "samples": samples(column),
            }
            for column in self.guess.columns
        ]

    def to_frame(self) -> pl.DataFrame:
        """Return a row for each column of the file: column, role, distinct, samples."""
        return pl.DataFrame(self.columns())

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "folder": str(self.folder),
            "columns": self.columns(),
            "quality": dict(self.guess.quality.rule),
            "why": self.guess.quality.why,
            "files": list(self.files),
            "counts": dict(self.counts),
            "notes": list(self.notes),
            "left": [left._asdict() for left in self.left],
        }
