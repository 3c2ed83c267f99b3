"""Checking a converted folder: against the contract, against itself, against its manifest."""

import hashlib
import itertools
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from nnd.cards import check_form
from nnd.converters.folder.conversion import count
from nnd.converters.pairs import fold, pair_ids
from nnd.converters.reading import shown
from nnd.converters.texts import report_hygiene
from nnd.schemas import (
    MANIFEST,
    FrameName,
    Problem,
    SchemaError,
    SchemaName,
    Shown,
    check_frame,
    counted,
    frame_files,
    one_line,
    polars_schema,
    published_path,
    read_manifest,
    read_parquet,
    text_table,
)

if TYPE_CHECKING:
    from rich.table import Table

_CONVERT_AGAIN = "convert the source again"

_SCHEMAS: dict[FrameName, SchemaName] = {
    "pairs": "pair",
    "human_scores": "human_score",
    "annotations": "annotation",
}

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


@dataclass(frozen=True, slots=True, repr=False)
class Validation(Shown):
    """What is wrong with a converted folder; true where nothing is.

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


def validate(folder: str | Path) -> Validation:
    """Check a converted folder against the contract, itself and its manifest.

    Args:
        folder: What `convert` wrote, or what `publish` made of it and the Hub handed out.

    Raises:
        SchemaError: If it is no such folder, or a file in it cannot be read at all.
    """
    folder = Path(folder)
    return Validation(folder, tuple(_findings(folder)))


def _findings(folder: Path) -> Iterator[Finding]:
    manifest = read_manifest(folder)
    parts = {name: _read_parts(folder, name) for name in _SCHEMAS}
    for name, schema in _SCHEMAS.items():
        for path, frame in parts[name].items():
            for problem in check_frame(schema, frame):
                yield Finding(path, problem)
            for problem in _check_recorded(folder / path, path, frame, manifest):
                yield Finding(path, problem)
    if any(
        frame.schema != polars_schema(schema)
        for name, schema in _SCHEMAS.items()
        for frame in parts[name].values()
    ):
        return  # what follows needs the columns
    pairs, annotations = (pl.concat(parts[name].values()) for name in ("pairs", "annotations"))
    for problem in itertools.chain(_check_pairs(pairs), _check_texts(pairs, annotations)):
        yield _located(problem, parts["pairs"])
    for path, problem in _check_splits(parts):
        yield Finding(path, problem)
    for problem in _check_manifest(manifest, count(annotations, pairs)):
        yield Finding(MANIFEST, problem)
    if manifest.get("hygiene") != report_hygiene(annotations, pairs):
        message = "is not what the texts of the folder give"
        yield Finding(MANIFEST, Problem(None, "hygiene", message, _CONVERT_AGAIN))


def _read_parts(folder: Path, name: FrameName) -> dict[str, pl.DataFrame]:
    """Return the rows of each file of a frame, by the file's path within the folder."""
    files = frame_files(folder, name)
    return {str(path.relative_to(folder).as_posix()): _read_frame(path) for path in files}


def _read_frame(path: Path) -> pl.DataFrame:
    try:
        return read_parquet(path)
    except (OSError, ValueError) as error:
        raise SchemaError(f"{path}: cannot be read: {error}; {_CONVERT_AGAIN}") from error


def _located(problem: Problem, parts: Mapping[str, pl.DataFrame]) -> Finding:
    """Say in which file, and there in which row, a row of all the files together lies."""
    row = problem.row or 0
    for path, frame in parts.items():
        if row < frame.height:
            return Finding(path, replace(problem, row=row))
        row -= frame.height
    raise IndexError(problem.row)


def _section(value: dict[str, Any], name: str) -> dict[str, Any]:
    """Return a part of the manifest, or an empty one where there is none."""
    part = value.get(name)
    return part if isinstance(part, dict) else {}


def _check_recorded(
    path: Path, name: str, frame: pl.DataFrame, manifest: dict[str, Any]
) -> Iterator[Problem]:
    """The file is the one the manifest speaks of."""
    recorded = _section(_section(manifest, "outputs"), name)
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


def _check_splits(
    parts: Mapping[FrameName, Mapping[str, pl.DataFrame]],
) -> Iterator[tuple[str, Problem]]:
    """A file of a published folder holds one split, the one it is named for."""
    for name, frames in parts.items():
        for path, frame in frames.items() if name != "human_scores" else ():
            if "/" not in path:
                continue
            splits = {split: published_path(name, split) for split in frame["split"].unique()}
            strange = [split for split, place in sorted(splits.items()) if place != path]
            if strange:
                message = f"{shown(strange[0])} belongs into {splits[strange[0]]}"
                yield path, Problem(None, "split", message, "publish again")


def _check_manifest(manifest: dict[str, Any], counts: dict[str, Any]) -> Iterator[Problem]:
    """It describes a source, tells of this folder, and the declared files give what is expected."""
    yield from check_form(manifest)
    recorded = _section(manifest, "counts")
    for name, found in counts.items():
        if recorded.get(name) != found:
            message = f"{recorded.get(name)} where the folder holds {found}"
            yield Problem(None, f"counts/{name}", message, _CONVERT_AGAIN)
    files = manifest.get("files")
    if not isinstance(files, list) or not all(isinstance(file, dict) for file in files):
        yield Problem(None, "files", "is no list of files", _CONVERT_AGAIN)
    elif files and all(file.get("verified") for file in files) and not _changed(manifest):
        for name, expected in _section(_section(manifest, "source"), "expected").items():
            if counts.get(name) != expected:
                message = f"{counts.get(name)} where the source expects {expected}"
                yield Problem(None, f"counts/{name}", message, _CONVERT_AGAIN)


def _changed(manifest: dict[str, Any]) -> bool:
    """Whether texts were changed: then they make other pairs than the source expects."""
    return bool(manifest.get("normalised")) or "redacted" in _section(manifest, "contacts")
