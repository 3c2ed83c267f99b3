"""Statistics over pairs of candidates and of systems, as shared tasks on metrics report them.

    acc_eq           pairwise accuracy within contexts, ties included      } `tie_accuracy`
    acc_eq_star      the same after tie calibration                        }
    spa              soft pairwise accuracy over systems                   } `soft_accuracy`
    system_accuracy  pairwise accuracy over systems                        }
    auc              area under the ROC curve, all candidates pooled       } `roc_auc`
    auc_within       the same within contexts                              }

Every interval, 95 %, is over contexts. Those of acc_eq, acc_eq_star and auc_within are of a mean
over contexts (`cluster_intervals`), acc_eq_star with the epsilon of all of them; that of auc is of
a jackknife; those of spa and system_accuracy are of a bootstrap (`covering_interval`). SPA is over
the contexts for which every system has both numbers. The two AUC need human numbers with two
values.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Annotated, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from nnd.metric.numbers import (
    ONE_CONTEXT,
    UNDEFINED,
    CandidatePairs,
    FloatArray,
    Interval,
    IntervalOrReason,
    cluster_intervals,
    covering_interval,
    draw_contexts,
    jackknife_interval,
    leave_out,
    pair_candidates,
    pooled_auc,
    reason_against_order,
    reasons_in,
    resampled_soft_accuracy,
    sizes_of_groups,
    soft_accuracy,
    stretches,
    system_accuracy,
    tie_accuracy,
)
from nnd.metric.other_metrics.candidate_correlations import number_clusters, number_contexts
from nnd.schemas import CONTEXT, SPARSE, Amount, Count, Keys, Record, Share

PAIR_STATISTICS = ("acc_eq", "acc_eq_star", "spa", "system_accuracy", "auc", "auc_within")

RESAMPLES = 1_000

_Numbers: TypeAlias = npt.NDArray[np.int64]
_Found: TypeAlias = tuple[float | None, IntervalOrReason]
_NOTHING: _Found = None, IntervalOrReason(None, UNDEFINED)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairStatistics(Record):
    """Agreement of a metric with human judgements over pairs, under one aspect.

    Attributes:
        n: Candidates with both numbers.
        pairs: Pairs of candidates of one context.
        systems: Systems with both numbers; a candidate that several wrote counts for each.
        complete_contexts: Contexts for which every system has both numbers.
        values: Statistic → its value; None if undefined or not requested.
        intervals: Statistic → its 95 % interval over clusters of contexts, or None.
        interval_reasons: Requested statistic without an interval → why.
        epsilon: Largest difference of the metric that acc_eq_star takes for a tie; None if it was
            not requested.
    """

    n: Count
    pairs: Count
    systems: Count
    complete_contexts: Count
    values: Annotated[Mapping[str, Share | None], Keys(PAIR_STATISTICS)]
    intervals: Annotated[Mapping[str, Interval | None], Keys(PAIR_STATISTICS)]
    epsilon: Amount | None
    interval_reasons: Annotated[Mapping[str, str], SPARSE] = field(default_factory=dict)


def measure_pairs(table: pl.DataFrame, names: Collection[str]) -> PairStatistics:
    """Compute some of PAIR_STATISTICS.

    Args:
        table: One row per candidate, as for `correlate_candidates`.
        names: The statistics.
    """
    used = table.drop_nulls(["score", "human"]).sort(*CONTEXT, "candidate_id")
    score, human = used["score"].to_numpy(), used["human"].to_numpy().astype(np.float64)
    clusters = number_clusters(used)
    pairs = pair_candidates(human, number_contexts(used))
    owners = np.zeros(pairs.contexts, dtype=np.int64)
    owners[pairs.context] = clusters[pairs.first]
    by_system, of_systems = _by_system(used)
    systems, complete = by_system[2].shape[1], (by_system[2] > 0).all(axis=1)
    found: dict[str, _Found] = {}
    epsilon = None
    if {"acc_eq", "acc_eq_star"} & {*names} and (exact := tie_accuracy(score, pairs)) is not None:
        epsilon = exact.epsilon if "acc_eq_star" in names else None
        found["acc_eq"] = _mean(exact.acc_eq_of, np.ones(pairs.contexts), owners)
        found["acc_eq_star"] = _mean(exact.calibrated_of, np.ones(pairs.contexts), owners)
    if "spa" in names and systems > 1 and complete.any():
        people, scores, counts = (each[complete] for each in by_system)
        found["spa"] = _soft_accuracy(people, scores, counts, of_systems[complete])
    if "system_accuracy" in names and systems > 1:
        found["system_accuracy"] = _system_accuracy(*by_system, of_systems)
    values = np.unique(human)
    if len(values) == 2:  # noqa: PLR2004 - good and bad
        if "auc" in names:
            found["auc"] = _auc(score, human == values[1], clusters)
        if "auc_within" in names:
            found["auc_within"] = _auc_within(score, pairs, owners)
    asked = {name: found.get(name, _NOTHING) for name in PAIR_STATISTICS if name in names}
    return PairStatistics(
        n=used.height,
        pairs=len(pairs),
        systems=systems,
        complete_contexts=int(complete.sum()),
        values={name: asked.get(name, _NOTHING)[0] for name in PAIR_STATISTICS},
        intervals={name: asked.get(name, _NOTHING)[1].bounds for name in PAIR_STATISTICS},
        epsilon=epsilon,
        interval_reasons=reasons_in({name: of for name, (_, of) in asked.items()}),
    )


def _draw(clusters: _Numbers) -> FloatArray:
    """Return how often each resample has each context, whose cluster is drawn, with its number."""
    found, numbers = np.unique(clusters, return_inverse=True)
    return draw_contexts(np.random.default_rng(0), len(found), RESAMPLES)[:, numbers]


def _stretch(clusters: _Numbers) -> float:
    _, contexts = np.unique(clusters, return_counts=True)
    return float(stretches(contexts[:, None])[0])


def _mean(
    sums: FloatArray, counts: FloatArray, clusters: _Numbers, squares: FloatArray | None = None
) -> _Found:
    """Return the mean of numbers from 0 to 1 over all that contexts have.

    `sums`, `counts`, `clusters` (the number of the cluster of each) and `squares` are [contexts].
    """
    squared = sums**2 if squares is None else squares
    totals = (np.bincount(clusters, each)[:, None] for each in (sums, squared, counts))
    (interval,) = cluster_intervals(*totals)
    value = float(sums.sum() / counts.sum())
    return value, IntervalOrReason(interval.bounds, interval.reason)


def _by_system(used: pl.DataFrame) -> tuple[tuple[FloatArray, FloatArray, FloatArray], _Numbers]:
    """Return sums of human numbers and of scores, and candidates, [contexts, systems] each.

    Last come the numbers of the contexts' clusters, [contexts].
    """
    systems = pl.col("system").str.split("|").list.unique(maintain_order=True)
    written = used.drop_nulls("system").with_columns(systems).explode("system")
    sums = written.group_by(*CONTEXT, "system").agg(pl.sum("human", "score"), n=pl.len())
    human, score, n = (
        sums.pivot("system", index=CONTEXT, values=name, sort_columns=True)
        .sort(CONTEXT)
        .drop(CONTEXT)
        .fill_null(0)
        .cast(pl.Float64)
        .to_numpy()
        for name in ("human", "score", "n")
    )
    contexts = written.unique(CONTEXT).sort(CONTEXT)
    return (human, score, n), number_clusters(contexts)


def _soft_accuracy(
    human: FloatArray, score: FloatArray, n: FloatArray, clusters: _Numbers
) -> _Found:
    people, scores = ((each / n).T for each in (human, score))
    value = soft_accuracy(people, scores)
    if len(np.unique(clusters)) < 2:  # noqa: PLR2004
        return value, IntervalOrReason(None, ONE_CONTEXT)
    drawn = resampled_soft_accuracy(people, scores, _draw(clusters))
    return value, covering_interval(value, drawn, stretch=_stretch(clusters), lowest=0)


def _system_accuracy(
    human: FloatArray, score: FloatArray, n: FloatArray, clusters: _Numbers
) -> _Found:
    """Return the accuracy over systems, whose means are over all of their candidates."""

    def means(counts: FloatArray) -> tuple[FloatArray, FloatArray]:
        with np.errstate(invalid="ignore"):
            people, scores = ((counts @ each) / (counts @ n) for each in (human, score))
        return people, scores

    of_all = means(np.ones((1, len(n))))
    value = float(system_accuracy(*of_all)[0])
    if len(np.unique(clusters)) < 2:  # noqa: PLR2004
        return value, IntervalOrReason(None, ONE_CONTEXT)
    drawn = means(_draw(clusters))
    for own, resampled in zip(of_all, drawn, strict=True):
        if (reason := reason_against_order(own[0], resampled)) is not None:
            return value, IntervalOrReason(None, reason)
    accuracies = system_accuracy(*drawn)
    return value, covering_interval(value, accuracies, stretch=_stretch(clusters), lowest=0)


def _auc(score: FloatArray, good: npt.NDArray[np.bool_], clusters: _Numbers) -> _Found:
    value = float(pooled_auc(score, good, np.ones((1, len(score))))[0])
    parts = leave_out(int(clusters.max()) + 1, len(score))
    without = np.concatenate([pooled_auc(score, good, kept[:, clusters]) for kept in parts])
    return value, jackknife_interval(value, without, sizes_of_groups(clusters), lowest=0)


def _auc_within(score: FloatArray, pairs: CandidatePairs, clusters: _Numbers) -> _Found:
    """Return the share of pairs of one good and one bad candidate that a metric orders rightly."""
    gaps = np.sign(score[pairs.first] - score[pairs.second]) * pairs.people
    differ = pairs.people != 0
    wins = np.where(differ, (gaps + 1) / 2, 0)
    sums, squares, tests = (
        np.bincount(pairs.context, each, pairs.contexts).astype(np.float64)
        for each in (wins, wins**2, differ)
    )
    if not tests.sum():
        return _NOTHING
    return _mean(sums, tests, clusters, squares)
