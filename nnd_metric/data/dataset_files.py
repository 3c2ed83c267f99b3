"""Which files of a dataset are read: files inside its folder, whatever its own files name.

Cards and states of datasets name files. The library `datasets` opens whatever they name, URLs and
other files of this machine included, so nnd looks the names up among the files of the folder, by
the rules of that library, and refuses all others.
"""

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from nnd.metric.data.class_names import ClassNames, classes_of_card
from nnd.schemas import (
    ScoringError,
    SourceError,
    excerpt,
    is_inside,
    leads_out,
    listed,
    outside,
    path_inside,
    read_json,
    read_metadata,
    split_head,
)

_CARD = "README.md"
_STATE = "state.json"
_SPLITS = "dataset_dict.json"

_KINDS = {".jsonl": "json", ".json": "json", ".csv": "csv", ".parquet": "parquet"}
"""Suffix of a table → its kind; a dataset whose card names no files has tables of one kind."""

_NO_TABLES = ("config.json", "dataset_info.json", "dataset_infos.json", _SPLITS)

_WORDS = {
    split: re.compile(rf"(?:^|[-._ 0-9])(?:{words})(?:$|[-._ 0-9])")
    for split, words in {
        "train": "train|training",
        "validation": "validation|valid|dev|val",
        "test": "test|testing|eval|evaluation",
    }.items()
}
"""Split → the words that name it in the name of a file or folder."""

_SHARD = re.compile(r"data/([^/]*)-\d{5}-of-\d{5}[^/]*\.[^/]*")

_SPLIT = re.compile(r"\w+(\.\w+)*")
"""Matches the name of a split, as `datasets` has it."""

_READ = ("config_name", "data_files", "data_dir", "default")
_HARMLESS = ("description", "version", "drop_labels", "features")
"""Keys of a configuration that change no text of the rows."""

_REMEDY = "download the file that you mean, and name it"
_LARGEST_CARD = 5_000_000


class DatasetFiles(NamedTuple):
    """The files of each split, and the classes that the card names."""

    splits: Mapping[str, Sequence[Path]]
    classes: ClassNames


def hub_files(folder: Path, name: str) -> DatasetFiles:
    """Return the tables of a downloaded dataset, as its card says, or else as their names do.

    Raises:
        ScoringError: If the card cannot be read, names a file outside the folder or one that is
            not there, has several configurations, or one that says how tables are to be read.
    """
    where = f"{name}: {_CARD}"
    card = _read_card(folder / _CARD, where)
    tables = sorted(_tables_in(folder))
    config = _default_config(card.get("configs"), where)
    home = config.get("data_dir") or ""
    _check_name(home, where)
    inside = [path for path in tables if PurePosixPath(path).is_relative_to(home)]
    if config.get("data_files"):
        named = _named_splits(config["data_files"], where)
        paths = {split: _matching(tables, home, each, where) for split, each in named.items()}
    else:
        paths = _splits_by_name(_of_one_kind(inside))
    files = {
        split: [path_inside(folder, each, where, ScoringError) for each in of]
        for split, of in paths.items()
    }
    return DatasetFiles(files, classes_of_card(card, config.get("config_name")))


def saved_files(folder: Path, name: str) -> dict[str | None, list[Path]] | None:
    """Return the Arrow files of each split in a folder that `save_to_disk` of `datasets` wrote.

    The split is None if there are none; the result is None for other folders.
    """
    if (folder / _SPLITS).is_file():
        where = f"{name}: {_SPLITS}"
        splits = _field(folder / _SPLITS, "splits", where)
        return {
            str(split): _arrow_files(path_inside(folder, split, where, ScoringError), name)
            for split in splits
        }
    return {None: _arrow_files(folder, name)} if (folder / _STATE).is_file() else None


def _arrow_files(folder: Path, name: str) -> list[Path]:
    where = f"{name}: {_STATE}"
    named = _field(folder / _STATE, "_data_files", where)
    files = [each.get("filename") if isinstance(each, dict) else each for each in named]
    return [path_inside(folder, each, where, ScoringError) for each in files]


def _field(path: Path, key: str, where: str) -> list[Any]:
    """Return a list in a small JSON file."""
    try:
        content = read_json(path)
    except SourceError as error:
        raise ScoringError("file.not-a-table", error.what, where, _REMEDY) from error
    found = content.get(key) if isinstance(content, dict) else None
    if not isinstance(found, list):
        raise ScoringError("file.not-a-table", f"{key} is not a list", where, _REMEDY)
    return found


def _read_card(path: Path, where: str) -> dict[str, Any]:
    if not path.is_file():
        return {}
    if leads_out(path.parent, path):
        raise outside(_CARD, where, ScoringError)
    with path.open("rb") as file:
        text = file.read(_LARGEST_CARD).decode("utf-8-sig", errors="replace")
    metadata: dict[str, Any] = read_metadata(split_head(text)[0], where, ScoringError)
    return metadata


