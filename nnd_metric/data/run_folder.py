"""The folders of `nnd evaluate`: per-pair log-likelihoods and signatures."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import polars as pl

from nnd.metric.data.converted_folder import read_rows
from nnd.metric.data.scored_schema import (
    ALONE_SCHEMA,
    READING_SCHEMA,
    SLICES,
    STORED,
    STORED_SETS,
    SURFACE_SCHEMA,
    TOKENS,
)
from nnd.metric.data.splits import check_splits, splits_in
from nnd.metric.data.streamed_pairs import row_groups
from nnd.schemas import (
    CONTEXT,
    DISTINCT,
    MANIFEST,
    NNDError,
    ScoringError,
    check_replaceable,
    exclusive,
    read_document,
    read_with,
)

RESULT = "result.json"
LIKELIHOODS = "log_likelihoods.parquet"
SETS = "sets.parquet"
TOKENS_FILE = "tokens.parquet"
PARTS = "parts"
"""Folder of a run whose parts are not merged yet."""

_ADDED = (
    *("cluster", "origin", "end_tokens", "divisor_high", "divisor_low", "distinct"),
    *(*SURFACE_SCHEMA, *ALONE_SCHEMA, *READING_SCHEMA),
)
"""Columns that older runs lack; they are read as null."""

SAME = (*DISTINCT, *SLICES, "characters_high", "characters_low")
"""Columns in which two models' rows with the same pair_id must agree."""


def run_folders(out: str | Path | None, names: Sequence[str], *, parts: bool) -> dict[str, Path]:
    """Return the folder for each dataset's results: `out` itself for one, else a folder in it.

    It is an error if one cannot be replaced, or has a run that was started the other way: in parts
    or as a whole.
    """
    if out is None:
        return {}
    place = Path(out)
    if len(names) > 1 and place.exists() and not place.is_dir():
        raise NNDError("place.wrong-kind", "is a file", place)
    folders = {name: place if len(names) == 1 else place / name for name in names}
    for folder in folders.values():
        if parts and (folder / RESULT).is_file():
            raise ScoringError("place.holds-a-run", "this folder holds a finished run", folder)
        if not parts and (folder / PARTS).is_dir():
            raise ScoringError(
                "place.holds-parts",
                "this folder holds parts that are not merged",
                folder,
                f"continue with --worker, run `nnd merge {folder}`, or name another folder "
                "with --out",
            )
        with locked_run(folder):
            check_replaceable(folder, document=RESULT, scaffold=PARTS)
    return folders


def locked_run(folder: Path | None) -> AbstractContextManager[None]:
    """Return a context in which no other process replaces a run, if there is one."""
    return exclusive(folder) if folder is not None and folder.exists() else nullcontext()


def read_run(folder: Path, splits: Sequence[str] = ()) -> pl.DataFrame:
    """Read the log-likelihoods that `nnd evaluate` stored, a row per model and pair.

    The columns are those of STORED. No `splits` means all.
    """
    _check_run(folder)
    path = folder / LIKELIHOODS
    rows = _checked(_with_late_columns(read_rows(path)), path, STORED)
    check_splits(f"{folder}", splits, splits_in(rows))
    return rows.filter(pl.col("split").is_in([*splits])) if splits else rows


def read_pieces(folder: Path) -> Iterator[pl.DataFrame]:
    """Read the rows of a run in pieces, in order; each piece has one model."""
    _check_run(folder)
    path, start = folder / LIKELIHOODS, 0
    for group in row_groups([path]):
        rows = _checked(_with_late_columns(group.read()), path, STORED, start)
        yield from rows.partition_by("model", maintain_order=True)
        start += rows.height


def read_sets(folder: Path) -> pl.DataFrame:
    """Read the log-likelihoods of a suite's sets; runs on other data have none.

    There is a row per model, set and pair, with the columns of STORED_SETS.
    """
    path = folder / SETS
    if not path.is_file():
        return pl.DataFrame(schema=STORED_SETS)
    _check_unchanged(folder, SETS)
    return _checked(_with_late_columns(read_rows(path)), path, STORED_SETS)


def read_tokens(folder: Path) -> pl.DataFrame:
    """Read the log-likelihoods of tokens; empty if the run was made without `--keep-tokens`.

    Returns:
        One row per model, pair and side, with the columns of TOKENS.
    """
    path = folder / TOKENS_FILE
    if not path.is_file():
        return pl.DataFrame(schema=TOKENS)
    _check_unchanged(folder, TOKENS_FILE)
    return read_rows(path).select(TOKENS.names()).cast(dict(TOKENS))  # type: ignore[arg-type]


def _with_late_columns(frame: pl.DataFrame) -> pl.DataFrame:
    late = [pl.lit(None, STORED[n]).alias(n) for n in _ADDED if n not in frame.columns]
    return frame.with_columns(late)


