"""Statistics over pairs of candidates and of systems, as shared tasks on metrics report them.

    acc_eq           pairwise accuracy within contexts, ties included      } `tie_accuracy`
    acc_eq_star      the same after tie calibration                        }
    spa              soft pairwise accuracy over systems                   } `soft_accuracy`
    system_accuracy  pairwise accuracy over systems                        }
    auc              area under the ROC curve, all candidates pooled       } `roc_auc`
    auc_within       the same within contexts                              }

Every interval, 95 %, is of a bootstrap over contexts. SPA is over the contexts for
which every system has both numbers. The two AUC need human numbers with two values.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Annotated, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from nnd.metric.numbers import (
    CandidatePairs,
    FloatArray,
    Interval,
    bootstrap_ratios,
    draw_contexts,
    interval_of_most,
    pair_candidates,
    pooled_auc,
    resampled_accuracies,
    resampled_soft_accuracy,
    soft_accuracy,
    system_accuracy,
    tie_accuracy,
)
from nnd.metric.other_metrics.candidate_correlations import number_clusters, number_contexts
from nnd.schemas import CONTEXT, Amount, Count, Keys, Record, Share

PAIR_STATISTICS = ("acc_eq", "acc_eq_star", "spa", "system_accuracy", "auc", "auc_within")

RESAMPLES = 1_000

_Numbers: TypeAlias = npt.NDArray[np.int64]
_Found: TypeAlias = tuple[float | None, Interval | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairStatistics(Record):
    """Agreement of a metric with human judgements over pairs, under one aspect.

    Attributes:
        n: Candidates with both numbers.
        pairs: Pairs of candidates of one context.
        systems: Systems with both numbers; a candidate that several wrote counts for each.
        complete_contexts: Contexts for which every system has both numbers.
        values: Statistic → its value; None if undefined or not requested.
        intervals: Statistic → its 95 % interval over contexts, or None.
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
    found: dict[str, _Found] = dict.fromkeys(PAIR_STATISTICS, (None, None))
    epsilon = None
    if {"acc_eq", "acc_eq_star"} & {*names} and (exact := tie_accuracy(score, pairs)) is not None:
        epsilon = exact.epsilon if "acc_eq_star" in names else None
        samples = resampled_accuracies(score, pairs, _draw(owners))
        both = (("acc_eq", exact.acc_eq), ("acc_eq_star", exact.calibrated))
        for (name, value), drawn in zip(both, samples, strict=True):
            found[name] = _with_interval(value, drawn, owners)
    if "spa" in names and systems > 1 and complete.any():
        sums, n = by_system[:2], by_system[2][complete]
        people, scores = ((each[complete] / n).T for each in sums)
        own = of_systems[complete]
        drawn = resampled_soft_accuracy(people, scores, _draw(own))
        found["spa"] = _with_interval(soft_accuracy(people, scores), drawn, own)
    if "system_accuracy" in names and systems > 1:
        found["system_accuracy"] = _system_accuracy(*by_system, of_systems)
    values = np.unique(human)
    if len(values) == 2:  # noqa: PLR2004 - good and bad
        good = human == values[1]
        if "auc" in names:
            found["auc"] = _auc(score, good, clusters)
        if "auc_within" in names:
            found["auc_within"] = _auc_within(score, pairs, owners)
    return PairStatistics(
        n=used.height,
        pairs=len(pairs),
        systems=systems,
        complete_contexts=int(complete.sum()),
        values={name: found[name][0] if name in names else None for name in PAIR_STATISTICS},
        intervals={name: found[name][1] if name in names else None for name in PAIR_STATISTICS},
        epsilon=epsilon,
    )


def _draw(clusters: _Numbers) -> FloatArray:
    """Return how often each resample has each context, whose cluster is drawn, with its number."""
    found, numbers = np.unique(clusters, return_inverse=True)
    return draw_contexts(np.random.default_rng(0), len(found), RESAMPLES)[:, numbers]


def _with_interval(value: float, drawn: FloatArray, clusters: _Numbers) -> _Found:
    if np.isnan(value):
        return None, None
    return value, interval_of_most(drawn) if len(np.unique(clusters)) > 1 else None


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


def _system_accuracy(
    human: FloatArray, score: FloatArray, n: FloatArray, clusters: _Numbers
) -> _Found:
    """Return the accuracy over systems, whose means are over all of their candidates."""

    def of(counts: FloatArray) -> FloatArray:
        with np.errstate(invalid="ignore"):
            return system_accuracy(*((counts @ each) / (counts @ n) for each in (human, score)))

    return _with_interval(float(of(np.ones((1, len(n))))[0]), of(_draw(clusters)), clusters)


def _auc(score: FloatArray, good: npt.NDArray[np.bool_], clusters: _Numbers) -> _Found:
    value = float(pooled_auc(score, good, np.ones((1, len(score))))[0])
    parts = np.array_split(_draw(np.unique(clusters)), len(score) // 2_000 + 1)
    drawn = np.concatenate([pooled_auc(score, good, part[:, clusters]) for part in parts])
    return _with_interval(value, drawn, clusters)


def _auc_within(score: FloatArray, pairs: CandidatePairs, clusters: _Numbers) -> _Found:
    """Return the share of pairs of one good and one bad candidate that a metric orders rightly."""
    gaps = np.sign(score[pairs.first] - score[pairs.second]) * pairs.people
    differ = pairs.people != 0
    owners = clusters[pairs.context]
    wins = np.bincount(owners, np.where(differ, (gaps + 1) / 2, 0))
    tests = np.bincount(owners, differ)
    if not tests.sum():
        return None, None
    drawn = bootstrap_ratios(wins[:, None], tests[:, None], resamples=RESAMPLES)[:, 0]
    return _with_interval(float(wins.sum() / tests.sum()), drawn, owners[differ])
