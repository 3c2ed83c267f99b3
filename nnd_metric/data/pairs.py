"""Read pairs and human scores from a folder, a file, the Hub, or a table in memory."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import polars as pl

from nnd.metric.data.completion import (
    OPTIONAL,
    check_columns,
    complete_pairs,
    sum_digests,
    version_of,
)
from nnd.metric.data.frames import Table, name_of, to_frame
from nnd.metric.data.places import find_place
from nnd.metric.data.remote import is_url, stem_of
from nnd.metric.data.stored import SuiteSet, read_rows, read_sets, read_stored
from nnd.schemas import CONTEXT, ScoringError, Shown, counted, text_table

if TYPE_CHECKING:
    from rich.table import Table as RichTable

PairData: TypeAlias = str | Path | Table

HUMAN_SCORES = "human_scores.parquet"
NEEDED = ("pairs.parquet", "pairs/*.parquet", "sets/*.parquet", HUMAN_SCORES, "manifest.json")
"""Patterns of the files to download from the Hub; * also matches folders."""


@dataclass(frozen=True, slots=True, repr=False)
class PairSet(Shown):
    """Pairs ready to be scored.

    Attributes:
        pairs: One row per pair with pair_id, split, context_id, cluster (null: context_id),
            context, inputs, high_id, low_id, candidate_high, candidate_low, aspect, category,
            error_category, error_group, origin.
        human_scores: The human scores that come with them, or None.
        name: Name of the data in the signature.
        version: Hub commit, or the sum of the SHA-256 of all rows, which does not depend on their
            order.
        part: The part of the data that was chosen, as (option, value) pairs (`choose_part`).
        sets: The sets of a suite, whose pairs have the same columns.
        n_whole: Number of tests of the data that the part was chosen from; None for all of it.
    """

    pairs: pl.DataFrame
    human_scores: pl.DataFrame | None
    name: str
    version: str
    part: tuple[tuple[str, str], ...] = ()
    sets: tuple[SuiteSet, ...] = ()
    n_whole: int | None = None

    @property
    def title(self) -> str:
        """The name, with the chosen part of the data."""
        options = ", ".join(f"--{option} {value}" for option, value in self.part)
        return f"{self.name} ({options})" if options else self.name

    def headline(self) -> str:
        """Return the number of pairs and contexts, and whether systems have human scores."""
        contexts = self.pairs.select(CONTEXT).n_unique()
        people = self.human_scores
        systems = counted(0 if people is None else people["system"].n_unique(), "system")
        return (
            f"{self.title} has {self.pairs.height:,} pairs in {contexts:,} contexts, and human "
            f"scores of {systems}."
        )

    def table(self) -> "RichTable":
        """Return the number of pairs of each split, aspect and category."""
        rows = [
            (column, value, f"{n:,}")
            for column in OPTIONAL
            for value, n in self.pairs[column].drop_nulls().value_counts().sort(column).iter_rows()
        ]
        return text_table(("column", "value", "pairs"), rows, right=["pairs"])

    def to_frame(self) -> pl.DataFrame:
        """Return the pairs."""
        return self.pairs

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values: the pairs and the human scores as lists of objects."""
        people = self.human_scores
        return {
            "name": self.name,
            "version": self.version,
            "pairs": self.pairs.to_dicts(),
            "human_scores": None if people is None else people.to_dicts(),
        }


def load_pairs(data: PairData) -> PairSet:
    """Read pairs from a folder, a file, the Hub, or a table in memory.

    Args:
        data: A folder that `nnd convert` or `nnd publish` made, a Parquet file, the URL of one (on
            any file system that fsspec knows, such as `s3://BUCKET/pairs.parquet`),
            `ORG/name[@revision]` of a dataset on the Hub (downloaded at exactly the commit of the
            revision), a polars or pandas frame, a `datasets.Dataset`, or a list of dicts. The
            columns context, candidate_high and candidate_low are required; error_category, aspect,
            category, error_group, inputs and the ids are used if they exist.

    Raises:
        ScoringError: If it cannot be read, a column is missing, or a text is null.
    """
    if not isinstance(data, str | Path):
        return _pair_set(to_frame(data), None, name_of(data))
    if is_url(data):
        return _pair_set(read_rows(data), None, stem_of(data))
    path, repo, commit = find_place(data, NEEDED)
    if path.is_file():
        return _pair_set(read_rows(path), None, path.stem)
    pairs = _read_folder(path, repo or path.resolve().name, str(data))
    return pairs if commit is None else replace(pairs, version=commit)


