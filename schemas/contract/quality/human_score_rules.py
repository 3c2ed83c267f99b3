"""How good people found each system, overall and in each category.

Only these definitions give the numbers of the paper's Table 1. A text that several systems wrote
counts for each of them.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

import polars as pl

from nnd.schemas.contract.judged_systems import read_systems
from nnd.schemas.contract.quality.quality_rules import (
    Credit,
    Gap,
    Majority,
    NoError,
    Order,
    Rule,
    close_order,
    read_rules,
    readable,
)

_COLUMNS = ("source", "system", "model_id", "aspect", "category", "score", "n", "definition")
"""Columns of `human_score.schema.json`, which the metric of a Space cannot read."""

_SYSTEM = ("aspect", "system")
_JUDGED = ("split", "candidate_id", "group")
"""A candidate that was judged in several groups, such as by several raters, counts in each."""


def make_human_scores(
    annotations: pl.DataFrame,
    source: Mapping[str, Any],
    *,
    splits: Collection[str] | None = None,
) -> pl.DataFrame:
    """Score every system of a source from the judgements of its annotators.

    Returns rows of the human_score schema, ordered by aspect, system, category; none where no
    system is named, or where people made the errors on purpose. The rule in `source`, the facts of
    source.yaml as the manifest has them, decides the definition: a share of error-free candidates
    where there are labels, a mean where there are scores or ratings.

    Annotations that the rule cannot read are omitted, and judgements of other splits than `splits`
    (None means all); ratings are standardised over all splits.
    """
    scores = pl.concat(_scores(rows, rule) for rule, rows in _judged(annotations, source, splits))
    known = read_systems(source)
    ids = pl.DataFrame(
        {"system": [*known], "model_id": [each.model_id for each in known.values()]},
        {"system": pl.String, "model_id": pl.String},
    )
    return (
        scores.join(ids, on="system", how="left")
        .with_columns(source=pl.lit(source["name"]), n=pl.col("n").cast(pl.Int64))
        .select(_COLUMNS)
        .sort("aspect", "system", "category")
    )


def judged_numbers(
    annotations: pl.DataFrame,
    source: Mapping[str, Any],
    category: str,
    *,
    splits: Collection[str] | None = None,
) -> pl.DataFrame:
    """Return the numbers whose means per aspect and system are the human scores in a category.

    The arguments are those of `make_human_scores`.

    Returns:
        aspect, system, split, context_id, number, and ratings, whose mean the number may be (null
        where it is decided by labels); none if no candidate was judged in the category.
    """
    return pl.concat(
        _numbers(rows, rule, category) for rule, rows in _judged(annotations, source, splits)
    )


def _judged(
    annotations: pl.DataFrame, source: Mapping[str, Any], splits: Collection[str] | None
) -> Iterator[tuple[Rule, pl.DataFrame]]:
    """Yield each rule with the annotations that count, once for every system of a candidate."""
    systems = pl.col("system").str.split("|").list.unique(maintain_order=True)
    is_scored = pl.col("system").is_not_null() & (source.get("origin") != "constructed")
    if splits is not None:
        is_scored &= pl.col("split").is_in([*splits])
    for rule, rows in read_rules(source["quality"]).divide(annotations):
        used = readable(rows, rule).filter(is_scored)
        yield rule, used.with_columns(systems).explode("system")


def _scores(used: pl.DataFrame, rule: Rule) -> pl.DataFrame:
    if isinstance(rule, NoError | Order):
        return _error_free(used, _clean_labels(rule))
    what = "rating" if isinstance(rule, Majority) or rule.ratings else "score"
    what = "median rating" if rule.ratings == "median" else what
    if getattr(rule, "standardise", None):
        what = f"standardised {what}"
    return _means(used, _number(rule), f"mean {what} of the system's candidates")


def _numbers(used: pl.DataFrame, rule: Rule, category: str) -> pl.DataFrame:
    if isinstance(rule, NoError | Order):
        used, number = _labelled(used, category, _clean_labels(rule))
    else:
        used = used if category == "overall" else used.filter(category=category)
        number = _number(rule)
    return used.select(
        *_SYSTEM, "split", "context_id", number=number.cast(pl.Float64), ratings="ratings"
    )


def _labelled(used: pl.DataFrame, category: str, clean: list[str]) -> tuple[pl.DataFrame, pl.Expr]:
    """Return a row for each judged candidate, and 1 if it has no error of a category, else 0."""
    is_error = ~pl.col("label").is_in(clean)
    if category != "overall":
        is_error &= pl.col("label") == category
        used = used.filter(is_error.any().over("aspect"))
    candidates = used.group_by(*_SYSTEM, *_JUDGED, "context_id", maintain_order=True).agg(
        wrong=is_error.any(), ratings=pl.lit(None, pl.List(pl.Float64))
    )
    return candidates, ~pl.col("wrong")


def _clean_labels(rule: NoError | Order) -> list[str]:
    if isinstance(rule, NoError):
        return [rule.no_error]
    worse = {low for _, low in close_order(rule.better)}
    return sorted({high for high, _ in rule.better} - worse)


def _number(rule: Credit | Gap | Majority) -> pl.Expr:
    return pl.col("ratings").list.mean() if isinstance(rule, Majority) else pl.col("score")


def _error_free(used: pl.DataFrame, clean: list[str]) -> pl.DataFrame:
    """Return the share of candidates without any error, and without errors of each category."""
    names = ", ".join(f'"{label}"' for label in clean)
    totals = used.group_by(_SYSTEM).agg(n=pl.struct(_JUDGED).n_unique())
    erroneous = used.filter(~pl.col("label").is_in(clean))
    overall = _share_without(totals, erroneous).with_columns(
        category=pl.lit("overall"),
        definition=pl.lit(f"share of the system's candidates labelled {names} and nothing else"),
    )
    per_label = [
        _share_without(
            # An aspect has scores for the categories of its own errors only.
            totals.join(found.select("aspect").unique(), on="aspect"),
            found,
        ).with_columns(
            category=pl.lit(label),
            definition=pl.lit(f'1 - share of the system\'s candidates labelled "{label}"'),
        )
        for (label,), found in sorted(erroneous.group_by("label"), key=lambda item: item[0])
    ]
    return pl.concat([overall, *per_label])


def _share_without(totals: pl.DataFrame, erroneous: pl.DataFrame) -> pl.DataFrame:
    wrong = erroneous.group_by(_SYSTEM).agg(wrong=pl.struct(_JUDGED).n_unique())
    share = (pl.col("n") - pl.col("wrong").fill_null(0)) / pl.col("n")
    return totals.join(wrong, on=_SYSTEM, how="left").with_columns(score=share).drop("wrong")


def _means(used: pl.DataFrame, value: pl.Expr, definition: str) -> pl.DataFrame:
    """Return the means over all contexts, and over those of each context category."""
    overall = used.with_columns(category=pl.lit("overall"), definition=pl.lit(definition))
    within = used.filter(pl.col("category").is_not_null()).with_columns(
        definition=pl.format(f"{definition} for contexts of category {{}}", "category")
    )
    return (
        pl.concat([overall, within])
        .group_by([*_SYSTEM, "category", "definition"], maintain_order=True)
        .agg(score=value.mean(), n=pl.len())
        .select([*_SYSTEM, "n", "score", "category", "definition"])
    )
