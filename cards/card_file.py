"""`nnd card`: makes, writes or checks the card of a folder."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from nnd.cards.dataset import data_card, read_card, write_card
from nnd.cards.lint.card_linter import check_card
from nnd.schemas import Printable, Problem, counted, one_line, text_table

if TYPE_CHECKING:
    from rich.table import Table

_COLUMNS = {"path": pl.String, "message": pl.String, "remedy": pl.String}


@dataclass(frozen=True, slots=True, repr=False)
class DataCard(Printable):
    """The card of a folder.

    Attributes:
        folder: The folder.
        text: The card.
        file: The file that was written or checked; None if the card was only made.
        problems: What is wrong with it; None if it was not checked.
    """

    folder: Path
    text: str
    file: Path | None = None
    problems: tuple[Problem, ...] | None = None

    def __iter__(self) -> Iterator[Problem]:
        return iter(self.problems or ())

    @property
    def ok(self) -> bool:
        """Whether it has no known problem."""
        return not self.problems

    def headline(self) -> str:
        """Return the file and the number of lines or problems."""
        if self.problems is not None:
            return f"{self.file} has {counted(len(self.problems), 'problem')}."
        lines = counted(len(self.text.splitlines()), "line")
        says = f"has {lines}" if self.file is None else f"is in {self.file} ({lines})"
        return f"The card of {self.folder} {says}."

    def table(self) -> "Table | None":
        """Return a row for each problem, if there are any."""
        if not self.problems:
            return None
        rows = self.to_frame().rows()
        titles = ("section", "problem", "what to do")
        return text_table(titles, ([*map(one_line, row)] for row in rows), prose=titles)

    def to_frame(self) -> pl.DataFrame:
        """Return a row for each problem: path (the section), message, remedy."""
        rows = [(one.path, one.message, one.remedy) for one in self]
        return pl.DataFrame(rows, schema=_COLUMNS, orient="row")

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain Python values."""
        return {
            "folder": str(self.folder),
            "text": self.text,
            "file": None if self.file is None else str(self.file),
            "problems": None if self.problems is None else [str(one) for one in self.problems],
        }


def card(
    folder: str | Path,
    existing: str | Path | None = None,
    *,
    repo: str | None = None,
    out: str | Path | None = None,
    check: bool = False,
) -> DataCard:
    """Write the data card of a converted folder, or check one.

    Checking lists every problem and works offline; the exit code is 1 if there are any.

    Args:
        folder: A folder that `nnd convert` wrote, or one from the Hub.
        existing: Card to check. None means README.md of the folder.
        repo: Hub name of the dataset, for the commands on the card that load it. None means ORG/
            followed by the name of the folder.
        out: File to write. None means standard output.
        check: Whether to check a card against the data instead.

    Raises:
        NNDError: If the folder is not such a folder, or has no card to check.
        OSError: If `out` cannot be written.

    Examples:
        nnd card quiz_design-nnd --repo my-org/quiz_design --out README.md
    """
    folder = Path(folder)
    if check or existing is not None:
        file = Path(existing or folder / "README.md")
        text = read_card(file)
        return DataCard(folder, text, file, tuple(check_card(text, folder)))
    name = repo or f"ORG/{folder.resolve().name}"
    if out is None:
        return DataCard(folder, data_card(folder, name))
    write_card(folder, name, Path(out))
    return DataCard(folder, read_card(Path(out)), Path(out))
