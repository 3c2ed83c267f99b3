"""Meta-evaluation of a scorer: do its scores agree with human judgements of candidates?

Three levels, as meta-evaluations of metrics report them:

    sample    all candidates pooled
    context   within each context, then the mean over contexts
    system    mean over the candidates of each system, then across systems

Each level has Spearman's rho, Pearson's r and Kendall's tau-b. Differences between contexts (some
are hard for all systems) count only at the first level. A context in which either number is
constant has no correlation: it is skipped, and counted. Intervals, 95 %, are over contexts: of a
jackknife at the first level (`jackknife`), of a mean over contexts at the second
(`cluster_intervals`); for intervals over systems see `system_correlations`.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import compress
from typing import Annotated, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy import stats

from nnd.metric.numbers import (
    STATISTICS as CORRELATIONS,
    TOO_MANY,
    FloatArray,
    Interval,
    IntervalOrReason,
    jackknife_interval,
    mean_defined,
    mean_intervals,
    pooled_without,
    reasons_in,
    sizes_of_groups,
)
from nnd.schemas import CONTEXT, SPARSE, UNSTORED, Correlation, Count, Keys, Limit, Record

STATISTICS = ("spearman", "pearson", "tau_b")
_FEW = 64
_Statistics: TypeAlias = Annotated[Mapping[str, Correlation | None], Keys(STATISTICS)]
_Intervals: TypeAlias = Annotated[Mapping[str, Interval | None], Keys(STATISTICS)]
_Reasons: TypeAlias = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class CandidateAgreement(Record):
    """Agreement of a scorer with human judgements of single candidates, under one aspect.

    Attributes:
        n: Candidates with both numbers.
        unjudged: Candidates without a judgement, left out.
        unscored: Judged candidates without a score, left out.
        sample: Statistic over all candidates; None if undefined.
        sample_intervals: Its 95 % intervals over contexts; None if it is undefined, also without
            one of the contexts.
        by_context: Mean over contexts; None if no context defines it.
        by_context_intervals: Its 95 % intervals over contexts; None if fewer than two contexts
            define it.
        contexts: Contexts behind that mean.
        constant_contexts: Contexts skipped because a number is constant.
        single_contexts: Contexts skipped because they have one candidate.
        by_system: Correlation over systems; None if undefined.
        systems: Systems behind it. A candidate that several systems wrote counts for each.
        without: Spearman's rho over all candidates without each context (`pooled_without`), nan
            where undefined; with that of another scorer it makes a `Difference`.
        group_sizes: Candidates of each of these contexts.
        sample_interval_reasons: Statistic over all candidates without an interval → why.
        by_context_interval_reasons: Mean over contexts without an interval → why.
    """

    n: Count
    unjudged: Count
    unscored: Count
    sample: _Statistics
    sample_intervals: _Intervals
    by_context: _Statistics
    by_context_intervals: _Intervals
    contexts: Count
    constant_contexts: Count
    single_contexts: Count
    by_system: _Statistics
    systems: Count
    without: Annotated[FloatArray, UNSTORED] = field(repr=False, compare=False)
    group_sizes: Annotated[FloatArray, UNSTORED] = field(repr=False, compare=False)
    sample_interval_reasons: Annotated[_Reasons, SPARSE] = field(default_factory=dict)
    by_context_interval_reasons: Annotated[_Reasons, SPARSE] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MeanJudgement(Record):
    """What people said of one system.

    Attributes:
        mean: Mean of the human number over its candidates.
        n: These candidates; one that several systems wrote counts for each.
    """

    mean: float
    n: Annotated[int, Limit("minimum", 1)]


def number_contexts(candidates: pl.DataFrame) -> npt.NDArray[np.int64]:
    """Return the number of each candidate's context, from 0 on and without gaps."""
    ranks = candidates.select(pl.struct(CONTEXT).rank("dense").cast(pl.Int64) - 1)
    return ranks.to_series().to_numpy()


def cluster_of(candidates: pl.DataFrame) -> list[pl.Expr]:
    """Return what identifies the cluster of a candidate: its context, if there is no `cluster`."""
    named = ["cluster"] if "cluster" in candidates.columns else []
    return [pl.col("split"), pl.coalesce(*named, "context_id").alias("cluster")]


def number_clusters(candidates: pl.DataFrame) -> npt.NDArray[np.int64]:
    """Return the number of each candidate's cluster, from 0 on and without gaps."""
    ranks = candidates.select(pl.struct(cluster_of(candidates)).rank("dense").cast(pl.Int64) - 1)
    return ranks.to_series().to_numpy()


