"""The result of `validate`: every problem, and the file that has it."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from nnd.schemas import Printable, Problem, counted, one_line, text_table

if TYPE_CHECKING:
    from rich.table import Table

_COLUMNS = {
    "file": pl.String,
    "row": pl.Int64,
    "path": pl.String,
    "message": pl.String,
    "remedy": pl.String,
}


class Finding(NamedTuple):
    """A problem and the file of the folder that has it."""

    file: str
    problem: Problem

    def __str__(self) -> str:
        return f"{self.file}: {self.problem}"


def located(problem: Problem, parts: Mapping[str, pl.DataFrame]) -> Finding:
    """Return a problem of concatenated files with the file and the row in it that have it."""
    first = 0
    for path, frame in parts.items():
        if problem.row is None:
            return Finding(path, problem)
        if problem.row < first + frame.height:
            return Finding(path, replace(problem, row=problem.row - first))
        first += frame.height
    raise IndexError(problem.row)


@dataclass(frozen=True, slots=True, repr=False)
class Validation(Printable):
    """What is wrong with a converted folder; true if nothing is.

    Attributes:
        folder: The folder.
        findings: Every problem.
    """

    folder: Path
    findings: tuple[Finding, ...]

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __len__(self) -> int:
        return len(self.findings)

    def __bool__(self) -> bool:
        return self.ok

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.findings

    def headline(self) -> str:
        """Return the folder and how many problems it has."""
        return f"{self.folder} has {counted(len(self.findings), 'problem')}."

    def table(self) -> "Table | None":
        """Return a row for each problem."""
        if self.ok:
            return None
        rows = (
            [_place(finding), one_line(finding.problem.message), one_line(finding.problem.remedy)]
            for finding in self
        )
        titles = ("where", "problem", "what to do")
        return text_table(titles, rows, prose=titles[1:])

    def to_frame(self) -> pl.DataFrame:
        """Return a row for each problem: file, row, path, message, remedy."""
        rows = [{"file": file, **asdict(problem)} for file, problem in self.findings]
        return pl.DataFrame(rows, schema=_COLUMNS)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain Python values."""
        return {"folder": str(self.folder), "problems": [str(finding) for finding in self.findings]}


def _place(finding: Finding) -> str:
    row = [] if finding.problem.row is None else [f"row {finding.problem.row}"]
    path = [one_line(finding.problem.path)] if finding.problem.path else []
    return f"{finding.file}\n{', '.join([*row, *path])}".rstrip("\n")
