"""How far annotators agree: Krippendorff's alpha of their ratings or labels.

Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011, University of Pennsylvania,
https://repository.upenn.edu/asc_papers/43), section E, for any number of annotators and with gaps:

    alpha = 1 - D_o / D_e
    D_o = 1/n · Σ_u 1/(m_u - 1) · Σ_{i≠j in u} δ(v_i, v_j)
    D_e = 1/(n (n - 1)) · Σ_{i≠j} δ(v_i, v_j)

where a unit u (here: a candidate under an aspect) has m_u ≥ 2 values, n is the number of values in
such units; units with one value do not count. δ is (v_i - v_j)² for ratings (interval), and 0
or 1 for equal or different labels (nominal). 1 is perfect agreement, and 0 is what chance gives.
Both sums have closed forms, so that no two values are ever compared: for an interval
Σ_{i≠j} (v_i - v_j)² = 2 m Σ (v - mean)², and nominally Σ_{i≠j} [v_i ≠ v_j] = m² - Σ_c m_c², where
m_c of the values are c.
"""

from math import fsum
from typing import Any, Literal

import polars as pl

Level = Literal["interval", "nominal"]

_UNIT = ("split", "candidate_id", "part")


def annotator_agreement(annotations: pl.DataFrame) -> dict[str, dict[str, Any]]:
    """Return how far annotators agree, for every aspect with candidates judged more than once.

    If an aspect has ratings, these are compared, otherwise the labels of named annotators; the
    labels that one annotator gave a candidate are one value. Returns aspect → level, n_units,
    n_ratings, alpha, which is None if all values are the same.
    """
    readings: tuple[tuple[Level, pl.DataFrame], ...] = (
        ("interval", _ratings(annotations)),
        ("nominal", _labels(annotations)),
    )
    agreements: dict[str, dict[str, Any]] = {}
    for aspect in annotations["aspect"].unique().sort():
        for level, values in readings:
            each = krippendorff_alpha(values.filter(aspect=aspect), level)
            if each["n_units"] and aspect not in agreements:
                agreements[aspect] = each
    return agreements


def _ratings(annotations: pl.DataFrame) -> pl.DataFrame:
    """Return aspect, unit and value of every rating.

    Several ratings in one group rate what that group compares, so the group is a unit of its own.
    Single ratings in several groups come from different raters, and together they are one unit.
    """
    several = pl.col("ratings").list.len() > 1
    return (
        annotations.filter(pl.col("ratings").list.len() > 0)
        # Candidates with several labels have rows that repeat the ratings.
        .unique(("split", "candidate_id", "aspect", "group"), keep="first", maintain_order=True)
        .with_columns(part=pl.when(several).then("group"))
        .select("aspect", *_UNIT, value="ratings")
        .explode("value")
    )


def _labels(annotations: pl.DataFrame) -> pl.DataFrame:
    """Return aspect, unit and value (the labels given) of every named annotator."""
    return (
        annotations.filter(
            pl.col("label").is_not_null()
            & pl.col("annotators").is_not_null()
            & pl.col("ratings").is_null()
        )
        .with_columns(part=pl.lit(None, pl.String))
        .select("aspect", *_UNIT, "annotators", "label")
        .explode("annotators")
        .group_by("aspect", *_UNIT, "annotators")
        .agg(
            value=pl.col("label").unique().sort().str.join("\0")
        )  # a character that no label contains
    )


def krippendorff_alpha(values: pl.DataFrame, level: Level) -> dict[str, Any]:
    """Return Krippendorff's alpha, and the numbers of units and values.

    There is a row for each judgement: split, candidate_id and part, which identify the unit, and
    value. The level says the distance between two values: squared difference, or whether they
    differ.
    """
    measure = _interval if level == "interval" else _nominal
    units, observed, expected = measure(values)
    return {
        "level": level,
        "n_units": units.height,
        "n_ratings": units["m"].sum(),
        "alpha": 1 - observed / expected if expected else None,
    }


def _interval(values: pl.DataFrame) -> tuple[pl.DataFrame, float, float]:
    """Return the units with at least two values, D_o and D_e."""
    value = pl.col("value")
    units = (
        values.group_by(_UNIT, maintain_order=True)
        .agg(m=pl.len(), mean=value.mean(), variance=value.var(), low=value.min(), high=value.max())
        .filter(pl.col("m") > 1)
    )
    m, mean, variance = units["m"], units["mean"], units["variance"]
    n = int(m.sum())
    if n == 0 or units["low"].min() == units["high"].max():
        return units, 0.0, 0.0
    # Exact sums, as a sum of floats would depend on the order of the rows.
    middle = fsum(m * mean) / n
    squares = fsum((m - 1) * variance + m * (mean - middle) ** 2)
    return units, 2 * fsum(m * variance) / n, 2 * squares / (n - 1)


def _nominal(values: pl.DataFrame) -> tuple[pl.DataFrame, float, float]:
    """Return the units with at least two values, D_o and D_e."""
    m = pl.col("m")
    counts = values.group_by(*_UNIT, "value").agg(m=pl.len().cast(pl.Int64))
    units = counts.group_by(_UNIT).agg(m=m.sum(), equal=(m**2).sum()).filter(m > 1)
    n = int(units["m"].sum())
    if n == 0:
        return units, 0.0, 0.0
    each = (
        counts.join(units, on=_UNIT, how="semi", nulls_equal=True)
        .group_by("value")
        .agg(m.sum())["m"]
    )
    differing = units.select((m**2 - pl.col("equal")) / (m - 1)).to_series()
    return units, fsum(differing) / n, (n**2 - int((each**2).sum())) / (n * (n - 1))
