"""The values of an axis for every pair: numbers, or names (a pair may have several)."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from nnd.metric.data import parts_of
from nnd.metric.numbers.slices.axes import LABELS, MEASURES, Axis
from nnd.metric.numbers.slices.text_measures import (
    DISTANCES,
    LENGTHS,
    components,
    novelty,
    sentences,
    shapes,
    turns,
)
from nnd.schemas import CONTEXT, ScoringError, did_you_mean

_NO_TEXTS = "a run keeps no texts"
NAME_DATA = "name the data that was scored (--data)"

_TEXTS = {"context": "context", "high": "candidate_high", "low": "candidate_low"}
_JUDGEMENT = ("split", "context_id", "candidate_id", "aspect", "group")
"""The columns that identify the ratings of candidates."""


def numbers_of(
    axis: Axis, pairs: pl.DataFrame, annotations: pl.DataFrame | None
) -> npt.NDArray[np.float64]:
    """Return the number of every pair; nan if it has none."""
    values: Sequence[float | None]
    match axis.name:
        case "margin":
            values = _column(axis, pairs, "margin").to_list()
        case "candidates":
            values = _candidates(pairs)
        case "agreement":
            values = _agreement(pairs, annotations)
        case name if name in MEASURES:
            measure, *texts = _OF_TEXTS[name](*axis.words)
            values = _of_texts(measure, axis, pairs, *texts)
        case _:
            values = _as_numbers(axis, parts_named(axis, pairs))
    return np.array(values, dtype=np.float64)


_OF_TEXTS: Mapping[str, Callable[..., tuple[Any, ...]]] = {
    "length": lambda unit, text: (LENGTHS[unit], text),
    "sentences": lambda text: (sentences, text),
    "turns": lambda: (turns, "context"),
    "components": lambda: (components, "context"),
    "novelty": lambda text: (novelty, "context", text),
    "nearness": lambda distance: (DISTANCES[distance], "high", "low"),
}
"""Axis → from its words to a measure and the texts it is of."""


def _of_texts(
    measure: Callable[..., float | None], axis: Axis, pairs: pl.DataFrame, *texts: str
) -> list[float | None]:
    """Return a measure of some texts of every pair; equal texts are measured once."""
    once = cache(measure)
    columns = [_column(axis, pairs, _TEXTS[text]) for text in texts]
    return [once(*row) for row in zip(*columns, strict=True)]


def _candidates(pairs: pl.DataFrame) -> list[int]:
    """Return the number of distinct candidates in the pairs of a context."""
    ids = [pairs.select(*CONTEXT, id=f"{side}_id") for side in ("high", "low")]
    counts = pl.concat(ids).group_by(CONTEXT).agg(pl.col("id").n_unique())
    both = pairs.select(CONTEXT).join(counts, on=CONTEXT, nulls_equal=True, maintain_order="left")
    return both["id"].to_list()


def _agreement(pairs: pl.DataFrame, annotations: pl.DataFrame | None) -> list[float | None]:
    """Return how far annotators agree on the better candidate.

    This is the share of (rating of the high one, rating of the low one) in which the high one is
    rated higher; equal ratings count half. It is None if either has no ratings.
    """
    if annotations is None:
        raise ScoringError(
            "data.not-converted",
            "the ratings of annotators are in annotations.parquet",
            "agreement",
            "name a folder that `nnd convert` wrote (--data)",
        )
    missing = {"aspect", "group"}.difference(pairs.columns)
    pairs = pairs.with_columns(pl.lit(None, pl.String).alias(name) for name in missing)
    rated = annotations.drop_nulls("ratings").select(*_JUDGEMENT, "ratings")
    ratings = dict(zip(rated.select(_JUDGEMENT).rows(), rated["ratings"].to_list(), strict=True))
    sides = (
        pairs.select("split", "context_id", f"{side}_id", "aspect", "group").rows()
        for side in ("high", "low")
    )
    return [_ahead(ratings.get(high), ratings.get(low)) for high, low in zip(*sides, strict=True)]


def _ahead(high: Sequence[float] | None, low: Sequence[float] | None) -> float | None:
    if not high or not low:
        return None
    wins = sum((a > b) + (a == b) / 2 for a in high for b in low)
    return wins / (len(high) * len(low))


def names_of(axis: Axis, pairs: pl.DataFrame) -> list[Sequence[str]]:
    """Return the names of every pair, which may be none or several."""
    values: Sequence[str | None] | pl.Series
    match axis.name:
        case "shape":
            once = cache(shapes)
            return [once(text) for text in _column(axis, pairs, _TEXTS[axis.words[0]])]
        case "system":
            sides = (_column(axis, pairs, f"system_{side}") for side in ("high", "low"))
            return [
                [*dict.fromkeys(name for side in row if side for name in side.split("|"))]
                for row in zip(*sides, strict=True)
            ]
        case "category":  # of the contexts, or of the errors if contexts have none
            of_contexts = _column(axis, pairs, "category")
            has_some = of_contexts.null_count() < len(of_contexts)
            values = of_contexts if has_some else _column(axis, pairs, "error_category")
        case "seen" if "seen" not in pairs.columns:
            raise ScoringError(
                "option.needs-another",
                "whether a context was seen in training is not known",
                '--by "seen"',
                "name the texts that the model was trained on (--training-texts)",
            )
        case name if name in LABELS:
            values = _column(axis, pairs, name)
        case _:
            values = parts_named(axis, pairs)
    return [() if value is None else (value,) for value in values]


def parts_named(axis: Axis, pairs: pl.DataFrame) -> list[str | None]:
    """Return a part of the inputs, or of the metadata, of every pair."""
    parts = parts_in(pairs)
    known = sorted({name for each in parts for name in each})
    if axis.name not in known:
        axes = [*MEASURES, *LABELS, *known]
        held = ", ".join(known) or (
            "none" if "context" in pairs.columns else f"none, as {_NO_TEXTS}; {NAME_DATA}"
        )
        raise ScoringError(
            "name.unknown",
            "unknown axis, and no part of the pairs has that "
            f"name{did_you_mean(axis.name, axes)}; axes: {', '.join([*MEASURES, *LABELS])}",
            f'--by "{axis.title}"',
            f"parts of the pairs: {held}",
        )
    return [each.get(axis.name) for each in parts]


def parts_in(pairs: pl.DataFrame) -> list[dict[str, str]]:
    """Return the parts of every pair: its inputs, and the metadata whose names they do not use."""
    found: list[dict[str, str]] = [{} for _ in range(pairs.height)]
    for column in ("metadata", "inputs"):
        if column in pairs.columns:
            for all_parts, parts in zip(found, parts_of(pairs.select(inputs=column)), strict=True):
                all_parts.update(parts or {})
    return found


def _as_numbers(axis: Axis, parts: Sequence[str | None]) -> list[float | None]:
    try:
        return [None if part is None else float(part) for part in parts]
    except ValueError as error:
        raise ScoringError(
            "option.conflict",
            str(error),
            f'--by "{axis.title}"',
            "edges are for numbers, so leave them out",
        ) from error


def _column(axis: Axis, pairs: pl.DataFrame, column: str) -> pl.Series:
    if column not in pairs.columns:
        raise ScoringError(
            "column.missing",
            f"the pairs have no column {column}, and {_NO_TEXTS}",
            f'axis "{axis.title}"',
            NAME_DATA,
        )
    return pairs[column]
