"""The pairs to score: from a converted folder, a Parquet file, a Dataset, or the Hub."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import polars as pl

from .errors import ScoringError


class Table(Protocol):
    """Whatever turns itself into a polars frame, as a `datasets.Dataset` does."""

    def to_polars(self) -> pl.DataFrame:
        """Return the rows."""


PairData: TypeAlias = str | Path | pl.DataFrame | Table

REQUIRED = ("context", "candidate_high", "candidate_low")
OPTIONAL = ("split", "aspect", "category", "error_category", "error_group")

_HUB_ID = re.compile(r"(?P<repo>[\w.-]+/[\w.-]+)(@(?P<revision>\S+))?")


@dataclass(frozen=True, slots=True)
class PairSet:
    """Pairs ready to be scored.

    Attributes:
        pairs: One row per pair with pair_id, split, context_id, context, inputs, high_id, low_id,
            candidate_high, candidate_low, aspect, category, error_category, error_group.
        human_scores: The human scores that came with them, or None.
        name: What the signature calls the data.
        version: Hub commit, or the SHA-256 of the texts; never of the row order.
    """

    pairs: pl.DataFrame
    human_scores: pl.DataFrame | None
    name: str
    version: str


def read_pairs(data: PairData) -> PairSet:
    """Read pairs from wherever they are.

    Args:
        data: A folder that `nnd convert` wrote, a Parquet file, a polars frame, a
            `datasets.Dataset`, or `ORG/name[@revision]` of a dataset on the Hub, which is fetched
            at exactly the commit that the revision stands for. Needed are the columns context,
            candidate_high, candidate_low; error_category, aspect, category, error_group, inputs
            and the ids are used where there are any.

    Raises:
        ScoringError: If it cannot be read, a column is missing, or a text is null.
    """
    if isinstance(data, pl.DataFrame):
        return _pair_set(data, None, "frame")
    if not isinstance(data, str | Path):
        return _pair_set(_from_dataset(data), None, "dataset")
    path = Path(data)
    if path.is_dir():
        return _read_folder(path, path.resolve().name)
    if path.is_file():
        return _pair_set(read_parquet(path), None, path.stem)
    hub = _HUB_ID.fullmatch(str(data))
    if hub is None or isinstance(data, Path):
        raise ScoringError(
            f"{data}: there is no such file or folder; name a folder that `nnd convert` wrote, a "
            "Parquet file, or ORG/name[@revision] on the Hub"
        )
    folder, commit = _fetch(hub["repo"], hub["revision"])
    found = _read_folder(folder, hub["repo"])
    return PairSet(found.pairs, found.human_scores, hub["repo"], commit)


def read_parquet(path: Path) -> pl.DataFrame:
    """Return the rows of a Parquet file.

    Raises:
        ScoringError: If it cannot be read as one.
    """
    try:
        return pl.read_parquet(path)
    except (OSError, pl.exceptions.PolarsError) as error:
        reason = str(error).splitlines()[0]
        raise ScoringError(f"{path}: cannot be read as Parquet: {reason}") from error


def read_human_scores(data: PairData) -> pl.DataFrame:
    """Return human scores from a converted folder, a Parquet file, a frame or a Dataset.

    Raises:
        ScoringError: If they cannot be read, or a column is missing.
    """
    if isinstance(data, pl.DataFrame):
        frame, where = data, "human_scores"
    elif isinstance(data, str | Path):
        path = Path(data) / "human_scores.parquet" if Path(data).is_dir() else Path(data)
        frame, where = read_parquet(path), str(path)
    else:
        frame, where = _from_dataset(data), "human_scores"
    _check_columns(frame, ("system", "model_id", "aspect", "category", "score"), where)
    return frame


def _read_folder(folder: Path, name: str) -> PairSet:
    path = folder / "pairs.parquet"
    if not path.is_file():
        raise ScoringError(f"{folder}: there is no pairs.parquet; name a folder of `nnd convert`")
    scores = folder / "human_scores.parquet"
    human_scores = read_human_scores(scores) if scores.is_file() else None
    return _pair_set(read_parquet(path), human_scores, name)


def _from_dataset(data: Any) -> pl.DataFrame:  # noqa: ANN401 - anything a user may hand over
    if isinstance(data, Mapping):
        raise ScoringError(
            f"the dataset has splits ({', '.join(data)}); hand over one, e.g. dataset['test']"
        )
    if not hasattr(data, "to_polars"):
        raise ScoringError(
            f"{type(data).__name__} is no dataset; hand over a folder, a Parquet file, a "
            "datasets.Dataset, a polars frame, or the name of a Hub dataset"
        )
    frame: pl.DataFrame = data.to_polars()
    return frame


def _fetch(repo: str, revision: str | None) -> tuple[Path, str]:
    """Fetch a Hub dataset at one commit: a name that moves must not decide what is scored."""
    from huggingface_hub import HfApi, snapshot_download  # noqa: PLC0415 - slow, seldom needed
    from huggingface_hub.errors import HfHubHTTPError, OfflineModeIsEnabled  # noqa: PLC0415

    try:
        commit = HfApi().dataset_info(repo, revision=revision).sha
        folder = snapshot_download(
            repo, repo_type="dataset", revision=commit, allow_patterns=["*.parquet", "*.json"]
        )
    except (HfHubHTTPError, OfflineModeIsEnabled, OSError, ValueError) as error:
        reason = str(error).splitlines()[0] if str(error) else repr(error)
        raise ScoringError(
            f"{repo}: neither a folder here nor a dataset that the Hub hands out: {reason}"
        ) from error
    return Path(folder), str(commit)


def _pair_set(frame: pl.DataFrame, human_scores: pl.DataFrame | None, name: str) -> PairSet:
    _check_columns(frame, REQUIRED, name)
    for column in REQUIRED:
        _check_texts(frame, column, name)
    pairs = frame.with_columns(
        *(pl.lit(None, pl.String).alias(c) for c in OPTIONAL if c not in frame.columns)
    )
    derived = {
        "context_id": _digests(pairs, ["context"]),
        "high_id": _digests(pairs, ["candidate_high"]),
        "low_id": _digests(pairs, ["candidate_low"]),
        "pair_id": _digests(pairs, [*REQUIRED, "aspect", "error_category"]),
    }
    pairs = pairs.with_columns(
        *(values.alias(c) for c, values in derived.items() if c not in frame.columns)
    )
    rows = sorted(derived["pair_id"])
    return PairSet(pairs, human_scores, name, hashlib.sha256("".join(rows).encode()).hexdigest())


def _digests(frame: pl.DataFrame, columns: Sequence[str]) -> pl.Series:
    """Return 16 hex digits per row that stand for the texts in some columns."""
    return pl.Series(
        [
            hashlib.sha256("\x00".join(value or "" for value in row).encode()).hexdigest()[:16]
            for row in frame.select(columns).iter_rows()
        ],
        dtype=pl.String,
    )


def _check_columns(frame: pl.DataFrame, columns: Sequence[str], name: str) -> None:
    missing = [column for column in columns if column not in frame.columns]
    if missing:
        raise ScoringError(
            f"{name}: column {', '.join(missing)} is missing; there are {', '.join(frame.columns)}"
        )


def _check_texts(frame: pl.DataFrame, column: str, name: str) -> None:
    if frame[column].dtype != pl.String:
        raise ScoringError(f"{name}: column {column} is {frame[column].dtype}; it must be text")
    if frame[column].null_count():
        row = int(frame[column].is_null().arg_max() or 0)
        raise ScoringError(f"{name}: row {row}: {column} is null; leave the row out")
