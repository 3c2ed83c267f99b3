"""Read human scores of systems: those stored with the data, your own, or those of some splits."""

from collections.abc import Collection
from pathlib import Path

import polars as pl

from nnd.metric.data.any_frames import PairData, to_frame
from nnd.metric.data.completion import check_columns
from nnd.metric.data.converted_folder import read_rows
from nnd.metric.data.data_places import find_place
from nnd.metric.data.judgements import find_judgements
from nnd.metric.data.remote import is_url
from nnd.schemas import ScoringError, frame_files, make_human_scores

HUMAN_SCORES = "human_scores.parquet"

_OF_ALL = ", over all splits"
"""End of the definition of human scores that could not be computed for some splits."""


def read_human_scores(data: PairData) -> pl.DataFrame:
    """Read human scores from the same places as `load_pairs`, or from a file of their own."""
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
    if path.is_file():
        return path
    files = frame_files(path, "human_scores")
    if not files:
        raise ScoringError(
            "data.not-converted",
            f"{HUMAN_SCORES} not found",
            data,
            "name a folder that `nnd convert` wrote from a source with judged systems, or "
            "pass your own human scores",
        )
    return files[0]


def read_scores_in(folder: Path) -> pl.DataFrame | None:
    """Return the human scores in a folder, or None (errors as in `read_human_scores`)."""
    return read_human_scores(folder) if (folder / HUMAN_SCORES).is_file() else None


def human_scores_in(
    home: str | Path, scores: pl.DataFrame, splits: Collection[str]
) -> pl.DataFrame:
    """Return human scores of some splits, computed from the annotations.

    `home` is the folder, or ORG/name@revision on the Hub, that the scores over all splits come
    with. If it has no annotations or no rule, those scores are returned, and their definitions say
    so (`is_of_all_splits`).
    """
    judged = find_judgements(home)
    if judged is not None:
        return make_human_scores(judged.annotations, judged.source, splits=splits)
    if "definition" not in scores.columns:
        scores = scores.with_columns(definition=pl.lit("score"))
    return scores.with_columns(pl.col("definition").fill_null("score") + _OF_ALL)


def is_of_all_splits(definition: str | None) -> bool:
    """Whether human scores are over all splits because those of some could not be computed."""
    return (definition or "").endswith(_OF_ALL)


def _check_scores(scores: pl.Series, name: str) -> None:
    if not scores.dtype.is_numeric() and scores.dtype != pl.Null:
        raise ScoringError("cell.not-a-number", f"column score is {scores.dtype}", name)
    finite = scores.cast(pl.Float64).is_finite().fill_null(value=True)
    if not finite.all():
        row = int(finite.arg_min() or 0)
        raise ScoringError(
            "cell.not-finite",
            f"score is {scores[row]}",
            f"{name}: row {row}",
            "give a finite number, or null if missing",
        )


def _without_repetitions(frame: pl.DataFrame, where: str) -> pl.DataFrame:
    """Return human scores without repeated rows, which would count several times in a mean."""
    key = [name for name in ("source", "system", "aspect", "category") if name in frame.columns]
    rows = frame.unique([*key, "model_id", "score"], keep="first", maintain_order=True)
    groups = rows.drop_nulls("score").group_by(key, maintain_order=True)
    scores = groups.agg(pl.col("score").unique().sort())
    for *values_of_key, values in scores.filter(pl.col("score").list.len() > 1).rows():
        named = ", ".join(f"{name} {value}" for name, value in zip(key, values_of_key, strict=True))
        raise ScoringError(
            "row.twice",
            f"{named} has the scores {values[0]} and {values[1]}",
            where,
            "leave one score for each system, aspect and category",
        )
    return rows
