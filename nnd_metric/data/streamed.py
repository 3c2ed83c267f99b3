"""Read pairs in pieces: the row groups of Parquet files, or everything at once.

A hundred million pairs do not fit into memory with their texts, so the pairs of a converted folder
or a file are read one row group at a time. Suites, whose sets refer to their pairs, and tables in
memory are read as one piece.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeAlias

import polars as pl

from nnd.metric.data.completion import Complete, complete_pairs
from nnd.metric.data.pairs import NEEDED, PairData, PairSet, load_pairs, read_scores_in
from nnd.metric.data.places import find_place
from nnd.metric.data.remote import File, is_url, readable, stem_of
from nnd.metric.data.stored import has_sets, stored_files
from nnd.schemas import read_row_group, row_group_sizes

Span: TypeAlias = tuple[int, int]
"""The first row of a span, and the one after the last."""


class Chunk(NamedTuple):
    """Some rows of a table, in order.

    Attributes:
        rows: Number of rows.
        read: Returns the rows.
    """

    rows: int
    read: Callable[[], pl.DataFrame]


@dataclass(frozen=True, slots=True)
class PairStream:
    """Pairs that are read in pieces.

    Attributes:
        about: Everything but the pairs: name, human scores and sets (without their pairs). The
            version is the Hub commit, the version of data in memory, or "".
        tables: Name of a set → its rows; the name of the pairs themselves is "".
        is_own: Whether they may have pairs with two equal texts, which are dropped.
    """

    about: PairSet
    tables: dict[str, list[Chunk]]
    is_own: bool = False

    def sizes(self) -> dict[str, int]:
        """Return the number of rows of each table."""
        return {name: sum(chunk.rows for chunk in chunks) for name, chunks in self.tables.items()}

    def pieces(self, table: str) -> Iterator[Complete]:
        """Yield the rows of a table, in order."""
        for chunk in self.tables[table]:
            yield complete_pairs(chunk.read(), self.about.name)

    def rows(self, table: str, spans: Sequence[Span]) -> Complete:
        """Return some rows of a table.

        Args:
            table: Name of the table.
            spans: The rows to return, in order.

        Raises:
            ScoringError: If the table is shorter, or cannot be read.
        """
        frames, start = [], 0
        for chunk in self.tables[table]:
            inside = [(max(a - start, 0), min(b - start, chunk.rows)) for a, b in spans]
            inside = [(a, b) for a, b in inside if a < b]
            if inside:
                frame = chunk.read()
                frames += [frame.slice(a, b - a) for a, b in inside]
            start += chunk.rows
        empty = [] if frames else [self.tables[table][0].read().clear()]
        return complete_pairs(pl.concat(frames + empty), self.about.name)


def open_pairs(data: PairData | PairSet) -> PairStream:
    """Open pairs, if possible without reading them.

    Args:
        data: Same as in `load_pairs`, or its result.

    Raises:
        ScoringError: Same as in `load_pairs`.
    """
    if isinstance(data, PairSet):
        return _in_memory(data)
    if not isinstance(data, str | Path):
        return _in_memory(load_pairs(data))
    if is_url(data):
        return PairStream(_about(stem_of(data), None), {"": row_groups([data])}, is_own=True)
    path, repo, commit = find_place(data, NEEDED)
    if path.is_file():
        return PairStream(_about(path.stem, commit), {"": row_groups([path])}, is_own=True)
    files = stored_files(path, "pairs")
    if has_sets(path) or not files:
        return _in_memory(load_pairs(data))
    about = _about(repo or path.resolve().name, commit)
    return PairStream(replace(about, human_scores=read_scores_in(path)), {"": row_groups(files)})


def _about(name: str, commit: str | None) -> PairSet:
    return PairSet(pl.DataFrame(), None, name, commit or "")


def _in_memory(pairs: PairSet) -> PairStream:
    frames = {"": pairs.pairs, **{each.name: each.pairs for each in pairs.sets}}
    sets = tuple(replace(each, pairs=each.pairs.clear()) for each in pairs.sets)
    about = replace(pairs, pairs=pairs.pairs.clear(), sets=sets)
    chunks = {name: [Chunk(rows.height, rows.clone)] for name, rows in frames.items()}
    return PairStream(about, chunks)


def row_groups(files: Sequence[File]) -> list[Chunk]:
    """Return the row groups of Parquet files; only their sizes are read at first.

    Raises:
        ScoringError: If a file cannot be read as Parquet; `Chunk.read` raises it, too.
    """
    return [
        Chunk(rows, partial(_read, file, number))
        for file in files
        for number, rows in enumerate(_sizes(file))
    ]


def _sizes(file: File) -> list[int]:
    with readable(file) as opened:
        return row_group_sizes(opened)


def _read(file: File, number: int) -> pl.DataFrame:
    with readable(file) as opened:
        return read_row_group(opened, number)
