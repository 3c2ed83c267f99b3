"""Compute whether a scorer ranks systems as people do: its means against human scores.

Categories, human scores, statistics and intervals are those of `agreement`, with the mean score of
a system's candidates in place of a pass rate. A text that several systems wrote counts for each of
them.

A scorer has one mean per system, which is compared with the human score in every error category; in
a context category, it is the mean over the contexts of that category. So a scorer that does not
detect errors can still agree with people on some, if good systems make fewer of all kinds.
Candidates without a score are left out of the means, and counted in `Agreement.unscored`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from nnd.metric.numbers import (
    FEWEST_MODELS,
    Agreement,
    FloatArray,
    bootstrap_ratios,
    category_column,
    stretches,
    try_agreement,
)
from nnd.metric.other_metrics.candidate_correlations import cluster_of
from nnd.schemas import OVERALL, category_key, category_of


def agree_on_systems(
    candidates: pl.DataFrame,
    pairs: pl.DataFrame,
    people: pl.DataFrame | None,
    *,
    aspect: str | None = None,
    order: Sequence[str] = (),
) -> tuple[Agreement | None, str | None]:
    """Return the agreement of mean scores with human scores and None, or None and the reason.

    Args:
        candidates: split, context_id, category, system (several joined by `|`, or null) and score
            (the scorer's, or null).
        pairs: NND pairs, which provide the categories.
        people: Human scores of systems, or None.
        aspect: Only human scores of this aspect.
        order: Systems in the order of `gap_r_laban2022`; those not named follow by name.
    """
    if people is None:
        return None, "the data has no human scores"
    wrote = pl.col("system").str.split("|").list.unique(maintain_order=True)
    written = candidates.drop_nulls("system").with_columns(wrote).explode("system")
    rows = written.drop_nulls("score")
    known = sorted(set(people["system"]) & set(rows["system"]))
    if pairs.is_empty():
        return None, "agreement over systems needs pairs, but the data has none"
    if len(known) < FEWEST_MODELS:
        return None, (
            "agreement needs at least two systems with both a human score and a mean score; "
            f"known: {', '.join(known) or 'none'}"
        )
    categories = _categories(pairs, people)
    sums, counts = _sums(rows, known, categories)
    totals, n = sums.sum(axis=0), counts.sum(axis=0)
    means = [
        (system, category, totals[i, j] / n[i, j] if n[i, j] else None, int(n[i, j]))
        for i, system in enumerate(known)
        for j, category in enumerate(categories)
    ]
    schema = {"model": pl.String, "category": pl.String, "pass_rate": pl.Float64, "n": pl.Int64}
    cells = [each.reshape(len(each), -1) for each in (sums, counts)]
    samples, stretch = bootstrap_ratios(*cells), stretches(cells[1])
    agreement, reason = try_agreement(
        pl.DataFrame(means, schema, orient="row"),
        people,
        systems={system: system for system in known},
        aspect=aspect,
        order=[system for system in order if system in known],
        samples=samples.reshape(-1, len(known), len(categories)),
        stretch=stretch.reshape(len(known), len(categories)),
    )
    if agreement is not None:
        agreement = replace(agreement, unscored=_unscored(written, people), of_pass_rates=False)
    return agreement, reason


def _unscored(written: pl.DataFrame, people: pl.DataFrame) -> dict[str, int]:
    judged = written.filter(pl.col("system").is_in(people["system"].unique().to_list()))
    counts = judged.group_by("system").agg(pl.col("score").null_count()).sort("system")
    return dict(counts.iter_rows())


def _categories(pairs: pl.DataFrame, people: pl.DataFrame) -> dict[str, bool]:
    """Return the key of each category of `agree`, and whether it is a context category."""
    column = category_column(pairs, people)
    names = sorted(set(pairs[column].drop_nulls()))
    return {OVERALL: False, **{category_key(name): column == "category" for name in names}}


def _sums(
    rows: pl.DataFrame, systems: Sequence[str], categories: Mapping[str, bool]
) -> tuple[FloatArray, FloatArray]:
    """Return sums and counts of the scores, [clusters, systems, categories]."""
    rows = rows.with_columns(cluster_of(rows))
    key = ("split", "cluster")
    contexts = rows.select(key).unique(maintain_order=True).with_row_index("number")
    places = pl.DataFrame({"system": systems}).with_row_index("place")
    placed = rows.join(contexts, on=key, nulls_equal=True).join(places, on="system")
    shape = (contexts.height, len(systems), len(categories))
    sums, counts = np.zeros(shape), np.zeros(shape)
    for number, (category, is_of_contexts) in enumerate(categories.items()):
        used = placed.filter(category=category_of(category)) if is_of_contexts else placed
        cells = used.group_by("number", "place").agg(pl.col("score").sum(), n=pl.len())
        at = cells["number"].to_numpy(), cells["place"].to_numpy(), number
        sums[at], counts[at] = cells["score"].to_numpy(), cells["n"].to_numpy()
    return sums, counts
