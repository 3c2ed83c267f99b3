"""Does one metric agree with people significantly better than another?

The statistic is Spearman's rho over all candidates of an aspect. Each context is left out for both
metrics at once, and the difference of the two rho is computed without it: a paired jackknife, which
gives the 95 % interval (`jackknife`). p is that of Student's t: the difference divided by its
error, with the same degrees of freedom. The p-values are not adjusted for multiple comparisons.

The ED-FAITH code answers another question: it draws 1,000 subsets of 80 % of the data without
replacement, and a metric must have the higher number in 95 % of them. Such a subset varies half as
much as a sample (the variance of a mean is (1 - 0.8) / 0.8 = 1/4 of it), so that more differences
pass there.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Annotated

import numpy as np
import polars as pl

from nnd.metric.numbers import (
    Difference,
    FloatArray,
    effective_freedom,
    jackknife_error,
    jackknife_interval,
    pair_candidates,
    swap_p,
    tie_accuracy,
)
from nnd.metric.other_metrics.candidate_correlations import (
    CandidateAgreement,
    number_clusters,
    number_contexts,
)
from nnd.schemas import CONTEXT, Correlation, Count, Limit, Name, Record, Share


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricDifference(Difference):
    """The difference in agreement with people between two metrics: Spearman's rho of each.

    Attributes:
        aspect: What people judged.
        metric: The metric with the higher rho, the first side.
        other_metric: The other metric.
        n: Candidates with both numbers.
    """

    aspect: Name
    metric: Name
    other_metric: Name
    rate: Correlation
    other: Correlation
    difference: Annotated[float, Limit("minimum", 0)]
    interval: tuple[float, float] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AccuracyDifference(Record):
    """The difference in tie-calibrated accuracy (acc_eq_star) between two metrics.

    Attributes:
        aspect: What people judged.
        metric: The metric with the higher accuracy.
        other_metric: The other metric.
        n: Candidates with all numbers.
        difference: The first accuracy minus the second.
        p: One-sided p-value of 1,000 swaps of the numbers of whole contexts, or of clusters of
            contexts if the data declares what they share (`swap_p`).
    """

    aspect: Name
    metric: Name
    other_metric: Name
    n: Count
    difference: float
    p: Share


def find_accuracy_differences(
    aspect: str, candidates: Mapping[str, pl.DataFrame]
) -> Iterator[AccuracyDifference]:
    """Yield the difference between the metric with the highest acc_eq_star and each of the others.

    `candidates` are, for each metric, the same candidates in the same order: split, context_id,
    score and human, and `cluster` if contexts may share something.
    """
    known = pl.concat(
        [rows.select(pl.col("score").alias(name)) for name, rows in candidates.items()],
        how="horizontal",
    )
    first = next(iter(candidates.values()))
    named = ["cluster"] if "cluster" in first.columns else []
    rows = first.select(*CONTEXT, *named, "human").hstack(known)
    rows = rows.drop_nulls(["human", *known.columns])
    pairs = pair_candidates(rows["human"].to_numpy().astype(np.float64), number_contexts(rows))
    if not len(pairs):
        return

    clusters = number_clusters(rows)

    def accuracy(scores: FloatArray) -> float:
        found = tie_accuracy(scores, pairs)
        return math.nan if found is None else found.calibrated

    scores = {name: rows[name].to_numpy() for name in known.columns}
    found = {name: accuracy(each) for name, each in scores.items()}
    best, *others = sorted(found, key=lambda name: -found[name])
    for other in others:
        yield AccuracyDifference(
            aspect=aspect,
            metric=best,
            other_metric=other,
            n=rows.height,
            difference=found[best] - found[other],
            p=swap_p(scores[best], scores[other], accuracy, clusters),
        )


def find_differences(
    rows: Mapping[str, Mapping[str, CandidateAgreement]],
) -> Iterator[MetricDifference]:
    """Yield the difference between every two metrics under every aspect, the best metrics first.

    `rows` gives metric → aspect → agreement, all over the same candidates. Undefined correlations
    are omitted.
    """
    for aspect in dict.fromkeys(aspect for by_aspect in rows.values() for aspect in by_aspect):
        known = {name: by_aspect[aspect] for name, by_aspect in rows.items() if aspect in by_aspect}
        rho = {name: each.sample["spearman"] for name, each in known.items()}
        defined = {name: value for name, value in rho.items() if value is not None}
        best_first = sorted(defined, key=lambda name: -defined[name])
        for metric, other in combinations(best_first, 2):
            both, without = known[metric], known[metric].without - known[other].without
            lead = defined[metric] - defined[other]
            bounds, reason = jackknife_interval(
                lead, without, both.group_sizes, lowest=-2, highest=2
            )
            yield MetricDifference(
                aspect=aspect,
                metric=metric,
                other_metric=other,
                n=both.n,
                rate=defined[metric],
                other=defined[other],
                difference=lead,
                interval=bounds,
                interval_reason=reason,
                p=None if bounds is None else _p(lead, without, both.group_sizes),
                p_holm=None,
                only_first=None,
                only_second=None,
            )


def _p(lead: float, without: FloatArray, sizes: FloatArray) -> float:
    from scipy.special import stdtr  # noqa: PLC0415 - slow to import

    error = jackknife_error(lead, without)
    if not error:
        return 1.0
    return min(1.0, 2 * float(stdtr(effective_freedom(sizes), -abs(lead) / error)))