def correlate_candidates(table: pl.DataFrame) -> CandidateAgreement:
    """Correlate scores with human judgements.

    Args:
        table: One row per candidate: split, context_id, system (several joined by `|`, or null),
            score (of the scorer) and human (the judgement); null if missing.
    """
    judged = table.drop_nulls("human")
    used = judged.drop_nulls("score")
    groups = [rows for _, rows in used.group_by(CONTEXT, maintain_order=True)]
    several = [rows for rows in groups if rows.height > 1]
    within = [correlate(rows["score"], rows["human"]) for rows in several]
    is_defined = [statistics["pearson"] is not None for statistics in within]
    defined = list(compress(within, is_defined))
    owners = [rows.select(cluster_of(rows)).row(0) for rows in compress(several, is_defined)]
    systems = _system_means(used)
    numbers = used["score"].to_numpy(), used["human"].to_numpy()
    clusters = number_clusters(used)
    without, sizes = pooled_without(*numbers, clusters), sizes_of_groups(clusters)
    sample = correlate(*numbers)
    intervals = {
        name: jackknife_interval(sample[name], without[name], sizes)
        if name in without
        else IntervalOrReason(None, TOO_MANY)
        for name in STATISTICS
    }
    mean = mean_intervals(defined, STATISTICS, owners)
    return CandidateAgreement(
        n=used.height,
        unjudged=table.height - judged.height,
        unscored=judged.height - used.height,
        sample=sample,
        sample_intervals={name: each.bounds for name, each in intervals.items()},
        by_context={
            name: mean_defined([statistics[name] for statistics in defined]) for name in STATISTICS
        },
        by_context_intervals={name: each.bounds for name, each in mean.items()},
        contexts=len(defined),
        constant_contexts=len(several) - len(defined),
        single_contexts=len(groups) - len(several),
        by_system=correlate(systems["score"], systems["human"]),
        systems=systems.height,
        without=without["spearman"],
        group_sizes=sizes,
        sample_interval_reasons=reasons_in(intervals),
        by_context_interval_reasons=reasons_in(mean),
    )


def correlate(x: npt.ArrayLike, y: npt.ArrayLike) -> dict[str, float | None]:
    """Return each of STATISTICS, in time n log n: candidates are many, systems are few.

    All are None for fewer than two candidates or a constant number.
    """
    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    linear = CORRELATIONS["pearson"](a, b)
    if linear is None:
        return dict.fromkeys(STATISTICS)
    if len(a) <= _FEW:
        return {"pearson": linear} | _of_signs(a, b)
    return {
        "spearman": CORRELATIONS["pearson"](stats.rankdata(a), stats.rankdata(b)),
        "pearson": linear,
        "tau_b": float(stats.kendalltau(a, b).statistic),
    }


def _of_signs(a: FloatArray, b: FloatArray) -> dict[str, float | None]:
    """Return rho and tau-b from the signs of all differences, quicker than by sorting a few."""
    first, second = (np.sign(each[:, None] - each) for each in (a, b))
    both, untied, others = (
        float(each.sum()) / 2 for each in (first * second, first * first, second * second)
    )
    tau = both / math.sqrt(untied) / math.sqrt(others)
    # A number is larger than so many others, minus smaller: twice its mid-rank, but for a constant.
    rho = CORRELATIONS["pearson"](first.sum(axis=1), second.sum(axis=1))
    return {"spearman": rho, "tau_b": min(1.0, max(-1.0, tau))}


def judgements_by_system(judged: pl.DataFrame) -> dict[str, dict[str, MeanJudgement]]:
    """Return aspect → system → the mean judgement of its candidates.

    `judged` has aspect, human (null without a judgement) and system (several joined by `|`: a
    candidate counts for each; null: for none).
    """
    means = _system_means(judged.drop_nulls("human"), "aspect").sort("aspect", "system")
    by_aspect: dict[str, dict[str, MeanJudgement]] = {}
    for aspect, system, n, mean in means.select("aspect", "system", "n", "human").iter_rows():
        by_aspect.setdefault(aspect, {})[system] = MeanJudgement(mean, n)
    return by_aspect


def _system_means(judged: pl.DataFrame, *by: str) -> pl.DataFrame:
    systems = pl.col("system").str.split("|").list.unique(maintain_order=True)
    rows = judged.drop_nulls("system").with_columns(systems).explode("system")
    return rows.group_by(*by, "system", maintain_order=True).agg(
        pl.len().alias("n"), pl.col("^(score|human)$").mean()
    )