def _checked(frame: pl.DataFrame, path: Path, schema: pl.Schema, start: int = 0) -> pl.DataFrame:
    """Return the columns of a schema; the first row is number `start` of the file."""
    wrong = [name for name, dtype in schema.items() if frame.schema.get(name) != dtype]
    if wrong:
        found = frame.schema.get(wrong[0], "missing")
        raise ScoringError("run.evaluate-again", f"column {wrong[0]} is {found}", path)
    _check_rows(frame, path, start)
    return frame.select(schema.names())


def read_signatures(folder: Path) -> dict[str, str]:
    """Return model → signature from a run; empty if the run has no result."""
    with open_result(folder) as found:
        return {str(each["model"]): str(each["signature"]) for each in found.get("results", ())}


def read_systems(folder: Path) -> dict[str, str]:
    """Return model → system it stands for, as stored by `nnd evaluate` (errors as above).

    Older runs store the systems only in their agreement.
    """
    with open_result(folder) as found:
        systems = found.get("systems") or (found.get("agreement") or {}).get("systems", {})
        return {str(model): str(system) for model, system in systems.items()}


def read_splits(folders: Sequence[Path]) -> list[str] | None:
    """Return the splits that some runs scored; None if one does not state them, as older runs."""
    splits: set[str] = set()
    for folder in folders:
        with open_result(folder) as found:
            if "splits" not in found:
                return None
            splits.update(map(str, found["splits"]))
    return sorted(splits)


def scored_splits(
    rows: pl.DataFrame, signatures: Iterable[str | None], chosen: Sequence[str] = ()
) -> list[str]:
    """Return the splits of scored pairs, if the data has several; else an empty list."""
    splits = splits_in(rows)
    is_part = bool(chosen) or any("|split:" in (signature or "") for signature in signatures)
    return splits if is_part or len(splits) > 1 else []


@contextmanager
def open_result(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the result of a run; empty if the run has none.

    A LookupError, TypeError or AttributeError in the block becomes the error that the file is not a
    result of `nnd evaluate`.
    """
    path = folder / RESULT
    try:
        yield read_document(path) if path.exists() else {}
    except (LookupError, TypeError, AttributeError) as error:
        raise ScoringError("run.evaluate-again", "not a result of `nnd evaluate`", path) from error


def _check_unchanged(folder: Path, name: str) -> None:
    if (folder / RESULT).exists():
        read_with(folder / RESULT, [name])


def check_same(
    both: pl.DataFrame, a: str, b: str, *, filled: Collection[str] = CONTEXT, where: str = ""
) -> None:
    """Check that rows of two models with the same pair_id are of the same pair.

    `both` are the first model's rows joined with the second's, whose columns end in `_b`. A null
    contradicts a value in `filled` columns only; elsewhere a null, as in older runs, is ignored.
    `where` says in the error where the rows are from.
    """
    for column in SAME:
        mine, other = pl.col(column), pl.col(f"{column}_b")
        differs = mine.ne_missing(other) if column in filled else mine != other
        wrong = both.filter(differs)
        if wrong.height:
            row = wrong.row(0, named=True)
            values = ["missing" if row[n] is None else row[n] for n in (column, f"{column}_b")]
            raise ScoringError(
                "run.another-data",
                f'pair {row["pair_id"]} is not the same in "{a}" and "{b}": {column} is '
                f"{values[0]} and {values[1]}{where}",
            )


def _check_run(folder: Path) -> None:
    """Refuse changed runs, and folders that users name by mistake: of data, or of several runs."""
    if (folder / LIKELIHOODS).is_file():
        _check_unchanged(folder, LIKELIHOODS)
        return
    if not folder.is_dir():
        raise ScoringError("run.not-a-run", "folder not found", folder)
    if (folder / MANIFEST).is_file():
        raise ScoringError(
            "run.not-a-run",
            "this folder holds pairs, not results",
            folder,
            f"score them first: nnd evaluate --model MODEL --data {folder} --out RUN",
        )
    inside = sorted(path.parent.name for path in folder.glob(f"*/{LIKELIHOODS}"))
    if inside:
        raise ScoringError(
            "run.several-datasets",
            "this folder holds a run for each dataset",
            folder,
            f"name one of them, for example {folder / inside[0]}",
        )
    raise ScoringError(
        "run.not-a-run",
        f"not a run of `nnd evaluate`, because {LIKELIHOODS} is missing",
        folder,
        "name the --out folder of `nnd evaluate`",
    )


def _check_rows(frame: pl.DataFrame, path: Path, start: int) -> None:
    """Refuse missing verdicts and NaN likelihoods, which would count as failures."""
    for column in ("model", "pair_id", "passed", "tie"):
        if frame[column].null_count():
            row = start + int(frame[column].is_null().arg_max() or 0)
            raise ScoringError("run.evaluate-again", f"{column} is null", f"{path}: row {row}")
    for column in ("ll_high", "ll_low", *ALONE_SCHEMA):
        if frame[column].is_nan().any():
            row = start + int(frame[column].is_nan().arg_max() or 0)
            raise ScoringError(
                "run.evaluate-again",
                f"{column} is NaN, but a missing likelihood must be null",
                f"{path}: row {row}",
            )