def read_human_scores(data: PairData) -> pl.DataFrame:
    """Read human scores from the same places as `load_pairs`, or from a file of their own.

    Raises:
        ScoringError: If they cannot be read, a column is missing, a score is not a number, or two
            rows contradict each other.
    """
    if isinstance(data, str | Path):
        file = data if is_url(data) else _scores_file(data)
        frame, where = read_rows(file), str(file)
    else:
        frame, where = to_frame(data), "human_scores"
    check_columns(frame, ("system", "model_id", "aspect", "category", "score"), where)
    _check_scores(frame["score"], where)
    return _without_repetitions(frame, where)


def _scores_file(data: str | Path) -> Path:
    path = find_place(data, [HUMAN_SCORES]).path
    file = path if path.is_file() else path / HUMAN_SCORES
    if not file.is_file():
        raise ScoringError(
            f"{data}: {HUMAN_SCORES} not found; name a folder that `nnd convert` wrote from a "
            "source with judged systems, or pass your own human scores"
        )
    return file


def read_scores_in(folder: Path) -> pl.DataFrame | None:
    """Return the human scores in a folder, or None (errors as in `read_human_scores`)."""
    scores = folder / HUMAN_SCORES
    return read_human_scores(scores) if scores.is_file() else None


def _read_folder(folder: Path, name: str, where: str) -> PairSet:
    rows = read_stored(folder, "pairs")
    if rows is None:
        raise ScoringError(
            f"{where}: pairs.parquet not found; name a folder that `nnd convert` wrote"
        )
    pairs = _pair_set(rows, read_scores_in(folder), name)
    sets = [
        replace(each, pairs=_pair_set(each.pairs, None, f"{name}, set {each.name}").pairs)
        for each in read_sets(folder, rows)
    ]
    return replace(pairs, sets=tuple(sets))


def _pair_set(frame: pl.DataFrame, human_scores: pl.DataFrame | None, name: str) -> PairSet:
    pairs, digests = complete_pairs(frame, name)
    return PairSet(pairs, human_scores, name, version_of(sum_digests(digests)))


def _check_scores(scores: pl.Series, name: str) -> None:
    if not scores.dtype.is_numeric() and scores.dtype != pl.Null:
        raise ScoringError(f"{name}: column score is {scores.dtype}; it must be a number")
    finite = scores.cast(pl.Float64).is_finite().fill_null(value=True)
    if not finite.all():
        row = int(finite.arg_min() or 0)
        raise ScoringError(
            f"{name}: row {row}: score is {scores[row]}; give a finite number, or null if missing"
        )


def _without_repetitions(frame: pl.DataFrame, where: str) -> pl.DataFrame:
    """Return human scores without repeated rows, which would count several times in a mean.

    Raises:
        ScoringError: If a system has two scores for one aspect and category.
    """
    key = [name for name in ("source", "system", "aspect", "category") if name in frame.columns]
    rows = frame.unique([*key, "model_id", "score"], keep="first", maintain_order=True)
    groups = rows.drop_nulls("score").group_by(key, maintain_order=True)
    scores = groups.agg(pl.col("score").unique().sort())
    for *values_of_key, values in scores.filter(pl.col("score").list.len() > 1).rows():
        named = ", ".join(f"{name} {value}" for name, value in zip(key, values_of_key, strict=True))
        raise ScoringError(
            f"{where}: {named} has the scores {values[0]} and {values[1]}; leave one score for "
            "each system, aspect and category"
        )
    return rows
