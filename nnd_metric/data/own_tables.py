"""Tables of one's own as they are stored: in a file of any usual kind, or a dataset on the Hub."""

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePath, PurePosixPath
from typing import Any, NoReturn

import polars as pl

from nnd.metric.data.any_frames import Column, check_characters, to_frame
from nnd.metric.data.class_names import ClassNames, class_name, classes_of_parquet
from nnd.metric.data.converted_folder import read_rows
from nnd.metric.data.dataset_files import hub_files, saved_files
from nnd.metric.data.human_scores import HUMAN_SCORES
from nnd.metric.data.known_columns import OwnTable
from nnd.metric.data.remote import File, readable
from nnd.schemas import ScoringError, counted

SUFFIXES = (".jsonl", ".csv", ".parquet")
"""Suffixes of the files that are read of a folder."""

TABLES = (".csv", ".tsv", ".jsonl", ".json", ".parquet")
"""Suffixes of tables."""

HUB_FILES = ("README.md", *(f"*{suffix}" for suffix in (*SUFFIXES, ".json")))
"""Patterns of the files of a dataset on the Hub that nnd did not write."""

_LONGEST_CELL = 2**31 - 1

_OBJECTS = ("inputs", "metadata")
"""Columns that `nnd export --to csv` writes as JSON objects."""


def read_table(file: File) -> OwnTable:
    """Return the table in a file, whose suffix says its kind; without one it is Parquet.

    Cells of .csv may be quoted, those of .tsv are not; an error in either, or in JSON Lines, names
    the line.
    """
    path = Path(file) if isinstance(file, Path) else PurePosixPath(file.partition("?")[0])
    match path.suffix.lower():
        case ".jsonl":
            return _read_jsonl(_text(file), path)
        case ".json":
            return _read_json(_text(file), path)
        case ".csv":
            return _read_cells(_text(file), path, ",")
        case ".tsv":
            return _read_cells(_text(file), path, "\t")
        case _:
            return OwnTable.of(read_rows(file), path.stem)


def tables_in(folder: Path) -> list[OwnTable]:
    """Return the tables of the files in a folder, in the order of their names.

    A folder that `save_to_disk` of the library `datasets` wrote is one table, of all splits.
    """
    name = folder.resolve().name
    saved = saved_files(folder, name)
    if saved is not None:
        return [_read_saved(saved, name)]
    names = {path.name: path for path in folder.iterdir() if path.suffix.lower() in SUFFIXES}
    return [read_table(names[name]) for name in sorted(names) if name != HUMAN_SCORES]


def read_hub_dataset(folder: Path, name: str) -> list[OwnTable]:
    """Return the tables of a downloaded dataset, with their splits and the names of classes."""
    splits, classes = hub_files(folder, name)
    return [
        _completed(read_table(path), split, {**classes_of_parquet(path), **classes})
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
            "download the file that you mean, and name it with --data",
        ) from error


def _text(file: File) -> str:
    with readable(file) as opened:
        content = opened.read_bytes() if isinstance(opened, Path) else opened.read()
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise ScoringError("file.not-utf8", "not UTF-8", f"{file}:{line}") from error


def _read_jsonl(text: str, path: PurePath) -> OwnTable:
    rows, lines = [], []
    for number, line in enumerate(text.split("\n"), start=1):  # \u2028 ends no line
        if line.strip():
            where = f"{path.name}:{number}"
            rows.append(_object(_json(line, where), where))
            lines.append(number)
    return _of_objects(rows, path, _places(path.name, lines))


def _read_json(text: str, path: PurePath) -> OwnTable:
    """Return the table in a list of objects, in a single one, or in one on each line."""
    if text.lstrip().startswith("{") and _is_json(text.lstrip().partition("\n")[0]):
        return _read_jsonl(text, path)
    value = _json(text, path.name)
    items = value if isinstance(value, list) else [value]
    rows = [_object(item, f"{path.name}[{number}]") for number, item in enumerate(items)]
    return _of_objects(rows, path, lambda row: f"{path.name}[{row}]")


def _of_objects(
    rows: Sequence[Mapping[str, Any]], path: PurePath, places: Callable[[int], str]
) -> OwnTable:
    names = dict.fromkeys(name for row in rows for name in row)
    columns = {name: [row.get(name) for row in rows] for name in names}
    check_characters(columns)
    texts = {name: _column(values) for name, values in columns.items()}
    return OwnTable(path.stem, texts, places, path.name)


def _read_cells(text: str, path: PurePath, delimiter: str) -> OwnTable:
    (header, *rows), (_, *lines) = _cells(text, path.name, delimiter)
    places = _places(path.name, lines)
    columns: dict[str, Column] = {}
    for number, name in enumerate(header):
        cells = [row[number] for row in rows]
        if name in _OBJECTS:
            wheres = [f"{places(row)}: {name}" for row in range(len(cells))]
            texts = zip(cells, wheres, strict=True)
            columns[name] = [_object(_json(cell or "{}", where), where) for cell, where in texts]
        else:
            is_context = name in ("context", "prompt")  # of which an empty one is a text
            columns[name] = _column([cell if cell or is_context else None for cell in cells])
    return OwnTable(path.stem, columns, places, path.name)


def _cells(text: str, name: str, delimiter: str) -> tuple[list[list[str]], list[int]]:
    """Return the rows of a file, the header first, and the line that each begins in."""
    reader = csv.reader(
        io.StringIO(text, newline=""),
        delimiter=delimiter,
        quoting=csv.QUOTE_NONE if delimiter == "\t" else csv.QUOTE_MINIMAL,
        strict=True,
    )
    rows: list[list[str]] = []
    lines: list[int] = []
    limit = csv.field_size_limit(_LONGEST_CELL)  # which is global
    try:
        begin = 1
        for row in reader:
            if row and rows and len(row) != len(rows[0]):
                raise ScoringError(
                    "file.not-csv",
                    f"{counted(len(row), 'cell')}, but the header has {len(rows[0])}",
                    f"{name}:{begin}",
                    "put a text that contains commas in quotes" if delimiter == "," else "",
                )
            if row:
                rows.append(row)
                lines.append(begin)
            begin = reader.line_num + 1
    except csv.Error as error:
        raise ScoringError(
            "file.not-csv", f"not CSV: {error}", f"{name}:{reader.line_num}"
        ) from error
    finally:
        csv.field_size_limit(limit)
    return rows or [[]], lines or [1]


def _places(name: str, lines: Sequence[int]) -> Callable[[int], str]:
    return lambda row: f"{name}:{lines[row]}"


def _column(values: list[Any]) -> Column:
    return pl.Series(values, dtype=pl.String) if _are_texts(values) else values


def _are_texts(values: Sequence[Any]) -> bool:
    return all(value is None or isinstance(value, str) for value in values)


def _object(value: object, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ScoringError("file.not-json", "not a JSON object", where)
    return value


def _json(text: str, where: str) -> Any:  # noqa: ANN401 - whatever the text holds
    try:
        return json.loads(text, parse_constant=_refuse)
    except ValueError as error:
        reason = error.msg if isinstance(error, json.JSONDecodeError) else error
        raise ScoringError("file.not-json", f"not JSON: {reason}", where) from error


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a value of JSON; leave it out, or write null")
