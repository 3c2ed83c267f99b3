"""What `nnd new-source` shows: the columns of the files, the shapes that fit, and what is open."""

import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from nnd.converters.folder import Examples, pairs_of_contexts
from nnd.converters.onboard.contents.reading_files import Content
from nnd.converters.onboard.guess.shapes import Shape
from nnd.converters.onboard.scaffold.first_facts import OpenField
from nnd.schemas import Printable, excerpt, listed, shown, text_table

if TYPE_CHECKING:
    from rich.table import Table

_SAMPLES = 3
_LONGEST_SAMPLE = 40


@dataclass(frozen=True, slots=True, repr=False)
class NewSource(Printable):
    """A source folder, the columns of its files, and what is still open in it."""

    folder: Path
    origin: tuple[Path, ...]  # the annotation files, or folders of them
    contents: tuple[Content, ...]  # the files by shape; the one with the texts first
    shapes: tuple[Shape, ...]  # that fit; empty if the folder was there before
    open: tuple[str, ...]  # lines of source.yaml that a person must look at
    problem: str | None  # why it does not convert; None if it does
    counts: Mapping[str, Any]  # counts of the files, as in a manifest; empty if it does not convert
    with_pair: int  # contexts that have a pair
    left: tuple[OpenField, ...]  # facts that only a person knows, and why they are asked
    examples: Examples | None  # a few of its pairs to look at

    def headline(self) -> str:
        """Return the numbers of pairs and contexts, or what keeps it from converting."""
        if self.problem is not None:
            return f"The source is in {self.folder}; it does not convert yet."
        made, judged = pairs_of_contexts(self.counts, self.with_pair)
        return f"{made}{judged}; the source is in {self.folder}."

    def table(self) -> "Table":
        """Return the columns of the files, each with its kind and values."""
        titles = ("column", "kind", "values", "such as")
        rows = [
            [
                column["column"],
                column["kind"],
                f"{column['distinct']:,} of {column['filled']:,}",
                "\n".join(excerpt(sample, _LONGEST_SAMPLE) for sample in column["samples"][:2]),
            ]
            for column in self.columns()
        ]
        return text_table(titles, rows, prose=titles[3:])

    def details(self) -> "list[Table | str]":
        """Return the facts that are left to fill in, with the reasons."""
        titles = ("left to fill in", "with", "because")
        return [text_table(titles, self.left, prose=titles[1:])]

    def remarks(self) -> "list[Table | str]":
        """Return the shapes that fit, what is open, the next steps, and a few pairs."""
        place = self.folder if len(self.folder.parts) > 1 else f"./{self.folder}"
        yaml, origin = self.folder / "source.yaml", common_place(self.origin)
        others = self.contents[1:]
        shapes = [f"{shape.name} ({shape.picture})" for shape in self.shapes]
        return [
            *(note for content in self.contents for note in content.notes),
            *(
                f"Files of another shape, which a `join` can read: {listed(content.files, 1)}."
                for content in others
            ),
            *([f"Shape: {shapes[0]}."] if shapes else []),
            *([f"Also fits: {'; '.join(shapes[1:])} (--shape)."] if shapes[1:] else []),
            *([f"Open in {yaml}:", *(f"  {line}" for line in self.open)] if self.open else []),
            *([f"It does not convert: {self.problem}"] if self.problem else []),
            f"Next: edit {yaml}, and look again with",
            f"  nnd new-source {shlex.quote(self.folder.name)}"
            + (f" --out {shlex.quote(str(self.folder))}" if len(self.folder.parts) > 1 else ""),
            f"When nothing is open, fill in the {len(self.left)} facts (--details), then",
            f"  nnd convert {place} --from {origin}",
            f"  nnd check-source {place} --from {origin}",
            *([] if self.examples is None else self.examples.summary()),
        ]

    def columns(self) -> list[dict[str, Any]]:
        """Return the columns with their kinds and samples."""
        return [
            {
                "column": column.path,
                "kind": column.kind,
                "distinct": len(column.counts),
                "filled": len(column.cells),
                "samples": [shown(value) for value in list(column.counts)[:_SAMPLES]],
            }
            for content in self.contents
            for column in content.columns
        ]

    def to_frame(self) -> pl.DataFrame:
        """Return a row for each column of the files: column, kind, distinct, filled, samples."""
        return pl.DataFrame(self.columns())

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "folder": str(self.folder),
            "columns": self.columns(),
            "shapes": [shape.name for shape in self.shapes],
            "open": list(self.open),
            "problem": self.problem,
            "counts": dict(self.counts),
            "left": [left._asdict() for left in self.left],
        }


def common_place(paths: Sequence[Path]) -> Path:
    """Return the place of all files: the only one, or the folder of several."""
    if len(paths) == 1:
        return paths[0]
    return Path(
        os.path.commonpath([p if p.is_dir() else p.parent for p in map(Path.resolve, paths)])
    )
