"""Simulated correlations and accuracies of a metric over candidates."""

import math
from typing import Any

import numpy as np
import polars as pl
from scipy import stats
from support.simulations.samples import Found, sizes

from nnd.metric.numbers.statistics.intervals import Interval
from nnd.metric.other_metrics.candidate_correlations import STATISTICS, correlate_candidates
from nnd.metric.other_metrics.metric_differences import find_differences
from nnd.metric.other_metrics.pair_statistics import measure_pairs

_R = 0.5
"""True Pearson's r of a metric with people."""


def candidates(rng: np.random.Generator, contexts: int, rho: float) -> dict[str, Found]:
    """Correlations and accuracies over candidates; people's number, and two metrics."""
    counts = sizes(rng, contexts)
    of = np.repeat(np.arange(contexts), counts)
    mix = np.linalg.cholesky(np.array([[1, _R, _R], [_R, 1, 0.4], [_R, 0.4, 1]]))
    shared = rng.normal(size=(contexts, 3)) @ mix.T
    own = rng.normal(size=(len(of), 3)) @ mix.T
    human, score, other = (math.sqrt(rho) * shared[of] + math.sqrt(1 - rho) * own).T
    table = pl.DataFrame(
        {
            "split": "test",
            "context_id": [f"{number:04}" for number in of],
            "candidate_id": [str(number) for number in range(len(of))],
            "system": pl.Series([None] * len(of), dtype=pl.String),
            "score": score,
            "human": human,
        }
    )
    found = correlate_candidates(table)
    second = correlate_candidates(table.with_columns(score=pl.Series(other)))
    rows = {"a": {"quality": found}, "b": {"quality": second}}
    (difference,) = find_differences(rows)
    turned = difference.metric == "b"
    lead = difference.turned() if turned else difference
    truths = {
        "spearman": 6 / math.pi * math.asin(_R / 2),
        "pearson": _R,
        "tau_b": 2 / math.pi * math.asin(_R),
    }
    pooled = {
        f"{name}, pooled": Found(truth, found.sample[name], found.sample_intervals[name])
        for name, truth in truths.items()
    }
    means = {
        f"{name}, mean within contexts": Found(
            math.nan, found.by_context[name], found.by_context_intervals[name]
        )
        for name in STATISTICS
    }
    # Good are those above 0.5. AUC = P(score of a good one > of a bad one).
    good = table.with_columns(human=(pl.col("human") > 0.5).cast(pl.Float64))
    accuracies = measure_pairs(table, ("acc_eq", "acc_eq_star"))
    areas = measure_pairs(good, ("auc", "auc_within"))
    return (
        pooled
        | means
        | {
            "difference of spearman": Found(0.0, lead.difference, lead.interval),
            "acc_eq": Found((truths["tau_b"] + 1) / 2, *_of(accuracies, "acc_eq")),
            "acc_eq_star": Found(math.nan, *_of(accuracies, "acc_eq_star")),
            "auc": Found(_AUC, *_of(areas, "auc")),
            "auc_within": Found(math.nan, *_of(areas, "auc_within")),
        }
    )


def _of(found: Any, name: str) -> tuple[float | None, Interval | None]:
    return found.values[name], found.intervals[name]


def _area(threshold: float) -> float:
    """The AUC of a score that correlates at _R with what is good above a threshold."""
    x = np.linspace(-8, 8, 1_601)
    above = stats.norm.sf(threshold, _R * x, math.sqrt(1 - _R**2)) * stats.norm.pdf(x)
    below = stats.norm.pdf(x) - above
    above, below = above / above.sum(), below / below.sum()
    return float(above @ (np.cumsum(below) - below / 2))


_AUC = _area(0.5)


def paired_auc(rng: np.random.Generator, contexts: int, rho: float) -> dict[str, Found]:
    """The AUC where each context has a good candidate hardly better than its bad one, as in BUMP.

    Dependence is how alike the two are: most of the variance then cancels, and what a context
    adds by being compared with itself is as large as the rest.
    """
    apart = {0.0: 0.5, 0.3: 0.1, 0.8: 0.02}[rho]
    bad = rng.normal(size=contexts)
    good = bad + apart * (1 + rng.normal(size=contexts))
    table = pl.DataFrame(
        {
            "split": "test",
            "context_id": [f"{number:04}" for number in range(contexts)] * 2,
            "candidate_id": [str(number) for number in range(2 * contexts)],
            "system": pl.Series([None] * 2 * contexts, dtype=pl.String),
            "score": np.r_[bad, good],
            "human": np.repeat([0.0, 1.0], contexts),
        }
    )
    truth = float(stats.norm.cdf(apart / math.sqrt(2 + apart**2)))
    return {"auc, twins": Found(truth, *_of(measure_pairs(table, ("auc",)), "auc"))}