def _tables_in(folder: Path) -> Iterator[str]:
    """Yield the paths of the tables in a folder, without hidden ones, as `a/b.csv`."""
    for home, folders, names in os.walk(folder):  # which follows no links to folders
        folders[:] = [each for each in folders if not each.startswith((".", "__"))]
        for name in names:
            is_table = Path(name).suffix.lower() in _KINDS and name not in _NO_TABLES
            if is_table and not name.startswith("."):
                yield Path(home, name).relative_to(folder).as_posix()


def _default_config(configs: Any, where: str) -> dict[str, Any]:  # noqa: ANN401 - as a card has it
    """Return the configuration of a card that is read by default; it is empty without any."""
    if not configs:
        return {}
    if not isinstance(configs, list) or not all(isinstance(each, dict) for each in configs):
        raise _unread("configs is not a list of configurations", where)
    chosen = [
        each
        for each in configs
        if len(configs) == 1 or each.get("config_name") == "default" or each.get("default")
    ]
    if len(chosen) != 1:
        names = listed([str(each.get("config_name")) for each in configs])
        raise _unread(f"the dataset has several configurations ({names})", where)
    unread = [str(key) for key in chosen[0] if key not in (*_READ, *_HARMLESS)]
    if unread:
        raise _unread(
            f"it says how to read the tables ({listed(unread)}), which nnd does not", where
        )
    return dict(chosen[0])


def _named_splits(data_files: Any, where: str) -> dict[str, list[str]]:  # noqa: ANN401 - as above
    """Return the patterns of the files of each split, as a card names them."""
    items = data_files if isinstance(data_files, list) else [data_files]
    splits: dict[str, list[str]] = {}
    for item in items:
        entry = item if isinstance(item, dict) else {"split": "train", "path": item}
        named = entry.get("path")
        patterns: list[Any] = named if isinstance(named, list) else [named]
        for pattern in patterns:
            _check_name(pattern, where)
        split = entry.get("split")
        if not isinstance(split, str) or not _SPLIT.fullmatch(split):
            raise _unread(
                f'the split "{excerpt(str(split))}" of its data_files is not a name', where
            )
        splits.setdefault(split, []).extend(patterns)
    return splits


def _check_name(name: object, where: str) -> None:
    if name != "" and not is_inside(name):
        raise outside(name, where, ScoringError)


def _matching(tables: Sequence[str], home: str, patterns: Sequence[str], where: str) -> list[str]:
    """Return the tables that some patterns name, each once."""
    found: dict[str, None] = {}
    for pattern in patterns:
        parts = PurePosixPath(home, pattern).parts
        matching = [path for path in tables if _matches(PurePosixPath(path).parts, parts)]
        if not matching:
            raise _unread(f'it names "{pattern}", and there is no such table', where)
        found |= dict.fromkeys(matching)
    return [*found]


@lru_cache(maxsize=10_000)
def _matches(path: tuple[str, ...], pattern: tuple[str, ...]) -> bool:
    """Whether a path has the form of a pattern, in which ** stands for any number of folders."""
    if not pattern:
        return not path
    if pattern[0] == "**":
        return any(_matches(path[n:], pattern[1:] or ("*",)) for n in range(len(path)))
    return bool(path) and fnmatchcase(path[0], pattern[0]) and _matches(path[1:], pattern[1:])


def _of_one_kind(tables: Sequence[str]) -> list[str]:
    """Return the tables of the commonest kind."""
    kinds = [_KINDS[Path(path).suffix.lower()] for path in tables]
    commonest = [kind for kind, _ in Counter(kinds).most_common(1)]
    return [path for path, kind in zip(tables, kinds, strict=True) if kind in commonest]


def _splits_by_name(tables: Sequence[str]) -> dict[str, list[str]]:
    """Return the tables of each split, as names of shards, of folders or of files tell."""
    shards = {path: shard[1] for path in tables if (shard := _SHARD.fullmatch(path))}
    if shards:
        splits = sorted(set(shards.values()), key=lambda each: ([*_WORDS, each].index(each), each))
        return {split: [path for path in tables if shards.get(path) == split] for split in splits}
    paths = [PurePosixPath(path) for path in tables]
    for parts in ([path.parts[:-1] for path in paths], [(path.name,) for path in paths]):
        found = {
            split: [
                path for path, of in zip(tables, parts, strict=True) if any(map(pattern.search, of))
            ]
            for split, pattern in _WORDS.items()
        }
        if any(found.values()):
            return {split: named for split, named in found.items() if named}
    return {"train": list(tables)}


def _unread(what: str, where: str) -> ScoringError:
    return ScoringError("file.not-a-table", what, where, _REMEDY)
