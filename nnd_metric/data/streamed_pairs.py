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

from nnd.metric.data.any_frames import PairData
from nnd.metric.data.completion import REQUIRED, Complete, complete_pairs
from nnd.metric.data.converted_folder import cluster_in, has_sets, instruction_in
from nnd.metric.data.data_places import find_place
from nnd.metric.data.human_scores import read_human_scores, read_scores_in
from nnd.metric.data.judgements import Judgements, find_judgements
from nnd.metric.data.pairs import NEEDED, PairSet, load_pairs
from nnd.metric.data.remote import File, is_url, readable, stem_of
from nnd.metric.data.splits import check_splits, default_splits
from nnd.metric.data.subset import as_part, choose_splits
from nnd.schemas import frame_files, read_row_group, row_group_sizes, stored_columns

Span: TypeAlias = tuple[int, int]
"""The first row of a span, and the one after the last."""


class Chunk(NamedTuple):
    """Some rows of a table, in order.

    Given names of columns, `read` returns only these, as far as there are any.
    """

    rows: int
    read: Callable[..., pl.DataFrame]


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
        """Return some rows of a table."""
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


def open_pairs(data: PairData | PairSet, splits: Sequence[str] = ()) -> PairStream:
    """Open pairs, if possible without reading their texts."""
    if isinstance(data, PairSet):
        return _in_memory(choose_splits(data, splits))
    if not isinstance(data, str | Path):
        return _in_memory(choose_splits(load_pairs(data), splits))
    if is_url(data):
        return _own_file(data, stem_of(data), splits)
    path, repo, commit = find_place(data, NEEDED)
    if path.is_file():
        return _own_file(path, path.stem, splits)
    files = frame_files(path, "pairs")
    if has_sets(path) or not files:
        return _in_memory(choose_splits(load_pairs(data), splits))
    about = _about(repo or path.resolve().name, commit)
    home = str(path) if commit is None else f"{repo}@{commit}"
    about = replace(
        about,
        human_scores=read_scores_in(path),
        home=home,
        instruction=instruction_in(path),
        cluster=cluster_in(path),
    )
    return _in_pieces(about, files, splits)


def _own_file(file: File, name: str, splits: Sequence[str]) -> PairStream:
    """Open a file; only Parquet with the names of our columns is read in pieces."""
    with readable(file) as opened:
        is_ours = _is_parquet(file) and {*stored_columns(opened)} >= {*REQUIRED}
    if not is_ours:
        return _in_memory(choose_splits(load_pairs(file), splits))
    return replace(_in_pieces(_about(name, None), [file], splits), is_own=True)


def _is_parquet(file: File) -> bool:
    return str(file).partition("?")[0].lower().endswith(".parquet")


def _about(name: str, commit: str | None) -> PairSet:
    return PairSet(pl.DataFrame(), None, name, commit or "")


def _in_pieces(about: PairSet, files: Sequence[File], names: Sequence[str]) -> PairStream:
    """Return the pairs of some splits; only the sizes of the splits are read at first."""
    chunks = row_groups(files)
    tallies = [_count_splits(chunk) for chunk in chunks]
    known = sorted({split for tally in tallies for split in tally if split is not None})
    check_splits(about.name, names, known)
    chosen = [*names] or default_splits(known)
    about = replace(about, splits=tuple(split for split in known if split in chosen))
    kept = [sum(tally.get(split, 0) for split in about.splits) for tally in tallies]
    is_whole = kept == [chunk.rows for chunk in chunks] or (not names and chosen == known)
    if is_whole:
        return PairStream(about, {"": chunks})
    read = [partial(_read_splits, chunk.read, chosen) for chunk in chunks]
    parts = [Chunk(*part) for part in zip(kept, read, strict=True) if part[0]]
    return PairStream(replace(as_part(about), version=""), {"": parts})


def _count_splits(chunk: Chunk) -> dict[str | None, int]:
    rows = chunk.read(["split"])
    return dict(rows["split"].cast(pl.String).value_counts().iter_rows()) if rows.width else {}


def _read_splits(read: Callable[..., pl.DataFrame], splits: Sequence[str]) -> pl.DataFrame:
    return read().filter(pl.col("split").cast(pl.String).is_in([*splits]))


def read_human_scores_in(data: PairData, splits: Sequence[str] | None) -> pl.DataFrame:
    """Read the human scores that come with data, of some splits."""
    people = read_human_scores(data)
    if not splits or not isinstance(data, str | Path) or is_url(data):
        return people
    place = find_place(data, NEEDED).path
    if place.is_file() or not frame_files(place, "pairs"):
        return people
    found = open_pairs(data, splits).about.human_scores
    return people if found is None else found


def find_judgements_in(data: PairData, splits: Sequence[str] | None) -> Judgements | None:
    """Return the judgements behind the human scores that come with data, of some splits."""
    if not isinstance(data, str | Path) or is_url(data):
        return None
    return open_pairs(data, splits).about.judgements() if splits else find_judgements(data)


def _in_memory(pairs: PairSet) -> PairStream:
    frames = {"": pairs.pairs, **{each.name: each.pairs for each in pairs.sets}}
    sets = tuple(replace(each, pairs=each.pairs.clear()) for each in pairs.sets)
    about = replace(pairs, pairs=pairs.pairs.clear(), sets=sets)
    chunks = {name: [Chunk(rows.height, rows.clone)] for name, rows in frames.items()}
    return PairStream(about, chunks)


def row_groups(files: Sequence[File]) -> list[Chunk]:
    """Return the row groups of Parquet files; only their sizes are read at first."""
    chunks: list[Chunk] = []
    for file in files:
        with readable(file) as opened:
            sizes = row_group_sizes(opened)
        chunks += (Chunk(rows, partial(_read, file, number)) for number, rows in enumerate(sizes))
    return chunks


def _read(file: File, number: int, columns: Sequence[str] | None = None) -> pl.DataFrame:
    with readable(file) as opened:
        return read_row_group(opened, number, columns)
