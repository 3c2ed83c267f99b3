"""Does one metric agree with people significantly better than another?

The statistic is Spearman's rho over all candidates of an aspect. Whole contexts are redrawn, with
the same draws for both metrics (`pooled_samples`), and the difference of the two rho is computed on
every resample: a paired bootstrap. Its percentiles are the 95 % interval, and

    p = 2 min(resamples with a difference <= 0, those with one >= 0), both + 1, over resamples + 1

The p-values are not adjusted for multiple comparisons.

The ED-FAITH code answers another question: it draws 1,000 subsets of 80 % of the data without
replacement, and a metric must have the higher number in 95 % of them. Such a subset varies half as
much as a resample (the variance of a mean is (1 - 0.8) / 0.8 = 1/4 of the bootstrap's), so that
more differences pass there.
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
    interval_of_most,
    pair_candidates,
    perm_both,
    tie_accuracy,
)
from nnd.metric.other_metrics.candidate_correlations import CandidateAgreement, number_contexts
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
        p: One-sided p-value of PERM-BOTH (`perm_both`); 1,000 swaps.
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
    score and human.
    """
    known = pl.concat(
        [rows.select(pl.col("score").alias(name)) for name, rows in candidates.items()],
        how="horizontal",
    )
    first = next(iter(candidates.values()))
    rows = first.select(*CONTEXT, "human").hstack(known).drop_nulls(["human", *known.columns])
    pairs = pair_candidates(rows["human"].to_numpy().astype(np.float64), number_contexts(rows))
    if not len(pairs):
        return

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
            p=perm_both(scores[best], scores[other], accuracy),
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
            drawn = known[metric].resampled - known[other].resampled
            interval = interval_of_most(drawn)
            yield MetricDifference(
                aspect=aspect,
                metric=metric,
                other_metric=other,
                n=known[metric].n,
                rate=defined[metric],
                other=defined[other],
                difference=defined[metric] - defined[other],
                interval=interval,
                p=None if interval is None else _p(drawn),
                p_holm=None,
                only_first=None,
                only_second=None,
            )


def _p(drawn: FloatArray) -> float:
    known = drawn[~np.isnan(drawn)]
    fewer = min(int((known <= 0).sum()), int((known >= 0).sum()))
    return min(1.0, 2 * (fewer + 1) / (len(known) + 1))
