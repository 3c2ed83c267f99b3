"""Checking a converted folder: against the contract, against itself, against its manifest."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pyarrow as pa

from nnd.converters.convert import FRAMES, MANIFEST, count
from nnd.converters.pairing import fold, pair_ids
from nnd.converters.parquet import read_parquet
from nnd.schemas import Problem, SchemaError, check_frame, check_rows, polars_schema

_CONVERT_AGAIN = "convert the source again"


class Finding(NamedTuple):
    """A problem and the file of the folder that has it."""

    file: str
    problem: Problem

    def __str__(self) -> str:
        return f"{self.file}: {self.problem}"


def validate(folder: str | Path) -> Iterator[Finding]:
    """Yield every problem of a converted folder.

    Args:
        folder: What `convert` wrote.

    Raises:
        SchemaError: If it is no such folder, or a file in it cannot be read at all.
    """
    folder = Path(folder)
    manifest = _read_manifest(folder)
    frames = {name: _read_frame(folder / name) for name in FRAMES}
    for name, schema in FRAMES.items():
        for problem in check_frame(schema, frames[name]):
            yield Finding(name, problem)
        for problem in _check_recorded(folder / name, frames[name], manifest):
            yield Finding(name, problem)
    if any(frames[name].schema != polars_schema(schema) for name, schema in FRAMES.items()):
        return  # what follows needs the columns
    pairs, annotations = frames["pairs.parquet"], frames["annotations.parquet"]
    for problem in _check_pairs(pairs):
        yield Finding("pairs.parquet", problem)
    for problem in _check_texts(pairs, annotations):
        yield Finding("pairs.parquet", problem)
    for problem in _check_manifest(manifest, count(annotations, pairs)):
        yield Finding(MANIFEST, problem)


def _read_manifest(folder: Path) -> dict[str, Any]:
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise SchemaError(
            f"{folder}: there is no {MANIFEST}; name a folder that `nnd convert` wrote"
        ) from error
    except (OSError, ValueError, RecursionError) as error:
        reason = getattr(error, "strerror", None) or error
        raise SchemaError(
            f"{folder / MANIFEST}: cannot be read: {reason}; {_CONVERT_AGAIN}"
        ) from error
    if not isinstance(manifest, dict):
        raise SchemaError(f"{folder / MANIFEST}: not a JSON object; {_CONVERT_AGAIN}")
    return manifest


def _read_frame(path: Path) -> pl.DataFrame:
    try:
        return read_parquet(path)
    except (OSError, pa.ArrowException) as error:
        reason = str(error).partition("\n")[0]
        raise SchemaError(f"{path}: cannot be read: {reason}; {_CONVERT_AGAIN}") from error


def _section(value: dict[str, Any], name: str) -> dict[str, Any]:
    """Return a part of the manifest, or an empty one where there is none."""
    part = value.get(name)
    return part if isinstance(part, dict) else {}


def _check_recorded(path: Path, frame: pl.DataFrame, manifest: dict[str, Any]) -> Iterator[Problem]:
    """The file is the one the manifest speaks of."""
    recorded = _section(_section(manifest, "outputs"), path.name)
    if recorded.get("rows") != frame.height:
        message = f"{frame.height} rows where the manifest says {recorded.get('rows')}"
        yield Problem(None, "", message, _CONVERT_AGAIN)
    if recorded.get("sha256") != hashlib.sha256(path.read_bytes()).hexdigest():
        yield Problem(None, "", "SHA-256 is not the manifest's", _CONVERT_AGAIN)


def _check_pairs(pairs: pl.DataFrame) -> Iterator[Problem]:
    """What a schema cannot say of a pair."""
    numbered = pairs.with_row_index("row")
    for (row,) in numbered.filter(~pl.col("pair_id").is_first_distinct()).select("row").rows():
        yield Problem(row, "pair_id", "stands in an earlier row too", "keep one of them")
    for (row,) in numbered.filter(pair_ids(pairs) != pairs["pair_id"]).select("row").rows():
        yield Problem(row, "pair_id", "is not the digest of the row's fields", _CONVERT_AGAIN)
    same = fold(pl.col("candidate_high")) == fold(pl.col("candidate_low"))
    for (row,) in numbered.filter(same).select("row").rows():
        yield Problem(row, "candidate_low", "is the same text as candidate_high", "leave it out")


def _check_texts(pairs: pl.DataFrame, annotations: pl.DataFrame) -> Iterator[Problem]:
    """Both candidates of a pair stand in the annotations of its context, with the same text."""
    numbered = pairs.with_row_index("row")
    texts = annotations.select("split", "context_id", "candidate_id", "candidate").unique()
    for side in ("high", "low"):
        keys = ["split", "context_id", f"{side}_id", f"candidate_{side}"]
        lost = numbered.join(texts, left_on=keys, right_on=texts.columns, how="anti")
        for (row,) in lost.select("row").rows():
            message = "is not a candidate of this context in annotations.parquet"
            yield Problem(row, f"candidate_{side}", message, _CONVERT_AGAIN)


def _check_manifest(manifest: dict[str, Any], counts: dict[str, Any]) -> Iterator[Problem]:
    """It describes a source, tells of this folder, and the declared files give what is expected."""
    for problem in check_rows("source", [manifest.get("source", {})]):
        yield replace(problem, row=None, path=f"source/{problem.path}")
    recorded = _section(manifest, "counts")
    for name, found in counts.items():
        if recorded.get(name) != found:
            message = f"{recorded.get(name)} where the folder holds {found}"
            yield Problem(None, f"counts/{name}", message, _CONVERT_AGAIN)
    files = manifest.get("files")
    if not isinstance(files, list) or not all(isinstance(file, dict) for file in files):
        yield Problem(None, "files", "is no list of files", _CONVERT_AGAIN)
    elif files and all(file.get("verified") for file in files) and not manifest.get("normalised"):
        for name, expected in _section(_section(manifest, "source"), "expected").items():
            if counts.get(name) != expected:
                message = f"{counts.get(name)} where the source expects {expected}"
                yield Problem(None, f"counts/{name}", message, _CONVERT_AGAIN)
