"""Parts of quality rules that several rooms need: the rule of an aspect, and its ratings."""

from collections.abc import Mapping
from typing import Any

import polars as pl


def rule_of(quality: Mapping[str, Any], aspect: str) -> Mapping[str, Any]:
    """Return the rule of an aspect.

    Args:
        quality: The section of source.yaml, valid under its schema.
        aspect: Name of the aspect.
    """
    if "rule" in quality:
        return quality
    own: Mapping[str, Any] = quality["aspects"].get(aspect, quality["default"])
    return own


def read_ratings(
    annotations: pl.DataFrame, *, at_least: int = 1, standardise: bool = False
) -> pl.DataFrame:
    """Return the annotations that have enough ratings, standardised if requested.

    Args:
        annotations: Rows of the annotation schema.
        at_least: Smallest number of ratings of an annotation.
        standardise: Whether each rating r becomes its z-score (r - m) / s. Here m and s are the
            mean and the standard deviation (divisor n - 1) of all ratings of that annotator under
            that aspect. If s is 0 or not defined there is no z-score, and the rating is left
                out, as is one without an annotator.
    """
    rows = _standardised(annotations) if standardise else annotations
    return rows.filter(pl.col("ratings").list.len() >= max(at_least, 1))


def _standardised(annotations: pl.DataFrame) -> pl.DataFrame:
    rows = annotations.with_row_index("row")
    rating, by = pl.col("ratings"), ("aspect", "annotators")
    z_scores = (
        rows.select("row", *by, "ratings")
        .filter((rating.list.len() > 0) & pl.col("annotators").is_not_null())
        .explode("annotators", "ratings")
        .filter(rating.max().over(by) > rating.min().over(by))
        .with_columns((rating - rating.mean().over(by)) / rating.std().over(by))
        .group_by("row", maintain_order=True)
        .agg("annotators", "ratings")
    )
    others = rows.drop("annotators", "ratings")
    return others.join(z_scores, on="row", how="left", maintain_order="left").select(
        annotations.columns
    )
