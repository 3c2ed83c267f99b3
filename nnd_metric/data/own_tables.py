"""Tables of one's own as they are stored: in a file of any usual kind, or a dataset on the Hub."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path, PurePosixPath
from types import NoneType
from typing import Any, TypeAlias

import polars as pl

from nnd.metric.data.any_frames import Column, to_frame
from nnd.metric.data.class_names import ClassNames, class_name, classes_of_parquet
from nnd.metric.data.dataset_files import hub_files, saved_files
from nnd.metric.data.human_scores import HUMAN_SCORES
from nnd.metric.data.known_columns import OwnTable
from nnd.metric.data.remote import File, fetched, readable
from nnd.schemas import (
    CELL_SUFFIXES,
    ScoringError,
    SourceError,
    collector_paused,
    find_options,
    kind_of,
    load_json,
    read_by_header,
    read_parquet,
    read_rows,
    stored_columns,
)

SUFFIXES = (".jsonl", ".csv", ".parquet")
"""Suffixes of the files that are read of a folder."""

TABLES = (".csv", ".tsv", ".jsonl", ".json", ".parquet")
"""Suffixes of tables."""

HUB_FILES = ("README.md", *(f"*{suffix}" for suffix in (*SUFFIXES, ".json")))
"""Patterns of the files of a dataset on the Hub that nnd did not write."""


_Columns: TypeAlias = tuple[list[str], dict[str, list[Any]], list[str]]
"""The names of all columns, those that are read, and the place of each row."""

_OBJECTS = ("inputs", "metadata")
"""Columns that `nnd export --to csv` writes as JSON objects."""


def read_table(file: File, wanted: Collection[str] | None = None) -> OwnTable:
    """Return the table in a file, whose suffix says its kind; without one it is Parquet.

    Of its columns, only the `wanted` ones are read; None means all.

    Raises:
        ScoringError: If it cannot be read; it names file and line.
    """
    path = Path(file) if isinstance(file, Path) else PurePosixPath(file.partition("?")[0])
    try:
        if kind_of(path) in (None, ".parquet"):
            return _read_parquet(file, path.stem, wanted)
        with fetched(file) as local:
            return _read_rows(local, wanted)
    except SourceError as error:
        raise error.inside("", ScoringError) from error


def tables_in(folder: Path, wanted: Collection[str] | None = None) -> list[OwnTable]:
    """Return the tables of the files in a folder, in the order of their names.

    A folder that `save_to_disk` of the library `datasets` wrote is one table, of all splits.
    """
    name = folder.resolve().name
    saved = saved_files(folder, name)
    if saved is not None:
        return [_read_saved(saved, name)]
    names = {path.name: path for path in folder.iterdir() if path.suffix.lower() in SUFFIXES}
    return [read_table(names[name], wanted) for name in sorted(names) if name != HUMAN_SCORES]


def read_hub_dataset(
    folder: Path, name: str, wanted: Collection[str] | None = None
) -> list[OwnTable]:
    """Return the tables of a downloaded dataset, with their splits and the names of classes."""
    splits, classes = hub_files(folder, name)
    return [
        _completed(read_table(path, wanted), split, {**classes_of_parquet(path), **classes})
        for split, paths in splits.items()
        for path in paths
    ]


def _completed(table: OwnTable, split: str, classes: ClassNames) -> OwnTable:
    columns = dict(table.columns)
    for column in classes.keys() & columns.keys():
        columns[column] = _column([class_name(each, classes[column]) for each in columns[column]])
    height = len(next(iter(columns.values()), ()))
    columns.setdefault("split", pl.Series([split], dtype=pl.String).new_from_index(0, height))
    return table._replace(columns=columns)


def _read_saved(splits: Mapping[str | None, Sequence[Path]], name: str) -> OwnTable:
    """Return the rows of Arrow files that the library `datasets` wrote."""
    import datasets  # noqa: PLC0415 - takes a second

    try:
        frames = [
            to_frame(datasets.Dataset.from_file(str(path))).with_columns(
                [] if split is None else pl.lit(split).alias("split")
            )
            for split, paths in splits.items()
            for path in paths
        ]
        return OwnTable.of(pl.concat(frames, how="diagonal_relaxed"), name)
    except Exception as error:  # of the library, Arrow or polars
        reason = " ".join(str(error).split()) or repr(error)
        raise ScoringError(
            "file.not-a-table",
            f"the dataset cannot be read as one table: {reason}",
            name,
            "download the file that you mean, and name it",
        ) from error


def _read_parquet(file: File, name: str, wanted: Collection[str] | None) -> OwnTable:
    with readable(file) as opened:
        names = stored_columns(opened)
    chosen = [each for each in names if wanted is None or each in wanted]
    with readable(file) as opened:
        frame = read_parquet(opened, chosen)
    return OwnTable.of(frame, name)._replace(names=names)


@collector_paused()
def _read_rows(path: Path, wanted: Collection[str] | None) -> OwnTable:
    """Return the table in a file of cells or of JSON."""
    read = _columns_of_cells if kind_of(path) in CELL_SUFFIXES else _columns_of_objects
    names, columns, places = read(path, wanted)
    if not places:
        raise SourceError("file.empty", "the table has no rows", path.name)
    of_kinds = {name: _column(values) for name, values in columns.items()}
    return OwnTable(path.name.partition(".")[0], of_kinds, places.__getitem__, path.name, names)


def _columns_of_cells(path: Path, wanted: Collection[str] | None) -> _Columns:
    at, rows = read_by_header(path, path.name, find_options(path))
    chosen = {name: at[name] for name in at if wanted is None or name in wanted}
    places, texts = list[str](), [list[str]() for _ in chosen]
    appends = [(texts.append, place) for texts, place in zip(texts, chosen.values(), strict=True)]
    for where, values in rows:
        places.append(where)
        for append, place in appends:
            append(values[place])
    columns = zip(chosen, texts, strict=True)
    return [*at], {name: _cells(name, cells, places) for name, cells in columns}, places


def _columns_of_objects(path: Path, wanted: Collection[str] | None) -> _Columns:
    names, rows, places = dict[str, None](), list[Mapping[str, Any]](), list[str]()
    known: Collection[str] = ()
    for where, fields in read_rows(path, path.name, {}):
        if fields.keys() != known:  # seldom: most tables have the same columns in all rows
            known, names = fields.keys(), names | dict.fromkeys(fields)
            chosen = [name for name in known if wanted is None or name in wanted]
        is_whole = len(chosen) == len(fields)
        rows.append(fields if is_whole else {name: fields[name] for name in chosen})
        places.append(where)
    found = [name for name in names if wanted is None or name in wanted]
    return [*names], {name: [row.get(name) for row in rows] for name in found}, places


def _cells(name: str, cells: list[str], places: Sequence[str]) -> list[Any]:
    """Return the values in a column of cells, in which an empty one is null."""
    if name in _OBJECTS:
        wheres = [f"{place}: {name}" for place in places]
        return [load_json(cell or "{}", where) for cell, where in zip(cells, wheres, strict=True)]
    if name in ("context", "prompt"):  # of which an empty one is a text
        return cells
    return [cell or None for cell in cells]


def _column(values: list[Any]) -> Column:
    is_text = {*map(type, values)} <= {str, NoneType}
    return pl.Series(values, dtype=pl.String) if is_text else values
